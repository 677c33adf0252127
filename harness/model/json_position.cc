// nlohmann's parser decides what is JSON; it keeps no positions, sorts keys and drops duplicates. So its
// events are built into our own tree here, and a cursor walks over the text in step with them: between
// two events there are only blanks, comments and punctuation, which the cursor skips to find where the
// token of the event begins.
#include "model/json_position.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace cudnn_ci {

namespace {

// Walks over the text once, counting lines and columns.
class Cursor {
 public:
  Cursor(std::string_view text, std::string file) : text_(text) {
    position_ = {std::move(file), 1, 1};
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.substr(0, 3) == kByteOrderMark) at_ = 3;
  }

  // The position of the next key, value or bracket; then moves behind it.
  Position Next() {
    SkipSeparators(",:");
    const Position start = position_;
    SkipToken();
    return start;
  }
  // The position of the next token of any kind, without moving behind it.
  Position Here(std::string_view separators) {
    SkipSeparators(separators);
    return position_;
  }
  Position PositionOf(size_t offset) {
    while (at_ < std::min(offset, text_.size())) Step();
    return position_;
  }
  bool at_end() const { return at_ >= text_.size(); }
  char character() const { return at_end() ? '\0' : text_[at_]; }

 private:
  void Step() {
    if (text_[at_++] == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      ++position_.column;
    }
  }
  void SkipSeparators(std::string_view separators) {
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '/') {
        SkipComment();
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || separators.find(c) != separators.npos) {
        Step();
      } else {
        return;
      }
    }
  }
  void SkipComment() {
    const bool block = text_.substr(at_, 2) == "/*";
    const size_t end = block ? text_.find("*/", at_ + 2) : text_.find('\n', at_);
    const size_t stop = end == text_.npos ? text_.size() : end + (block ? 2 : 1);
    while (at_ < stop) Step();
  }
  void SkipToken() {
    if (at_end()) return;
    const char first = text_[at_];
    Step();
    if (first == '"') {
      while (!at_end() && text_[at_] != '"') {
        if (text_[at_] == '\\') Step();
        if (!at_end()) Step();
      }
      if (!at_end()) Step();
    } else if (std::string_view("{[]}").find(first) == text_.npos) {
      constexpr std::string_view kEnds = " \t\r\n,:]}/";
      while (!at_end() && kEnds.find(text_[at_]) == kEnds.npos) Step();
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  Position position_;
};

using Parser = nlohmann::json;

class Builder : public nlohmann::json_sax<Parser> {
 public:
  Builder(std::string_view text, const std::string& file) : cursor_(text, file) {}

  bool null() override { return Put(nullptr); }
  bool boolean(bool v) override { return Put(v); }
  bool number_integer(int64_t v) override { return Put(v); }
  bool number_unsigned(uint64_t v) override {
    if (v <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Put(static_cast<int64_t>(v));
    Put(nullptr);
    return Report(last_, "the integer " + std::to_string(v) + " is too large; at most 9223372036854775807");
  }
  bool number_float(double v, const std::string& text) override {
    Put(v);
    if (text.find_first_of(".eE") != std::string::npos) return true;
    return Report(last_, "the integer " + CleanLine(text, 60) + " is too large for 64 bits");
  }
  bool string(std::string& v) override { return Put(std::move(v)); }
  bool binary(Parser::binary_t&) override { return false; }  // not in JSON text
  bool start_object(size_t) override { return Open(Json::Object()); }
  bool start_array(size_t) override { return Open(Json::Array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(std::string& name) override {
    const Position position = cursor_.Next();
    auto& known = keys_.back();
    const auto [first, added] = known.emplace(name, position);
    if (!added) {
      Report(position, "the key " + Quote(name) + " was given before, at " + ToString(first->second) +
                           "; remove one of them");
    }
    std::get<Json::Object>(stack_.back()->value).push_back({name, position, {}});
    return true;
  }

  bool parse_error(size_t offset, const std::string&, const nlohmann::detail::exception& e) override {
    const std::string what = e.what();
    // "... parse error at line 1, column 2: syntax error while parsing value - REASON"
    const size_t dash = what.find(" - ");
    std::string reason = dash == what.npos ? what.substr(what.find("] ") + 2) : what.substr(dash + 3);
    std::string expected;
    if (const size_t at = reason.find("; expected "); at != reason.npos) {
      expected = reason.substr(at + 11);
      reason.resize(at);
    }
    if (reason.rfind("unexpected", 0) == 0 || reason.rfind("invalid literal", 0) == 0) {
      const Position here = cursor_.Here(",:");
      Report(here, Unexpected(expected));
    } else {
      reason.resize(std::min(reason.size(), reason.find("; last read")));
      Report(cursor_.PositionOf(offset == 0 ? 0 : offset - 1), "this is not JSON: " + CleanLine(reason));
    }
    return false;
  }

  Json TakeRoot() { return std::move(root_); }
  std::vector<Problem> TakeProblems() { return std::move(problems_); }

 private:
  bool Report(const Position& position, const std::string& message) {
    AddProblem(&problems_, position, message);
    return true;
  }

  std::string Unexpected(const std::string& expected) {
    if (cursor_.at_end()) {
      if (stack_.empty()) return "the file holds no value; a matrix is an object in braces { }";
      const bool object = std::holds_alternative<Json::Object>(stack_.back()->value);
      return std::string("the file ends inside the ") + (object ? "object" : "list") + " that begins at " +
             ToString(stack_.back()->position) + "; is its " + (object ? "}" : "]") + " missing?";
    }
    const char c = cursor_.character();
    std::string message = "this is not JSON: unexpected " + Quote(std::string(1, c));
    if (c == '}' || c == ']') return message + "; a comma or a value before it is one too many or missing";
    if (c == '\'') return message + "; strings stand in double quotes";
    if (!expected.empty()) message += "; expected here: " + CleanLine(expected, 80);
    return message;
  }

  bool Open(decltype(Json::value) empty) {
    Json* opened = Add(std::move(empty));
    if (stack_.size() >= kMaxJsonDepth) {
      Report(opened->position, "nested deeper than " + std::to_string(kMaxJsonDepth) +
                                   " levels; a matrix needs no more than five");
      return false;
    }
    stack_.push_back(opened);
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    cursor_.Next();
    stack_.pop_back();
    keys_.pop_back();
    return true;
  }
  bool Put(decltype(Json::value) value) {
    Add(std::move(value));
    return true;
  }
  // A container's elements do not move while one of them is open: only the innermost one grows.
  Json* Add(decltype(Json::value) value) {
    last_ = cursor_.Next();
    Json json{std::move(value), last_};
    if (stack_.empty()) {
      root_ = std::move(json);
      return &root_;
    }
    if (auto* array = std::get_if<Json::Array>(&stack_.back()->value)) {
      array->push_back(std::move(json));
      return &array->back();
    }
    Json& slot = std::get<Json::Object>(stack_.back()->value).back().value;
    slot = std::move(json);
    return &slot;
  }

  Cursor cursor_;
  Json root_;
  Position last_;
  std::vector<Json*> stack_;
  std::vector<std::unordered_map<std::string, Position>> keys_;  // of the open containers
  std::vector<Problem> problems_;
};

bool HoldsNothing(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  return Trim(text).empty();
}

}  // namespace

std::variant<Json, std::vector<Problem>> ParseJson(const std::string& text, const std::string& path) {
  std::vector<Problem> problems;
  if (text.size() > kMaxJsonBytes) {
    AddProblem(&problems, {path, 0, 0},
               "the file is larger than the limit of 4 MiB; split it, or let an axis make the cases");
    return problems;
  }
  if (HoldsNothing(text)) {
    AddProblem(&problems, {path, 1, 1},
               "the file is empty; a matrix begins with {\"schema\": \"cudnn-ci/matrix/1\"");
    return problems;
  }
  if (const size_t bad = FindInvalidUtf8(text); bad != std::string_view::npos) {
    const std::string byte = CleanText(std::string_view(text).substr(bad, 1));
    AddProblem(&problems, Cursor(text, path).PositionOf(bad),
               "the byte " + byte + " is not UTF-8; save the file in UTF-8");
    return problems;
  }
  Builder builder(text, path);
  Parser::sax_parse(text.begin(), text.end(), &builder, nlohmann::detail::input_format_t::json, true, true);
  problems = builder.TakeProblems();
  if (!problems.empty()) return problems;
  return builder.TakeRoot();
}

void AddProblem(std::vector<Problem>* problems, Position position, std::string message) {
  Problem problem;
  problem.position = std::move(position);
  problem.message = std::move(message);
  problems->push_back(std::move(problem));
}

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  quoted += CleanLine(text, 120);
  quoted += '"';
  return quoted;
}

std::string Describe(const Json& json) {
  struct Visitor {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return "the integer " + std::to_string(v); }
    std::string operator()(double v) const { return "the number " + nlohmann::json(v).dump(); }
    std::string operator()(const std::string& v) const { return "the string " + Quote(v); }
    std::string operator()(const Json::Array& v) const { return v.empty() ? "an empty list" : "a list"; }
    std::string operator()(const Json::Object&) const { return "an object"; }
  };
  return std::visit(Visitor(), json.value);
}

const Json* Find(const Json::Object& object, std::string_view key) {
  for (const Json::Member& member : object) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

bool SameJson(const Json& a, const Json& b) {
  const auto* int_a = std::get_if<int64_t>(&a.value);
  const auto* int_b = std::get_if<int64_t>(&b.value);
  if (int_a != nullptr && std::holds_alternative<double>(b.value)) {
    return static_cast<double>(*int_a) == std::get<double>(b.value);
  }
  if (int_b != nullptr && std::holds_alternative<double>(a.value)) return SameJson(b, a);
  if (a.value.index() != b.value.index()) return false;
  if (const auto* array = std::get_if<Json::Array>(&a.value)) {
    const auto& other = std::get<Json::Array>(b.value);
    return std::equal(array->begin(), array->end(), other.begin(), other.end(), SameJson);
  }
  if (const auto* object = std::get_if<Json::Object>(&a.value)) {
    const auto& other = std::get<Json::Object>(b.value);
    return object->size() == other.size() &&
           std::all_of(object->begin(), object->end(), [&](const auto& member) {
             const Json* match = Find(other, member.key);
             return match != nullptr && SameJson(member.value, *match);
           });
  }
  if (const auto* text = std::get_if<std::string>(&a.value)) return *text == std::get<std::string>(b.value);
  if (int_a != nullptr) return *int_a == *int_b;
  if (const auto* number = std::get_if<double>(&a.value)) return *number == std::get<double>(b.value);
  if (const auto* truth = std::get_if<bool>(&a.value)) return *truth == std::get<bool>(b.value);
  return true;  // null
}

std::string Hint(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = DidYouMean(word, known);
  if (!near.empty()) return "; did you mean " + Quote(near) + "?";
  if (known.empty() || known.size() > 20) return "";
  std::vector<std::string> quoted;
  for (const std::string& name : known) quoted.push_back(Quote(name));
  return "; known are " + Join(quoted, ", ");
}

}  // namespace cudnn_ci
