// What is wrong with a command line that could not be parsed, in words.
#ifndef CUDNN_CI_CLI_PARSE_PROBLEM_H_
#define CUDNN_CI_CLI_PARSE_PROBLEM_H_

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
class ParseError;
}  // namespace CLI

namespace cudnn_ci {

// What the parser says, what was meant perhaps ("did you mean '--matrix'?"), and whose --help has more. `app`
// has parsed the line and thrown `error`.
std::string ParseProblem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_PARSE_PROBLEM_H_
