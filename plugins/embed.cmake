# cmake -D FOLDER=. "-DFILES=probe.py;..." -D HEADER=framework/script.h -D FUNCTION=ScriptFiles -D OUTPUT=script.cc -P embed.cmake:
# the files of a script as texts of C++ (common/interpreter.h).
set(entries "")
foreach(name ${FILES})
  file(READ ${FOLDER}/${name} text)
  string(APPEND entries "    {\"${name}\", R\"cci-script(${text})cci-script\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// The files of a script.\n#include \"${HEADER}\"\n\nnamespace cudnn_ci {\n"
  "const std::vector<ScriptFile>& ${FUNCTION}() {\n  static const std::vector<ScriptFile> kFiles = {\n${entries}  };\n"
  "  return kFiles;\n}\n}  // namespace cudnn_ci\n")
