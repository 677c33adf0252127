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

// What messages call a document, how one of its kind begins, and how a large one is made smaller.
struct JsonKind {
  const char* noun;    // "a matrix"
  const char* schema;  // "cudnn-ci/matrix/1"
  const char* smaller;
};
inline constexpr JsonKind kMatrixJson = {"a matrix", "cudnn-ci/matrix/1",
                                         "split it, or let an axis make the cases"};

// One document. `path` is used in positions only.
std::variant<Json, std::vector<Problem>> ParseJson(const std::string& text, const std::string& path,
                                                   const JsonKind& kind = kMatrixJson);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_JSON_JSON_PARSE_H_
