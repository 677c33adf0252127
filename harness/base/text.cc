// Cleaning and cutting of text, and small helpers. Patterns and edit distance are in text_match.cc.
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/cut_mark.h"
#include "base/utf8.h"

namespace cudnn_ci {

namespace {

constexpr char kEscape = '\x1B';
constexpr char kBell = '\x07';
// A control string (a window title, a hyperlink) longer than this is taken for a stray introducer: a
// lost terminator must not swallow the evidence behind it.
constexpr size_t kLongestControlString = 2048;

bool Between(char c, char low, char high) { return c >= low && c <= high; }

// ESC [ parameters intermediates final, of ECMA-48. Cut off or malformed: what fits is still removed.
size_t ControlSequenceEnd(std::string_view s, size_t at) {
  size_t i = at + 2;
  while (i < s.size() && Between(s[i], '\x30', '\x3F')) ++i;
  while (i < s.size() && Between(s[i], '\x20', '\x2F')) ++i;
  if (i < s.size() && Between(s[i], '\x40', '\x7E')) ++i;
  return i;
}

// ESC ] text BEL, or ESC P|X|^|_ text ESC backslash.
size_t ControlStringEnd(std::string_view s, size_t at) {
  for (size_t i = at + 2; i < s.size() && i - at < kLongestControlString; ++i) {
    if (s[i] == kBell) return i + 1;
    if (s[i] == kEscape && i + 1 < s.size() && s[i + 1] == '\\') return i + 2;
    if (s[i] == '\n') break;
  }
  return at + 2;
}

// The end of the terminal sequence at s[at] == ESC; `at` when there is none.
size_t TerminalSequenceEnd(std::string_view s, size_t at) {
  if (at + 1 >= s.size()) return at;
  const char next = s[at + 1];
  if (next == '[') return ControlSequenceEnd(s, at);
  if (next == ']' || next == 'P' || next == 'X' || next == '^' || next == '_') return ControlStringEnd(s, at);
  size_t i = at + 1;
  while (i < s.size() && Between(s[i], '\x20', '\x2F')) ++i;
  if (i < s.size() && Between(s[i], '\x30', '\x7E')) return i + 1;
  return at;
}

void AppendEscaped(char kind, unsigned value, std::string* out) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, kind == 'x' ? "\\x%02X" : "\\u%04X", value);
  *out += buffer;
}

// Marks, embeddings, overrides and isolates: a line that they turn reads as another.
// https://trojansource.codes
bool TurnsDirection(char32_t c) {
  return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// Characters that stay: XML's Char production less the control characters of C1 and DEL, which XML
// discourages and terminals act upon. https://www.w3.org/TR/xml/#charsets
bool IsPlain(char32_t c) {
  if (c == '\t' || c == '\n') return true;
  return !TurnsDirection(c) && c >= 0x20 && c != 0x7F && !(c >= 0x80 && c <= 0x9F) && c != 0xFFFE &&
         c != 0xFFFF;
}

}  // namespace

std::string CleanText(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const char byte = bytes[i];
    if (byte == kEscape) {
      const size_t end = TerminalSequenceEnd(bytes, i);
      if (end > i) {
        i = end;
        continue;
      }
    }
    if (byte == '\r') {
      out += '\n';
      i += i + 1 < bytes.size() && bytes[i + 1] == '\n' ? 2 : 1;
      continue;
    }
    char32_t c = 0;
    const size_t length = DecodeUtf8(bytes, i, &c);
    if (length == 0) {
      AppendEscaped('x', static_cast<unsigned char>(byte), &out);
      ++i;
      continue;
    }
    if (IsPlain(c)) {
      out += bytes.substr(i, length);
    } else {
      AppendEscaped(c < 0x80 ? 'x' : 'u', static_cast<unsigned>(c), &out);
    }
    i += length;
  }
  return out;
}

void CleanInPlace(std::string* text) {
  if (!IsPrintableAscii(*text)) *text = CleanText(*text);
}

bool IsPrintableAscii(std::string_view bytes, char but, char nor) {
  constexpr size_t kWord = sizeof(uint64_t);
  if (bytes.size() < kWord) {
    for (const char c : bytes)
      if (c < 0x20 || c == 0x7F || c == but || c == nor) return false;
    return true;
  }
  // Of eight bytes at a time: the top bit of one is set by a byte below 0x20, of 0x7F, of 0x80 or above, and
  // by one of the two, which leaves 0 where it stands. The last eight may overlap those before.
  constexpr uint64_t kEach = 0x0101010101010101, kTop = kEach * 0x80;
  const uint64_t first = kEach * static_cast<unsigned char>(but),
                 second = kEach * static_cast<unsigned char>(nor);
  uint64_t found = 0;
  for (size_t i = 0; i < bytes.size(); i += kWord) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + std::min(i, bytes.size() - kWord), kWord);
    found |=
        (word - kEach * 0x20) | (word + kEach) | word | ((word ^ first) - kEach) | ((word ^ second) - kEach);
  }
  return (found & kTop) == 0;
}

std::string SingleLine(std::string_view text, size_t max_bytes) {
  std::string line(Trim(text));
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  if (line.size() <= max_bytes) return line;
  const std::string_view ellipsis = std::string_view("...").substr(0, max_bytes);
  line.resize(CharacterBorder(line, max_bytes - ellipsis.size()));
  line += ellipsis;
  return line;
}

std::string Beginning(std::string_view text, size_t max_bytes) {
  return std::string(
      text.substr(0, text.size() <= max_bytes ? text.size() : CharacterBorder(text, max_bytes)));
}

std::string CleanLine(std::string_view bytes, size_t max_bytes) {
  return SingleLine(CleanText(bytes), max_bytes);
}

std::string HeadAndTail(std::string_view text, size_t head, size_t tail) {
  if (text.size() <= head || text.size() - head <= tail) return std::string(text);
  const size_t head_end = CharacterBorder(text, head);
  const size_t tail_begin = CharacterBorder(text, text.size() - tail);
  std::string out(text.substr(0, head_end));
  if (!out.empty() && out.back() != '\n') out += '\n';
  out += CutMark(tail_begin - head_end) + "\n";
  out += text.substr(tail_begin);
  return out;
}

bool IsValidUtf8(std::string_view bytes) { return FindInvalidUtf8(bytes) == std::string_view::npos; }

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string FixedSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) return "0.000";
  char buffer[512];  // DBL_MAX has 309 digits before the point
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, seconds, std::chars_format::fixed, 3);
  return std::string(buffer, end.ptr);
}

std::string ShellQuote(std::string_view word) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace cudnn_ci
