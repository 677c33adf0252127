# cmake -D SCRIPT=cudnn_ci_runner.py -D OUTPUT=runner.cc -P embed.cmake: the runner as a text of C++.
file(READ ${SCRIPT} text)
file(WRITE ${OUTPUT} "// plugins/kernels/cudnn_ci_runner.py.\n#include \"kernels/runner.h\"\n\nnamespace cudnn_ci {\n"
  "const char* RunnerText() { return R\"cci-script(${text})cci-script\"; }\n}  // namespace cudnn_ci\n")
