// JSON with positions. See json_tree.h.
#include "model/json/json_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace cudnn_ci {

std::string ToString(const Problem& p) { return ToString(p.position) + ": error: " + p.message; }

std::string ToString(const Position& p) {
  if (p.line == 0) return p.file;
  return p.file + ":" + std::to_string(p.line) + ":" + std::to_string(p.column);
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
