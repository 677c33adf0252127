#include "base/utf8.h"

#include <utf8.h>

namespace cudnn_ci {

size_t DecodeUtf8(std::string_view bytes, size_t at, char32_t* code_point) {
  constexpr size_t kLongest = 4;
  const std::string_view here = bytes.substr(at, kLongest);
  if (here.empty()) return 0;
  if (static_cast<unsigned char>(here[0]) < 0x80) {  // nearly all of every text
    *code_point = static_cast<unsigned char>(here[0]);
    return 1;
  }
  // The border may cut a later character of these four bytes; only the first one is of interest.
  if (utf8::find_invalid(here) == 0) return 0;
  const char* next = here.data();
  *code_point = utf8::unchecked::next(next);
  return static_cast<size_t>(next - here.data());
}

size_t FindInvalidUtf8(std::string_view bytes) { return utf8::find_invalid(bytes); }

size_t CharacterBorder(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  // A character has at most three continuation bytes; longer runs are not UTF-8 and may be cut anywhere.
  for (size_t back = 0; back <= 3 && back <= at; ++back) {
    const bool continuation = (static_cast<unsigned char>(text[at - back]) & 0xC0) == 0x80;
    if (!continuation) return at - back;
  }
  return at;
}

}  // namespace cudnn_ci
