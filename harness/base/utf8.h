// UTF-8, one character at a time: what text.cc and the matrix parser both need. Private to the harness;
// knows no escape sequences and no XML.
#ifndef CUDNN_CI_BASE_UTF8_H_
#define CUDNN_CI_BASE_UTF8_H_

#include <cstddef>
#include <string_view>

namespace cudnn_ci {

// Length in bytes of the well-formed character at bytes[at], and its code point; 0 when the bytes there
// are malformed: overlong, a surrogate, beyond U+10FFFF or cut off (The Unicode Standard, table 3-7).
size_t DecodeUtf8(std::string_view bytes, size_t at, char32_t* code_point);

// The offset of the first malformed byte, or npos.
size_t FindInvalidUtf8(std::string_view bytes);

// The largest offset not above `at` that does not split a character.
size_t CharacterBorder(std::string_view text, size_t at);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_UTF8_H_
