// How many random places a fault is put to.
#ifndef CUDNN_CI_TESTS_POSITIONS_H_
#define CUDNN_CI_TESTS_POSITIONS_H_

#include <cstdlib>

namespace cudnn_ci {

// A sample; the tests of the label "positions" ask for 1,000.
inline int Positions() {
  const char* text = std::getenv("CUDNN_CI_POSITIONS");
  return text ? std::atoi(text) : 20;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_POSITIONS_H_
