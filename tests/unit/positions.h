// How many random places a fault is put to, and how many problems of a large matrix are looked at.
#ifndef CUDNN_CI_TESTS_POSITIONS_H_
#define CUDNN_CI_TESTS_POSITIONS_H_

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci {

// A sample; the tests of the label "positions" ask for 1,000.
inline int Positions() {
  const char* text = std::getenv("CUDNN_CI_POSITIONS");
  return text ? std::atoi(text) : 20;
}

// All problems of a matrix; of nightly's every eighth, and all where the label "positions" asks.
template <class Problem>
std::vector<std::pair<std::string, Problem>> SampleOf(const std::map<std::string, Problem>& problems,
                                                      const std::string& matrix) {
  const std::size_t every = matrix == "nightly" && !std::getenv("CUDNN_CI_POSITIONS") ? 8 : 1;
  std::vector<std::pair<std::string, Problem>> sample;
  std::size_t i = 0;
  for (const auto& problem : problems)
    if (i++ % every == 0) sample.push_back(problem);
  return sample;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_POSITIONS_H_
