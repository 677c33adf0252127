// The command waive: from what failed in a run to a matrix that accepts it for some days.
#ifndef CUDNN_CI_CLI_WAIVE_H_
#define CUDNN_CI_CLI_WAIVE_H_

#include <string>

#include "base/result.h"
#include "cli/options.h"

namespace cudnn_ci {

// Writes a matrix that extends the run's own, with a waiver for each error of each case that failed or
// errored and is not waived yet, to options.waiver_file. Returns what to print: the matrix itself for "-".
// What no waiver can excuse is told on stderr. An error when nothing is left to waive, when the waivers are
// more than a matrix takes, or when a file is there already, which is never replaced.
Result<std::string> WriteWaivers(const Options& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_WAIVE_H_
