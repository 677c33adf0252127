// Values of parameters as JSON, the same in a packet to a worker and in a line of the journal. `Json` is
// nlohmann::json, whose header its users include themselves.
#ifndef CUDNN_CI_MODEL_JSON_VALUE_JSON_H_
#define CUDNN_CI_MODEL_JSON_VALUE_JSON_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "model/json/value.h"

namespace cudnn_ci {

// A number with a point is a double, one without an integer; [] is a list of integers, and an empty list of
// strings is {"strings": []}. False when the node is no such value; *value is then any.
template <class Json>
bool FromJson(const Json& node, Value* value) {
  const auto is_string = [](const Json& element) { return element.is_string(); };
  const auto fits = [](const Json& element) {
    return element.is_number_integer() &&
           (!element.is_number_unsigned() ||
            element.template get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
  };
  const bool marked = node.is_object() && node.contains("strings");
  const Json& list = marked ? node["strings"] : node;
  if (node.is_boolean()) {
    *value = node.template get<bool>();
  } else if (node.is_number_float()) {
    *value = node.template get<double>();
  } else if (fits(node)) {
    *value = node.template get<int64_t>();
  } else if (node.is_string()) {
    *value = node.template get<std::string>();
  } else if (list.is_array() && (marked || !list.empty()) &&
             std::all_of(list.begin(), list.end(), is_string)) {
    *value = list.template get<std::vector<std::string>>();
  } else if (node.is_array() && std::all_of(node.begin(), node.end(), fits)) {
    *value = node.template get<std::vector<int64_t>>();
  } else {
    return false;
  }
  return true;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_JSON_VALUE_JSON_H_
