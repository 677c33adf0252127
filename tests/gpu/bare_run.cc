// What a warm worker is measured against: one process that makes the same calls for the same cases, and
// compares nothing. Like a worker it loads cuDNN and cuBLAS when they are needed, with what calls them: a
// bare library.
//
//   bare_run LIBRARY CASES [LIBRARY CASES...]
//
// Prints a line for each library, how many cases ran and were supported and the seconds that took, and their
// sum. A context is made before, and is in none of them. Exit 1 on any error of a call that must succeed, 2
// for a case that the library does not know.
#include <dlfcn.h>

#include <cstdio>

#include "bare_cases.h"
#include "bare_device.h"

int main(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0) return 2;
  OpenContext();
  const Clock all;
  for (int i = 1; i < argc; i += 2) {
    const Clock clock;
    void* const library = dlopen(argv[i], RTLD_NOW);
    auto* const run = reinterpret_cast<decltype(&RunCases)>(library ? dlsym(library, "RunCases") : nullptr);
    if (!run) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    const BareCases cases = run(argv[i + 1]);
    std::printf("%d %d %.3f\n", cases.ran, cases.supported, clock.seconds());
  }
  std::printf("%.3f\n", all.seconds());
  return 0;
}
