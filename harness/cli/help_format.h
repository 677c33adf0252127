// The text of --help: CLI11's layout, with the names of values as the documents have them.
#ifndef CUDNN_CI_CLI_HELP_FORMAT_H_
#define CUDNN_CI_CLI_HELP_FORMAT_H_

#include <memory>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class FormatterBase;
class Option;
}  // namespace CLI

namespace cudnn_ci {

// The name of an option's value: "FILE", "rich|strict"; empty for a flag. Of an argument: what says more than
// its name ("OLD NEW" of RUN), else empty.
std::string ValueName(const CLI::Option& option);

// For CLI::App::formatter. Options that exclude each other are named behind the description, not between the
// option and its description.
std::shared_ptr<CLI::FormatterBase> MakeHelpFormat();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_HELP_FORMAT_H_
