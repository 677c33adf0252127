// How long a file and a function may be, as a function of one file's text. Knows brackets and comments,
// nothing of what the code does.
#ifndef CUDNN_CI_TESTS_LAYERS_SIZE_RULES_H_
#define CUDNN_CI_TESTS_LAYERS_SIZE_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

struct FunctionSize {
  std::string head;  // the last line before the body, "int main() {"
  int line = 0;      // where the signature begins, counted from 1
  int lines = 0;     // from there to the closing bracket
};

// `text` with comments, literals and preprocessor lines blanked, line for line and column for column.
std::string CodeOf(std::string_view text);

// The functions a file defines, in order; a lambda belongs to the function it stands in.
std::vector<FunctionSize> FunctionsOf(std::string_view text);

// What is too long in a file, one sentence each that names the place. `path` is relative to the repository,
// with slashes.
std::vector<std::string> TooLong(std::string_view path, std::string_view text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_LAYERS_SIZE_RULES_H_
