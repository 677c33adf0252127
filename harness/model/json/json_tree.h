// JSON with positions, for messages about a file people write. Knows nothing of the matrix's keys.
#ifndef CUDNN_CI_MODEL_JSON_JSON_TREE_H_
#define CUDNN_CI_MODEL_JSON_JSON_TREE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudnn_ci {

// Where something stands: file, line and column, both from 1. Column counts bytes.
struct Position {
  std::string file;
  int line = 0, column = 0;
};
std::string ToString(const Position& p);  // "matrices/cu12.json:7:3"

// A problem with the input: printed as "FILE:LINE:COLUMN: error: MESSAGE".
struct Problem {
  Position position;
  std::string message;
};
std::string ToString(const Problem& p);

// A JSON value with the position of its first character. Objects keep their order.
struct Json {
  using Array = std::vector<Json>;
  struct Member;
  using Object = std::vector<Member>;
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object> value;
  Position position;
};
struct Json::Member {
  std::string key;
  Position position;  // of the key
  Json value;
};

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

#endif  // CUDNN_CI_MODEL_JSON_JSON_TREE_H_
