// The options of the gate, which is `cudnn-ci` without the word of a command.
#ifndef CUDNN_CI_CLI_RUN_OPTIONS_H_
#define CUDNN_CI_CLI_RUN_OPTIONS_H_

#include <string>
#include <vector>

#include "cli/installation.h"
#include "cli/shared_options.h"
#include "exec/schedule/scheduler.h"

namespace cudnn_ci {

struct RunOptions {
  SelectionOptions selection;
  ReportOptions reports;
  DiscoveryOptions discovery;
  LauncherOptions launcher;
  Color color = Color::kAuto;
  Verbosity verbosity = Verbosity::kNormal;
  bool strict_junit = false;

  std::string subject_image;  // the image under test by digest; empty: not given
  std::string subject_id;     // the image under test by its id, if it has no digest; empty: not given
  std::string image_config;   // file with its configuration; empty: none
  std::string sbom;           // a bill of materials instead of an image; empty: none
  std::string compatibility;  // table of version facts; empty: the one that comes with cudnn-ci
  std::string run_token;      // file with the secret of --run-token, unknown to every check; empty: none
  std::string baseline;       // journal or report.json of the run to compare with; empty: none

  int jobs = 0;             // 0: what the cgroup gives
  int workers_per_gpu = 0;  // 0: as many as there is room for
  Isolation isolation = Isolation::kShared;
  int retries = 0;
  bool fail_fast = false, report_only = false, dry_run = false, rerun_failed = false;
  bool gating = false;                   // exit 0 is to be a verdict
  double time_limit_s = 0, grace_s = 2;  // no time limit: 0
};

void DeclareRun(CLI::App* app, RunOptions* o);

// What only all options together show. Sets the shard.
Status CheckRun(RunOptions* o);

// Invocation::arguments, from what was given to the gate.
std::vector<std::string> ArgumentsToRepeat(const CLI::App& app);

// The places for reports that a command line names which could not be parsed, as far as it can be read: one
// for each option that names a place, with nothing else set; the default place if there is none. Empty: it is
// no run that writes reports.
std::vector<ReportOptions> PlacesForReports(const CLI::App& app, int argc, char** argv);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_RUN_OPTIONS_H_
