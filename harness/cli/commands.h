// The commands beside `run`.
#ifndef CUDNN_CI_CLI_COMMANDS_H_
#define CUDNN_CI_CLI_COMMANDS_H_

#include "cli/options.h"

namespace cudnn_ci {

// The end of a command line that was not understood (the words are on stderr already): no report of an
// earlier run is left where this one's would have been. Returns the exit code.
int RejectCommandLine(const ParsedOptions& parsed);

// Runs list, plugins, facts, init, explain, report, copy-to, self-test or manual. Returns the exit code.
int RunCommand(const Options& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COMMANDS_H_
