#include "base/utf8.h"

namespace cudnn_ci {

namespace {

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// What the first byte says: the length, the payload bits it carries and the range of the second byte,
// which is where overlong forms, surrogates and values beyond U+10FFFF show.
struct Lead {
  size_t length;
  char32_t bits;
  unsigned char second_min, second_max;
};

Lead Classify(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, byte & 0x1Fu, 0x80, 0xBF};
  if (byte >= 0xE0 && byte <= 0xEF) {
    const unsigned char low = byte == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = byte == 0xED ? 0x9F : 0xBF;
    return {3, byte & 0x0Fu, low, high};
  }
  if (byte >= 0xF0 && byte <= 0xF4) {
    const unsigned char low = byte == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = byte == 0xF4 ? 0x8F : 0xBF;
    return {4, byte & 0x07u, low, high};
  }
  return {0, 0, 0, 0};
}

}  // namespace

size_t DecodeUtf8(std::string_view bytes, size_t at, char32_t* code_point) {
  const Lead lead = Classify(static_cast<unsigned char>(bytes[at]));
  if (lead.length == 0 || bytes.size() - at < lead.length) return 0;
  char32_t value = lead.bits;
  for (size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[at + i]);
    if (!IsContinuation(byte)) return 0;
    if (i == 1 && (byte < lead.second_min || byte > lead.second_max)) return 0;
    value = (value << 6) | (byte & 0x3Fu);
  }
  *code_point = value;
  return lead.length;
}

size_t FindInvalidUtf8(std::string_view bytes) {
  char32_t code_point = 0;
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = DecodeUtf8(bytes, i, &code_point);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

size_t CharacterBorder(std::string_view text, size_t at) {
  if (at >= text.size()) return text.size();
  // A character has at most three continuation bytes; longer runs are not UTF-8 and may be cut anywhere.
  for (size_t back = 0; back <= 3 && back <= at; ++back) {
    if (!IsContinuation(static_cast<unsigned char>(text[at - back]))) return at - back;
  }
  return at;
}

}  // namespace cudnn_ci
