// The options of the commands that work on records and reports of runs that are over.
#ifndef CUDNN_CI_CLI_REPORT_OPTIONS_H_
#define CUDNN_CI_CLI_REPORT_OPTIONS_H_

#include "cli/options.h"

namespace CLI {
class App;
}

namespace cudnn_ci {

// Declares what `cudnn-ci report` takes; parsing sets `o`.
void DeclareReport(CLI::App* report, Options* o);
// The same of `cudnn-ci compare`.
void DeclareCompare(CLI::App* compare, Options* o);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_REPORT_OPTIONS_H_
