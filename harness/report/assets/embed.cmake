# cmake -D STYLE=page.css -D SCRIPT=report.js -D PAGE_SCRIPT=page.js -D OUTPUT=assets.cc -P embed.cmake: the files as texts of C++.
file(READ ${STYLE} style)
file(READ ${SCRIPT} script)
file(READ ${PAGE_SCRIPT} page_script)
file(WRITE ${OUTPUT} "// harness/report/assets.\n#include \"report/assets/assets.h\"\n\nnamespace cudnn_ci {\n"
  "const char kPageStyle[] = R\"cci-file(${style})cci-file\";\n"
  "const char kReportScript[] = R\"cci-file(${script})cci-file\";\n"
  "const char kPageScript[] = R\"cci-file(${page_script})cci-file\";\n}  // namespace cudnn_ci\n")
