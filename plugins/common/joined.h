// A list in a sentence.
#ifndef CUDNN_CI_PLUGINS_COMMON_JOINED_H_
#define CUDNN_CI_PLUGINS_COMMON_JOINED_H_

#include <string>

namespace cudnn_ci {

// "a, b, c" of a container of strings, in its order.
template <class Texts>
std::string Joined(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_JOINED_H_
