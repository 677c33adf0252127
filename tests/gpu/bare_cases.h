// What a bare library offers to bare_run.cc, and how it reads its cases. Independent of the project's own
// code on purpose.
#ifndef CUDNN_CI_TESTS_GPU_BARE_CASES_H_
#define CUDNN_CI_TESTS_GPU_BARE_CASES_H_

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

struct BareCases {
  int ran = 0, supported = 0;
};

// Runs each line of the file in the current context. Ends the program with 1 on any error of a call that must
// succeed, with 2 for a line that it does not know.
extern "C" BareCases RunCases(const char* path);

// `run` is given a line and says whether the library supports it; false: it does not know the line.
template <class Run>
BareCases RunLines(const char* path, Run run) {
  BareCases cases;
  std::ifstream file(path);
  std::string text;
  while (std::getline(file, text)) {
    bool supported = false;
    if (!run(text, &supported)) {
      std::fprintf(stderr, "%s: not known: %s\n", path, text.c_str());
      std::exit(2);
    }
    ++cases.ran;
    cases.supported += supported ? 1 : 0;
  }
  return cases;
}

#endif  // CUDNN_CI_TESTS_GPU_BARE_CASES_H_
