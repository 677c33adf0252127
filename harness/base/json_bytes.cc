#include "base/json_bytes.h"

#include <algorithm>

namespace cudnn_ci {

size_t JsonBytes(const std::string& text) {
  size_t bytes = 2;
  for (const char c : text) {
    // \u0007; \" and \\ in between.
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    bytes += control ? 6 : 1 + static_cast<size_t>(c == '"' || c == '\\');
  }
  return bytes;
}

size_t JsonNesting(std::string_view text) {
  size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      continue;
    }
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return deepest;
}

}  // namespace cudnn_ci
