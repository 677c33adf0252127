#include "model/json/json_cursor.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "base/text.h"

namespace cudnn_ci {

JsonCursor::JsonCursor(std::string_view text, std::string file) : text_(text) {
  position_ = {std::move(file), 1, 1};
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text_.substr(0, 3) == kByteOrderMark) at_ = 3;
}

Position JsonCursor::Next() {
  do SkipBlanks();
  while (Skip(',') || Skip(':'));
  Position start = position_;
  last_token_ = PeekToken();
  for (size_t i = 0; i < last_token_.size(); ++i) Step();
  return start;
}

void JsonCursor::SkipBlanks() {
  constexpr std::string_view kBlanks = " \t\n\r";
  while (at_ < text_.size()) {
    if (kBlanks.find(text_[at_]) != kBlanks.npos) {
      Step();
    } else if (text_[at_] != '/' || !SkipComment()) {
      return;
    }
  }
}

bool JsonCursor::Skip(char c) {
  if (at_ >= text_.size() || text_[at_] != c) return false;
  Step();
  return true;
}

Position JsonCursor::PositionOf(size_t offset) {
  while (at_ < std::min(offset, text_.size())) Step();
  return position_;
}

std::string_view JsonCursor::PeekToken() const {
  const std::string_view text = rest();
  if (text.empty()) return text;
  size_t end = 1;
  if (text[0] == '"') {
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    ++end;
  } else if (std::string_view("{[]},:/").find(text[0]) == std::string_view::npos) {
    end = text.find_first_of(" \t\r\n,:]}/", 1);
  }
  return text.substr(0, end);
}

void JsonCursor::Step() {
  if (text_[at_++] == '\n') {
    ++position_.line;
    position_.column = 1;
  } else {
    ++position_.column;
  }
}

bool JsonCursor::SkipComment() {
  const bool block = text_.substr(at_, 2) == "/*";
  if (!block && text_.substr(at_, 2) != "//") return false;
  size_t end = block ? text_.find("*/", at_ + 2) : text_.find('\n', at_);
  if (block && end == text_.npos) return false;
  end = block ? end + 2 : std::min(end, text_.size());
  while (at_ < end) Step();
  return true;
}

namespace {

std::optional<uint32_t> FourHexDigits(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef0123456789ABCDEF";
  if (text.size() < 4) return std::nullopt;
  uint32_t code = 0;
  for (const char c : text.substr(0, 4)) {
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return std::nullopt;
    code = code * 16 + digit % 16;
  }
  return code;
}

// Length of the escape that `text` begins with; 0 if there is no such escape.
size_t EscapeLength(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != 'u') return std::string_view("\"\\/bfnrt").find(text[1]) == std::string_view::npos ? 0 : 2;
  const std::optional<uint32_t> code = FourHexDigits(text.substr(2));
  if (!code || (*code >= 0xDC00 && *code <= 0xDFFF)) return 0;
  if (*code < 0xD800 || *code > 0xDBFF) return 6;
  // The first half of a character beyond U+FFFF; the second half must follow.
  if (text.substr(6, 2) != "\\u") return 0;
  const std::optional<uint32_t> second = FourHexDigits(text.substr(8));
  return second && *second >= 0xDC00 && *second <= 0xDFFF ? 12 : 0;
}

// What is wrong with the string that `text` begins with.
std::string StringProblem(std::string_view text) {
  for (size_t i = 1; i < text.size() && text[i] != '"';) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n' || byte == '\r') break;
    if (byte < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      return std::string("a string holds a control character; write it as \\u00") + kHex[byte / 16] +
             kHex[byte % 16];
    }
    if (byte != '\\') {
      ++i;
      continue;
    }
    const size_t length = EscapeLength(text.substr(i));
    if (length == 0) {
      const std::string escape(text.substr(i, text.substr(i, 2) == "\\u" ? 6 : 2));
      return "a string holds " + Quote(escape) + ", which is not an escape; a backslash is written \\\\";
    }
    i += length;
  }
  return "the string that begins here does not end in its line; is its \" missing?";
}

std::string Unfinished(const JsonPlace& place) {
  if (place.container == nullptr)
    return std::string("the file holds no value; ") + place.noun + " is an object in braces { }";
  const bool object = std::holds_alternative<Json::Object>(place.container->value);
  return std::string("the file ends inside the ") + (object ? "object" : "list") + " that begins at " +
         ToString(place.container->position) + "; is its " + (object ? "}" : "]") + " missing?";
}

// What the place calls for, in words; moves over the colon or comma if it is there.
std::string Expected(const JsonPlace& place, JsonCursor* cursor, bool* value) {
  *value = true;
  if (place.container == nullptr) {
    *value = !place.root_ended;
    return place.root_ended ? "the end of the file" : "a value";
  }
  const auto* object = std::get_if<Json::Object>(&place.container->value);
  const auto* array = std::get_if<Json::Array>(&place.container->value);
  const bool empty = object != nullptr ? object->empty() : array->empty();
  if (empty) return object != nullptr ? "a key in double quotes or }" : "a value or ]";
  const bool separated = cursor->Skip(place.after_key ? ':' : ',');
  cursor->SkipBlanks();
  *value = separated;
  if (place.after_key) return separated ? "a value" : "a colon";
  if (separated) return object != nullptr ? "a key in double quotes" : "a value";
  return object != nullptr ? "a comma or }" : "a comma or ]";
}

// The first character of valid UTF-8, whole.
std::string FirstCharacter(std::string_view text) {
  size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
  return std::string(text.substr(0, size));
}

std::string WordProblem(std::string_view word) {
  const bool number = std::string_view("+-.0123456789").find(word[0]) != std::string_view::npos;
  return Quote(std::string(word)) +
         (number ? " is not a number" : " is not a value; known are true, false and null");
}

}  // namespace

Problem DiagnoseSyntax(JsonCursor cursor, const JsonPlace& place) {
  const auto because = [&](const std::string& reason) {
    return Problem{cursor.position(), "this is not JSON: " + reason};
  };
  // A parser takes "01" for the number 0 and stumbles over the 1.
  const std::string_view last = cursor.last_token();
  const bool word = !last.empty() && std::string_view("{}[]\"").find(last[0]) == std::string_view::npos;
  if (word && !nlohmann::json::accept(last)) {
    Problem problem = because(WordProblem(last));
    problem.position.column -= static_cast<int>(last.size());
    return problem;
  }
  cursor.SkipBlanks();
  bool value = false;
  const std::string expected = Expected(place, &cursor, &value);
  if (cursor.rest().empty()) return {cursor.position(), Unfinished(place)};
  if (cursor.rest().substr(0, 2) == "/*") {
    return because("the comment that begins here does not end; is its */ missing?");
  }
  const char c = cursor.rest()[0];
  const std::string unexpected =
      "unexpected " + (c == '"' ? std::string("string") : Quote(FirstCharacter(cursor.rest())));
  if (c == '}' || c == ']') {
    return because(unexpected + "; a comma or a value before it is one too many or missing");
  }
  if (c == '\'') return because(unexpected + "; strings stand in double quotes");
  if (c == '/') return because(unexpected + "; comments are // to the end of the line and /* */");
  if (c == '"' && value) return because(StringProblem(cursor.rest()));
  const bool key = expected.rfind("a key", 0) == 0;
  const bool punctuation = std::string_view(",:{[").find(c) != std::string_view::npos;
  if (value && !key && !punctuation) return because(WordProblem(cursor.PeekToken()));
  return because(unexpected + "; expected here: " + expected);
}

}  // namespace cudnn_ci
