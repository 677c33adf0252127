// Values of the matrix against the declarations of the plugins.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "model/json/json_bytes.h"
#include "model/json/json_parse.h"
#include "model/plan/plan_steps.h"

namespace cudnn_ci {

namespace {

const char* Expected(ParamType type) {
  switch (type) {
    case ParamType::kBool:
      return "true or false";
    case ParamType::kI64:
      return "an integer";
    case ParamType::kF64:
      return "a number";
    case ParamType::kString:
      return "a string";
    case ParamType::kI64List:
      return "a list of integers";
    case ParamType::kStringList:
      return "a list of strings";
    case ParamType::kShape:
      return "the name of a shape";
  }
  return "a value";
}

std::string Bounds(const ParamInfo& param) {
  constexpr auto kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  if (param.min_i64 == kMin && param.max_i64 == kMax) return "";
  if (param.max_i64 == kMax) return " of at least " + std::to_string(param.min_i64);
  if (param.min_i64 == kMin) return " of at most " + std::to_string(param.max_i64);
  return " from " + std::to_string(param.min_i64) + " to " + std::to_string(param.max_i64);
}

bool IsList(ParamType type) { return type == ParamType::kI64List || type == ParamType::kStringList; }

std::string WithIdText(const Value& value) {
  std::string text = IdText(value);
  return IsIdText(text) ? text : std::string();
}

template <class T>
std::vector<T> Items(const Json& json) {
  std::vector<T> items;
  if (const auto* list = std::get_if<Json::Array>(&json.value)) {
    for (const Json& item : *list) items.push_back(std::get<T>(item.value));
  } else {
    items.push_back(std::get<T>(json.value));
  }
  return items;
}

}  // namespace

std::nullopt_t Binder::Report(const Position& position, std::string message) {
  AddProblem(problems_, position, std::move(message));
  return std::nullopt;
}

// One integer or string, alone or of a list.
bool Binder::CheckItem(const ParamInfo& param, const Json& json, const std::string& what) {
  const bool integers = param.type == ParamType::kI64 || param.type == ParamType::kI64List;
  const auto* number = std::get_if<int64_t>(&json.value);
  const auto* text = std::get_if<std::string>(&json.value);
  if (integers && number != nullptr && *number >= param.min_i64 && *number <= param.max_i64) return true;
  if (!integers && text != nullptr) {
    if (param.allowed.empty() ||
        std::find(param.allowed.begin(), param.allowed.end(), *text) != param.allowed.end()) {
      return true;
    }
    Report(json.position, what + " cannot be " + Quote(*text) + Hint(*text, param.allowed));
    return false;
  }
  const std::string expected = Expected(param.type) + (integers ? Bounds(param) : std::string());
  Report(json.position, what + " must be " + expected + ", found " + Describe(json));
  return false;
}

std::optional<Value> Binder::Convert(const ParamInfo& param, const Json& json, const std::string& what) {
  if (param.type == ParamType::kBool) {
    if (const bool* truth = std::get_if<bool>(&json.value)) return Value(*truth);
    return Report(json.position, what + " must be true or false, found " + Describe(json));
  }
  if (param.type == ParamType::kF64) {
    if (const auto* number = std::get_if<double>(&json.value)) return Value(*number);
    if (const auto* integer = std::get_if<int64_t>(&json.value)) return Value(static_cast<double>(*integer));
    return Report(json.position, what + " must be a number, found " + Describe(json));
  }
  const auto* list = std::get_if<Json::Array>(&json.value);
  if (IsList(param.type) && list != nullptr) {
    for (const Json& item : *list) {
      if (!CheckItem(param, item, what)) return std::nullopt;
    }
  } else if (!CheckItem(param, json, what)) {
    return std::nullopt;
  }
  switch (param.type) {
    case ParamType::kI64:
      return Value(std::get<int64_t>(json.value));
    case ParamType::kI64List:
      return Value(Items<int64_t>(json));
    case ParamType::kStringList:
      return Value(Items<std::string>(json));
    default:
      return Value(std::get<std::string>(json.value));
  }
}

std::optional<Binder::Fields> Binder::BindFields(const CheckInfo& check, const ParamInfo& param,
                                                 const Shape& shape) {
  const std::string of = " of the shape " + Quote(shape.name) + " (for " + check.name + ")";
  std::vector<std::string> known;
  for (const ParamInfo& field : param.fields) known.push_back(field.name);
  bool good = true;
  for (const Json::Member& member : shape.fields) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    Report(member.position, "unknown field " + Quote(member.key) + of + Hint(member.key, known));
    good = false;
  }
  Fields fields;
  for (const ParamInfo& field : param.fields) {
    std::optional<Value> value;
    if (const Json* json = Find(shape.fields, field.name)) {
      value = Convert(field, *json, Quote(field.name) + of);
    } else if (!field.default_json) {
      Report(shape.position, Quote(field.name) + of + " is missing");
    } else if (const auto bound = BindDefault(check, field)) {
      value = bound->value;
    }
    good = good && value.has_value();
    if (value) fields.emplace_back(param.name + "." + field.name, std::move(*value));
  }
  if (!good) return std::nullopt;
  return fields;
}

