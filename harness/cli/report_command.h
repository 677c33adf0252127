// cudnn-ci report: reports made again from the record of a run, or from several records as one.
#ifndef CUDNN_CI_CLI_REPORT_COMMAND_H_
#define CUDNN_CI_CLI_REPORT_COMMAND_H_

#include "cli/options.h"

namespace cudnn_ci {

// Prints the summary and says on stderr what is wrong. Returns the verdict's exit code, 2 when the
// journals cannot be read or are not of one run, 5 when a report could not be written. With --page: one page
// of many images, and 0 when it was written.
int Report(const Options& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_REPORT_COMMAND_H_
