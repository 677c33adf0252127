#include "base/json_bytes.h"

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

}  // namespace cudnn_ci