std::optional<Binder::Fields> Binder::BindShape(const CheckInfo& check, const ParamInfo& param,
                                                const Json& json, const std::string& name) {
  const std::string key = check.name + "\n" + param.name + "\n" + name;
  if (const auto found = shapes_.find(key); found != shapes_.end()) return found->second;
  std::vector<std::string> known;
  for (const Shape& shape : input_.matrix.shapes) {
    if (shape.name == name) return shapes_[key] = BindFields(check, param, shape);
    known.push_back(shape.name);
  }
  // Not remembered: every place that names it is worth a message.
  return Report(json.position, "the matrix has no shape " + Quote(name) + Hint(name, known));
}

std::optional<Bound> Binder::Bind(const CheckInfo& check, const ParamInfo& param, const Json& json) {
  Bound bound;
  bound.name = param.name;
  std::optional<Value> value = Convert(param, json, Quote(param.name) + " of " + check.name);
  if (!value) return std::nullopt;
  bound.value = std::move(*value);
  bound.id_text = WithIdText(bound.value);
  bound.bytes = JsonBytes(bound.name, bound.value);
  if (param.type != ParamType::kShape) return bound;
  std::optional<Fields> fields = BindShape(check, param, json, std::get<std::string>(bound.value));
  if (!fields) return std::nullopt;
  bound.fields = std::move(*fields);
  for (const auto& [field, content] : bound.fields) bound.bytes += JsonBytes(field, content);
  return bound;
}

std::optional<Bound> Binder::BindDefault(const CheckInfo& check, const ParamInfo& param) {
  const std::string path = input_.PluginPath(check.plugin);
  auto parsed = ParseJson(*param.default_json, path);
  if (!std::holds_alternative<Json>(parsed)) {
    return Report({path, 0, 0}, "the default of " + Quote(param.name) + " of " + check.name + ", " +
                                    Quote(*param.default_json) + ", is not JSON; repair the plugin");
  }
  Json json = std::get<Json>(std::move(parsed));
  json.position = {path, 0, 0};
  return Bind(check, param, json);
}

std::optional<Bound> Binder::BindRaw(const std::string& name, const Json& json) {
  Bound bound;
  bound.name = name;
  if (const auto* truth = std::get_if<bool>(&json.value)) {
    bound.value = *truth;
  } else if (const auto* integer = std::get_if<int64_t>(&json.value)) {
    bound.value = *integer;
  } else if (const auto* number = std::get_if<double>(&json.value)) {
    bound.value = *number;
  } else if (const auto* text = std::get_if<std::string>(&json.value)) {
    bound.value = *text;
  } else if (const auto* list = std::get_if<Json::Array>(&json.value)) {
    const auto is_integer = [](const Json& item) { return std::holds_alternative<int64_t>(item.value); };
    const auto is_string = [](const Json& item) { return std::holds_alternative<std::string>(item.value); };
    if (std::all_of(list->begin(), list->end(), is_integer)) {
      bound.value = Items<int64_t>(json);
    } else if (std::all_of(list->begin(), list->end(), is_string)) {
      bound.value = Items<std::string>(json);
    } else {
      return Report(json.position, Quote(name) + " must be a list of integers or a list of strings");
    }
  } else {
    return Report(json.position,
                  Quote(name) + " must be a value or a list of values, found " + Describe(json));
  }
  bound.id_text = WithIdText(bound.value);
  bound.bytes = JsonBytes(bound.name, bound.value);
  return bound;
}

}  // namespace cudnn_ci
