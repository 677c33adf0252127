// The options of the commands that work on records and reports of runs that are over.
#ifndef CUDNN_CI_CLI_REPORT_OPTIONS_H_
#define CUDNN_CI_CLI_REPORT_OPTIONS_H_

#include <string>

#include "cli/options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cudnn_ci {

// Declares --color.
void DeclareColor(CLI::App* app, Options* o);
// Declares how much a run prints: --quiet, --verbose.
void DeclareVerbosity(CLI::App* app, Options* o);
// Declares what a launcher outside of the container says of itself: --reproduce-with, --reports-at.
void DeclareLaunched(CLI::App* app, Options* o);
// Declares where such a launcher laid the matrix and its parents: --matrix-root.
void DeclareMatrixRoot(CLI::App* app, Options* o);
// Whether it is one of these: they belong to one start, and to no line that repeats it.
bool IsLaunchersOption(const std::string& name);
// Declares what `cudnn-ci report` takes; parsing sets `o`.
void DeclareReport(CLI::App* report, Options* o);
// The same of `cudnn-ci compare`.
void DeclareCompare(CLI::App* compare, Options* o);
// The same of `cudnn-ci waive`.
void DeclareWaive(CLI::App* waive, Options* o);

// Why no statement (--attestation) can come of what is asked for, whatever the run finds, with what to do;
// empty: one may, or none is asked for.
std::string StatementProblem(const Options& o);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_REPORT_OPTIONS_H_
