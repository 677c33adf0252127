// Values as JSON. See value_json.h.
#include "model/value_json.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace cudnn_ci {
namespace {

using nlohmann::json;

bool Fits(const json& node) {
  return node.is_number_integer() &&
         (!node.is_number_unsigned() ||
          node.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

bool IsString(const json& node) { return node.is_string(); }

}  // namespace

json ToJson(const Value& value) {
  const auto* strings = std::get_if<std::vector<std::string>>(&value);
  if (strings && strings->empty()) return {{"strings", json::array()}};
  return std::visit([](const auto& v) { return json(v); }, value);
}

bool FromJson(const json& node, Value* value) {
  const auto place = node.is_object() ? node.find("strings") : node.end();
  const json& list = place == node.end() ? node : *place;
  if (node.is_boolean()) {
    *value = node.get<bool>();
  } else if (node.is_number_float()) {
    *value = node.get<double>();
  } else if (Fits(node)) {
    *value = node.get<int64_t>();
  } else if (node.is_string()) {
    *value = node.get<std::string>();
  } else if (list.is_array() && std::all_of(list.begin(), list.end(), IsString) &&
             (place != node.end() || !list.empty())) {
    *value = list.get<std::vector<std::string>>();
  } else if (node.is_array() && std::all_of(node.begin(), node.end(), Fits)) {
    *value = node.get<std::vector<int64_t>>();
  } else {
    return false;
  }
  return true;
}

}  // namespace cudnn_ci
