// JSON with positions, for messages about a file people write. Private to model. Knows nothing of the
// matrix's keys.
#ifndef CUDNN_CI_MODEL_JSON_POSITION_H_
#define CUDNN_CI_MODEL_JSON_POSITION_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/matrix.h"

namespace cudnn_ci {

inline constexpr size_t kMaxJsonBytes = 4 * 1024 * 1024;
inline constexpr size_t kMaxJsonDepth = 32;

void AddProblem(std::vector<Problem>* problems, Position position, std::string message);

// The value as a message speaks of it: `the string "30"`, `the integer 3`, `a list`.
std::string Describe(const Json& json);

// The member of that name, or null.
const Json* Find(const Json::Object& object, std::string_view key);

// Whether two values are the same, positions aside. Numbers compare by value: 1 equals 1.0.
bool SameJson(const Json& a, const Json& b);

// `; did you mean "stride"?`, or `; known are "pad", "stride"` when nothing is near and there are few.
std::string Hint(const std::string& word, const std::vector<std::string>& known);

// The text between quotes, cleaned and shortened for a message.
std::string Quote(const std::string& text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_JSON_POSITION_H_
