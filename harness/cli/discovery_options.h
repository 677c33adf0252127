// The options of every command that looks at plugins or judges by what is known.
#ifndef CUDNN_CI_CLI_DISCOVERY_OPTIONS_H_
#define CUDNN_CI_CLI_DISCOVERY_OPTIONS_H_

#include "cli/options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cudnn_ci {

// Declares --plugin-dir, --knowledge and --load-timeout, which set `o` when the line is parsed.
void AddDiscoveryOptions(CLI::App* app, Options* o);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_DISCOVERY_OPTIONS_H_
