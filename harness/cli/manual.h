// The manual page, made from the table of options itself: it cannot tell of another option than there is.
#ifndef CUDNN_CI_CLI_MANUAL_H_
#define CUDNN_CI_CLI_MANUAL_H_

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cudnn_ci {

// cudnn-ci.1, for groff's and mandoc's man macros (man(7)). Without a date: the same options give the same
// bytes.
std::string ManPage(const CLI::App& app, const std::string& version);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_MANUAL_H_
