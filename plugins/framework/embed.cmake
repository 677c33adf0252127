# cmake -D FOLDER=. "-DFILES=probe.py;..." -D OUTPUT=script.cc -P embed.cmake: the files of the script as texts of C++.
set(entries "")
foreach(name ${FILES})
  file(READ ${FOLDER}/${name} text)
  string(APPEND entries "    {\"${name}\", R\"cci-script(${text})cci-script\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// The files of plugins/framework/probe.py.\n#include \"framework/script.h\"\n\nnamespace cudnn_ci {\n"
  "const std::vector<ScriptFile>& ScriptFiles() {\n  static const std::vector<ScriptFile> kFiles = {\n${entries}  };\n"
  "  return kFiles;\n}\n}  // namespace cudnn_ci\n")
