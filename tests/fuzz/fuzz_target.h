// The one function a fuzz target has. Linked with libFuzzer in the fuzz preset, with replay_main.cc
// everywhere else; the targets do not know which.
#ifndef CUDNN_CI_TESTS_FUZZ_FUZZ_TARGET_H_
#define CUDNN_CI_TESTS_FUZZ_FUZZ_TARGET_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>

// libFuzzer's entry point: aborts when what it tests does not hold for these bytes; else returns 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace cudnn_ci {

// Ends the process, which is how a fuzzer is told that it found something.
inline void Require(bool held, const char* what, const std::string& seen) {
  if (held) return;
  fprintf(stderr, "does not hold: %s\n%s\n", what, seen.c_str());
  abort();
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_FUZZ_FUZZ_TARGET_H_
