// The dependency direction of the layers as a function of one file's text: what may include what. Knows file
// names and #include lines only, nothing of what the layers do.
#ifndef CUDNN_CI_TESTS_LAYERS_INCLUDE_RULES_H_
#define CUDNN_CI_TESTS_LAYERS_INCLUDE_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

struct Include {
  std::string name;  // without quotes or brackets
  bool quoted = false;
};

// A file's #include lines, in order. Lines that a // comment disables do not count; conditional ones do.
std::vector<Include> IncludesOf(std::string_view text);

// The layer a file belongs to: "base", "model", ..., "sdk", "main" below harness/, "plugins" below plugins/;
// empty for any other file. `path` is relative to the repository, with slashes.
std::string LayerOf(std::string_view path);

// The rules the file breaks, one sentence each that names the file and the include. A file of no layer breaks
// none.
std::vector<std::string> BrokenRules(std::string_view path, std::string_view text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_LAYERS_INCLUDE_RULES_H_
