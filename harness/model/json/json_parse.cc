// nlohmann's parser decides what is JSON; it keeps no positions, sorts keys and drops duplicates. So its
// events are built into our own tree here, and a cursor walks over the text in step with them: between
// two events there are only blanks, comments and punctuation, which the cursor skips to find where the
// token of the event begins. What is wrong behind the last event the cursor finds out by itself: the parser's
// words for it are not part of its interface.
#include "model/json/json_parse.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "model/json/json_cursor.h"

namespace cudnn_ci {

namespace {

using Parser = nlohmann::json;

class Builder : public nlohmann::json_sax<Parser> {
 public:
  Builder(std::string_view text, const std::string& file, const JsonKind& kind)
      : kind_(kind), cursor_(text, file) {}

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
  bool string(std::string& v) override {
    const bool whole = v.find('\0') == std::string::npos;
    Put(v);
    return whole || ReportNul(last_, v);
  }
  bool binary(Parser::binary_t&) override { return false; }  // not in JSON text
  bool start_object(size_t) override { return Open(Json::Object()); }
  bool start_array(size_t) override { return Open(Json::Array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(std::string& name) override {
    const Position position = cursor_.Next();
    if (name.find('\0') != std::string::npos) ReportNul(position, name);
    after_key_ = true;
    auto& known = keys_.back();
    const auto [first, added] = known.emplace(name, position);
    if (!added) {
      Report(position, "the key " + Quote(name) + " was given before, at " + ToString(first->second) +
                           "; remove one of them");
    }
    std::get<Json::Object>(stack_.back()->value).push_back({name, position, {}});
    return true;
  }

  bool parse_error(size_t, const std::string& token, const nlohmann::detail::exception& e) override {
    constexpr int kNumberOverflow = 406;
    if (e.id == kNumberOverflow) {
      Report(cursor_.Next(), "the number " + CleanLine(token, 60) + " is too large");
      return false;
    }
    const Json* container = stack_.empty() ? nullptr : stack_.back();
    problems_.push_back(DiagnoseSyntax(cursor_, {container, after_key_, root_ended_, kind_.noun}));
    return false;
  }

  Json TakeRoot() { return std::move(root_); }
  std::vector<Problem> TakeProblems() { return std::move(problems_); }

 private:
  bool Report(const Position& position, const std::string& message) {
    AddProblem(&problems_, position, message);
    return true;
  }

  // A plugin reads its values up to the first NUL: it would see less than the file says.
  bool ReportNul(const Position& position, const std::string& text) {
    return Report(position,
                  "the string " + Quote(text) + " holds the character U+0000, which no value can hold");
  }

  bool Open(decltype(Json::value) empty) {
    Json* opened = Add(std::move(empty));
    if (stack_.size() >= kMaxJsonDepth) {
      Report(opened->position, "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels; " +
                                   kind_.noun + " needs no more than five");
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
    root_ended_ = stack_.empty();
    return true;
  }
  bool Put(decltype(Json::value) value) {
    Add(std::move(value));
    root_ended_ = stack_.empty();
    return true;
  }
  // A container's elements do not move while one of them is open: only the innermost one grows.
  Json* Add(decltype(Json::value) value) {
    last_ = cursor_.Next();
    after_key_ = false;
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

  const JsonKind& kind_;
  JsonCursor cursor_;
  Json root_;
  Position last_;
  bool after_key_ = false, root_ended_ = false;
  std::vector<Json*> stack_;
  std::vector<std::unordered_map<std::string, Position>> keys_;  // of the open containers
  std::vector<Problem> problems_;
};

bool HoldsNothing(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  return Trim(text).empty();
}

}  // namespace

std::variant<Json, std::vector<Problem>> ParseJson(const std::string& text, const std::string& path,
                                                   const JsonKind& kind) {
  std::vector<Problem> problems;
  if (text.size() > kMaxJsonBytes) {
    AddProblem(&problems, {path, 0, 0},
               std::string("the file is larger than the limit of 4 MiB; ") + kind.smaller);
    return problems;
  }
  if (HoldsNothing(text)) {
    AddProblem(
        &problems, {path, 1, 1},
        std::string("the file is empty; ") + kind.noun + " begins with {\"schema\": \"" + kind.schema + "\"");
    return problems;
  }
  if (const size_t bad = FindInvalidUtf8(text); bad != std::string_view::npos) {
    const std::string byte = CleanText(std::string_view(text).substr(bad, 1));
    AddProblem(&problems, JsonCursor(text, path).PositionOf(bad),
               "the byte " + byte + " is not UTF-8; save the file in UTF-8");
    return problems;
  }
  // The parser takes it for the end, and would not look at what follows.
  if (const size_t nul = text.find('\0'); nul != std::string::npos) {
    AddProblem(&problems, JsonCursor(text, path).PositionOf(nul),
               "the byte \\x00 is not allowed in a text; save the file in UTF-8");
    return problems;
  }
  Builder builder(text, path, kind);
  Parser::sax_parse(text.begin(), text.end(), &builder, nlohmann::detail::input_format_t::json, true, true);
  problems = builder.TakeProblems();
  if (!problems.empty()) return problems;
  return builder.TakeRoot();
}

}  // namespace cudnn_ci
