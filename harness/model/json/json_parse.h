// Text to JSON with positions. Private to model, but for tests and fuzzing.
#ifndef CUDNN_CI_MODEL_JSON_JSON_PARSE_H_
#define CUDNN_CI_MODEL_JSON_JSON_PARSE_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "model/json/json_tree.h"

namespace cudnn_ci {

inline constexpr size_t kMaxJsonBytes = 4 * 1024 * 1024;
inline constexpr size_t kMaxJsonDepth = 32;

// One document. `path` is used in positions only.
std::variant<Json, std::vector<Problem>> ParseJson(const std::string& text, const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_JSON_JSON_PARSE_H_
