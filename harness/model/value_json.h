// Values of parameters as JSON, the same in a packet to a worker and in a line of the journal.
#ifndef CUDNN_CI_MODEL_VALUE_JSON_H_
#define CUDNN_CI_MODEL_VALUE_JSON_H_

#include <nlohmann/json.hpp>

#include "model/value.h"

namespace cudnn_ci {

// A number with a point is a double, one without an integer; [] is a list of integers, and an empty list of
// strings is {"strings": []}.
nlohmann::json ToJson(const Value& value);
// False when the node is no such value; *value is then any.
bool FromJson(const nlohmann::json& node, Value* value);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_VALUE_JSON_H_
