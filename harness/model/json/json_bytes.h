// How long values are in JSON: what travels in one message, or stands in one line, is bounded. Private to
// model.
#ifndef CUDNN_CI_MODEL_JSON_JSON_BYTES_H_
#define CUDNN_CI_MODEL_JSON_JSON_BYTES_H_

#include <cstddef>
#include <string>

#include "base/json_bytes.h"
#include "model/json/value.h"

namespace cudnn_ci {

// How many bytes a parameter takes, at most, as a worker is told of it: `"name":{"i":1},`.
size_t JsonBytes(const std::string& name, const Value& value);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_JSON_JSON_BYTES_H_
