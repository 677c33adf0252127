// JSON as text. See json_text.h.
#include "report/text/json_text.h"

#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/text.h"

namespace cudnn_ci {
namespace {

bool IsPlain(std::string_view text) { return IsPrintableAscii(text, '"', '\\'); }

void AppendEscaped(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      *out += "\\u00";
      *out += kHex[byte >> 4];
      *out += kHex[byte & 15];
    } else {
      *out += c;
    }
  }
}

}  // namespace

void JsonText::NewLine() {
  if (indent_ == 0 || levels_.back().compact) return;
  out_ += '\n';
  out_.append(levels_.size() * static_cast<size_t>(indent_), ' ');
}

void JsonText::BeforeValue() {
  if (std::exchange(after_key_, false) || levels_.empty()) return;
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  NewLine();
}

JsonText& JsonText::Open(char bracket) {
  BeforeValue();
  out_ += bracket;
  levels_.push_back({true, !levels_.empty() && levels_.back().compact});
  return *this;
}

JsonText& JsonText::BeginCompactObject() {
  Open('{');
  levels_.back().compact = true;
  return *this;
}

JsonText& JsonText::Close(char bracket) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && !level.compact && indent_ != 0) {
    out_ += '\n';
    out_.append(levels_.size() * static_cast<size_t>(indent_), ' ');
  }
  out_ += bracket;
  return *this;
}

JsonText& JsonText::Key(std::string_view key) {
  String(key);
  out_ += indent_ == 0 ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonText& JsonText::String(std::string_view value) {
  BeforeValue();
  out_ += '"';
  if (value.size() <= max_string_ && IsPlain(value)) {
    out_ += value;
  } else {
    AppendEscaped(value.size() <= max_string_ ? value : HeadAndTail(value, max_string_ / 4, max_string_ / 2),
                  &out_);
  }
  out_ += '"';
  return *this;
}

JsonText& JsonText::Int(int64_t value) {
  BeforeValue();
  char buffer[24];
  out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return *this;
}

JsonText& JsonText::Bool(bool value) {
  BeforeValue();
  out_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::Null() {
  BeforeValue();
  out_ += "null";
  return *this;
}

JsonText& JsonText::Double(double value) {
  if (!std::isfinite(value)) return String(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  BeforeValue();
  char buffer[40];
  const std::string_view text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  out_ += text;
  // Without a point it would read back as an integer.
  if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
  return *this;
}

JsonText& JsonText::Param(const Value& value) {
  std::visit(
      [this](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) {
          Bool(v);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          Int(v);
        } else if constexpr (std::is_same_v<T, double>) {
          Double(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          String(v);
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          Open('[');
          levels_.back().compact = true;
          for (int64_t element : v) Int(element);
          Close(']');
        } else {
          Strings(v);
        }
      },
      value);
  return *this;
}

JsonText& JsonText::Strings(const std::vector<std::string>& values) {
  BeginArray();
  for (const std::string& value : values) String(value);
  return EndArray();
}

std::string JsonText::Take() { return std::exchange(out_, {}); }

}  // namespace cudnn_ci
