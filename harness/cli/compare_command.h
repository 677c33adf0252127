// cudnn-ci compare: what changed from one run to another.
#ifndef CUDNN_CI_CLI_COMPARE_COMMAND_H_
#define CUDNN_CI_CLI_COMPARE_COMMAND_H_

#include "cli/options.h"

namespace cudnn_ci {

// Prints the changes. Returns 0 when the new run is the same or better, 1 when it is worse, 2 when the two
// cannot be compared or read, 5 when nothing can be printed.
int CompareRuns(const Options& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COMPARE_COMMAND_H_
