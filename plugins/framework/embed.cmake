# cmake -D SCRIPT=probe.py -D OUTPUT=script.cc -P embed.cmake: the script as a text of C++.
file(READ ${SCRIPT} script)
file(WRITE ${OUTPUT} "// plugins/framework/probe.py.\n#include \"framework/script.h\"\n\nnamespace cudnn_ci {\n"
  "const char kScript[] = R\"cci-script(${script})cci-script\";\n}  // namespace cudnn_ci\n")
