// Enum <-> name, by a table in the order of the enumerators. Private to model.
#ifndef CUDNN_CI_MODEL_RECORD_NAMES_H_
#define CUDNN_CI_MODEL_RECORD_NAMES_H_

#include <cstddef>
#include <string>

namespace cudnn_ci {

template <class Enum, size_t N>
const char* NameOf(const char* const (&names)[N], Enum value) {
  const auto index = static_cast<size_t>(value);
  return index < N ? names[index] : "unknown";
}

template <class Enum, size_t N>
bool ParseName(const char* const (&names)[N], const std::string& name, Enum* out) {
  for (size_t i = 0; i < N; ++i) {
    if (name == names[i]) {
      *out = static_cast<Enum>(i);
      return true;
    }
  }
  return false;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_NAMES_H_
