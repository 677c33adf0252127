// Where the reports go: probed and locked before anything runs, and emptied of our own old reports, so that
// yesterday's are never taken for today's. A file that is not our report is never removed or replaced.
#ifndef CUDNN_CI_CLI_OUTPUT_FOLDER_H_
#define CUDNN_CI_CLI_OUTPUT_FOLDER_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/shared_options.h"
#include "report/formats/formats.h"
#include "report/record/report_locks.h"

namespace cudnn_ci {

// The default folder of all reports.
inline constexpr char kReportFolder[] = "cudnn-ci-report";

struct OutputPaths {
  std::string folder = {};   // empty: only single files were asked for
  std::string journal = {};  // empty: not written
  ReportPaths reports = {};
  std::vector<std::string> left_out = {};  // reports not asked for, whose name another file has
  std::string to_stdout = {};              // the name of the report that goes to standard output; empty: none
  std::vector<std::string> All() const;    // the files
};

// --output-dir, and the options of the reports, into paths: without any of them everything goes to
// cudnn-ci-report/.
OutputPaths ChoosePaths(const ReportOptions& options);

// What the summary says of the reports: their places, without secrets. `reports_at` is where those of the
// folder will lie when a launcher has copied them; empty: they stay.
RunSummaryOptions ScreenOf(const OutputPaths& paths, const std::string& reports_at);

// One line on stderr for each report that is left out.
void PrintLeftOutReports(const OutputPaths& paths);

// Creates the folders, takes the locks, tries to write into every folder concerned, removes our old reports
// and the attachments they name. Refuses two reports in one file, anything but a regular file (a device, a
// link, a directory), any of `inputs`, and any file that is no report of ours. After an error none of our old
// reports is left either, unless another run is writing them. Errors name the file or folder and what to do.
Result<ReportLocks> PrepareReports(const OutputPaths& paths, const std::vector<std::string>& inputs);

// Removes the reports at these paths, if they are ours, and the attachments they name; of the folder also
// what the launcher has left. For whoever holds the locks.
void RemoveReports(const OutputPaths& paths);

// The same for who does not: leaves alone what another run is writing.
void WithdrawReports(const OutputPaths& paths);

// The places of reports that are none of the files a command reads.
OutputPaths WithoutInputs(OutputPaths paths, const std::vector<std::string>& inputs);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_OUTPUT_FOLDER_H_
