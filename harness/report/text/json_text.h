// JSON as text, written in order without a tree: what the journal and report.json are made of. Knows
// nothing of events.
#ifndef CUDNN_CI_REPORT_TEXT_JSON_TEXT_H_
#define CUDNN_CI_REPORT_TEXT_JSON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "model/json/value.h"

namespace cudnn_ci {

// Appends to a string. Commas and, if `indent` is not 0, line breaks come by themselves. Strings are clean
// text (base/text.h), cut to `max_string` bytes, head and tail kept.
class JsonText {
 public:
  explicit JsonText(int indent = 0, size_t max_string = std::numeric_limits<size_t>::max())
      : indent_(indent), max_string_(max_string) {}

  JsonText& BeginObject() { return Open('{'); }
  JsonText& EndObject() { return Close('}'); }
  JsonText& BeginArray() { return Open('['); }
  JsonText& EndArray() { return Close(']'); }
  // Values on one line until the matching End, whatever the indent.
  JsonText& BeginCompactObject();

  JsonText& Key(std::string_view key);
  JsonText& String(std::string_view value);
  // Null for an empty one: what is not known.
  JsonText& StringOrNull(std::string_view value) { return value.empty() ? Null() : String(value); }
  JsonText& Int(int64_t value);
  JsonText& Bool(bool value);
  JsonText& Null();
  // Shortest text that reads back as the same number, always with a point or exponent; NaN and the
  // infinities, which JSON lacks, as "nan", "inf", "-inf".
  JsonText& Double(double value);
  JsonText& Param(const Value& value);
  JsonText& Strings(const std::vector<std::string>& values);

  const std::string& text() const { return out_; }
  // Hands over what was written so far; nesting is kept.
  std::string Take();

 private:
  JsonText& Open(char bracket);
  JsonText& Close(char bracket);
  void BeforeValue();
  void NewLine();

  struct Level {
    bool empty = true, compact = false;
  };
  int indent_;
  size_t max_string_;
  std::string out_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_JSON_TEXT_H_
