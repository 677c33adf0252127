// The command line.
#ifndef CUDNN_CI_CLI_OPTIONS_H_
#define CUDNN_CI_CLI_OPTIONS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/schedule/scheduler.h"
#include "report/formats/console.h"

namespace cudnn_ci {

// The name of standard output in the place of a report's.
inline constexpr char kStandardOutput[] = "-";

enum class Command {
  kRun,
  kList,
  kPlugins,
  kFacts,
  kExplain,
  kReport,
  kCompare,
  kWaive,
  kCopyTo,
  kSelfTest,
  kManual,
  kKnowledge,
  kInit
};

struct Options {
  Command command = Command::kRun;
  std::string command_line;    // as typed, quoted for a shell; "$NAME" in place of a secret
  std::string executable_dir;  // of cudnn-ci

  std::string matrix;       // file or name; empty with --auto or without either
  std::string matrix_root;  // below it lie the matrix and its parents; empty: nowhere else than they say
  bool auto_matrix = false;
  std::string subject_image;  // the image under test by digest; empty: nobody said
  std::string image_config;   // file with its configuration; empty: none
  std::string sbom;           // a bill of materials in the place of an image; empty: none
  std::string compatibility;  // table of version facts; empty: the one that comes with cudnn-ci
  std::string run_token;      // file with the word that the end of the record tells; empty: none
  std::string baseline;       // journal or report.json of the run to compare with; empty: none
  // What a launcher outside of the container says of itself: the line that repeats the run from there, and
  // the folder that the reports will lie in. Empty: nobody started us from outside.
  std::string launch_command, reports_at;
  // What the run was asked for, as words that ask for it again: without the places of reports,
  // image_config, baseline, rerun_failed, plugin_dirs and what the launcher says of itself.
  std::vector<std::string> arguments;
  std::string output_dir;                           // as given; empty: the default, or none
  std::map<std::string, std::string> report_paths;  // as given, by the name of ReportFormats()
  Color color = Color::kAuto;
  Verbosity verbosity = Verbosity::kNormal;
  bool strict_junit = false;
  std::string filter;
  std::vector<std::string> case_ids;
  bool static_stage = false;
  int shard_index = 0, shard_count = 0;
  std::string device = "0";  // "all", an index, a UUID
  int jobs = 0;              // 0: what the cgroup gives
  int workers_per_gpu = 0;   // 0: as many as there is room for
  Isolation isolation = Isolation::kShared;
  int retries = 0;
  bool fail_fast = false, report_only = false, dry_run = false, disturb = false;
  bool rerun_failed = false;
  double time_limit_s = 0, load_timeout_s = 10, grace_s = 2;
  std::vector<std::string> plugin_dirs, knowledge;

  bool json = false;                                             // list, plugins, facts, explain
  std::string narrowed;                                          // knowledge; empty: the files alone
  bool check_plugins = false;                                    // plugins
  std::string slug;                                              // explain; empty with all_findings
  bool all_findings = false;                                     // explain --all
  bool all_facts = false;                                        // facts --all
  std::vector<std::string> journals;                             // report
  std::vector<std::string> require;                              // report: types of GPU; empty: no such merge
  bool one_part = false;                                         // report: a shard's own reports
  bool page = false;                                             // report: one page of many images
  std::vector<std::string> compared, again;                      // compare: old and new; more of the old
  bool markdown = false;                                         // compare
  std::string waived_report, waiver_file = "-";                  // waive: what to read, where to write
  std::string waiver_owner, waiver_reason;                       // waive; no reason: what the report says
  int waiver_days = 0;                                           // waive
  std::string copy_target;                                       // copy-to
  std::string manual;                                            // manual: its text
  std::string init_file = "cudnn-ci.json", init_name = "image";  // init
  std::string init_subject;                                      // init; empty: as --auto chooses
  std::vector<std::string> faults;                               // self-test; empty: all
  std::string keep_dir;                                          // self-test

  // The folder of bin, libexec, plugins, matrices and knowledge.
  std::string TreeRoot() const { return executable_dir.substr(0, executable_dir.rfind('/')); }
  std::string worker_path() const { return TreeRoot() + "/libexec/cudnn-ci-worker"; }
  std::string injector_path() const { return TreeRoot() + "/libexec/cudnn-ci-plant.so"; }
  std::string matrices_dir() const { return TreeRoot() + "/matrices"; }
  std::string knowledge_dir() const { return TreeRoot() + "/knowledge"; }
  std::string compatibility_path() const {
    return compatibility.empty() ? matrices_dir() + "/compatibility.json" : compatibility;
  }
  // Beside the executable, from CUDNN_CI_PLUGIN_PATH, from --plugin-dir.
  std::vector<std::string> AllPluginDirs() const;
  // Which of the three a plugin's file was found by: "" (beside the executable) or the name of the other.
  std::string PluginOrigin(const std::string& path) const;
};

struct ParsedOptions {
  std::optional<Options> options;  // absent: help was shown or the usage was wrong
  int exit_code = 0;
  // Of a run whose command line is wrong, as far as it can be read: one for each place it names for reports,
  // with nothing else set. Reports of an earlier run that lie there would be taken for this one's.
  std::vector<Options> report_places;
};

// Prints help and version to stdout, usage errors to stderr.
ParsedOptions ParseOptions(int argc, char** argv);

// The version of cudnn-ci.
const char* ToolVersion();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_OPTIONS_H_
