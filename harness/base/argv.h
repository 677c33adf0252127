// A command's words as exec and posix_spawn take them.
#ifndef CUDNN_CI_BASE_ARGV_H_
#define CUDNN_CI_BASE_ARGV_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// Pointers to the words, and a null pointer behind them; valid while the words are, unchanged.
inline std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words)
    out.push_back(const_cast<char*>(word.c_str()));  // posix_spawn's signature
  out.push_back(nullptr);
  return out;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_ARGV_H_
