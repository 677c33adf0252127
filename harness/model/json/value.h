// Values of check parameters: what a matrix writes, a case binds and a plugin reads.
#ifndef CUDNN_CI_MODEL_JSON_VALUE_H_
#define CUDNN_CI_MODEL_JSON_VALUE_H_

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace cudnn_ci {

using Value =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<std::string>>;

// Name -> value, sorted by name. Fields of a shape parameter are "PARAM.FIELD".
using Params = std::map<std::string, Value>;

// The value as it stands in a case id: lists joined by x, a negative number as m1. May contain
// characters an id cannot hold (see IsIdText).
std::string IdText(const Value& value);

// Whether the text can stand in a case id: [A-Za-z0-9_.+]+
bool IsIdText(const std::string& text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_JSON_VALUE_H_
