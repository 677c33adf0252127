// The reports that are files, one row each: whoever adds a report writes its reporter, its row here and, in
// own_reports.cc, how its files begin.
// Options, paths, removal of old reports and rebuilding from a journal follow from the rows. The journal is
// no row: it is the record that all of them are made from.
#ifndef CUDNN_CI_REPORT_FORMATS_FORMATS_H_
#define CUDNN_CI_REPORT_FORMATS_FORMATS_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats/run_summary.h"
#include "report/record/reporter.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci {

// What a person chose about the reports.
struct ReportSettings {
  bool strict_junit = false;  // --junit-profile strict
  RunSummaryOptions screen;   // for reports that hold the summary
  bool in_one_part = false;   // however many cases there are
};

struct ReportFormat {
  const char* name;       // "junit": the reporter's name, and the option --junit
  const char* help;       // of that option, without a period
  const char* file_name;  // in the folder of --output-dir; null: written only where its option says
  bool in_parts;          // a large run continues in STEM-2.EXT, STEM-3.EXT, ...
  bool may_yield;  // left out of the folder, unless asked for by its option, where a file of another lies
  CommandSpelling spelling;  // where it goes to a pipeline's log
  std::unique_ptr<Reporter> (*make)(const std::string& path, const ReportSettings& settings);
};

// In the order in which they are written and named.
const std::vector<ReportFormat>& ReportFormats();
// By its name, which is one of theirs.
const ReportFormat& ReportFormatOf(std::string_view name);

// By the name of the format; one that is missing or empty is not written.
using ReportPaths = std::map<std::string, std::string>;

// A reporter for each path, in the order of the formats.
std::vector<std::unique_ptr<Reporter>> MakeReporters(const ReportPaths& paths,
                                                     const ReportSettings& settings);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_FORMATS_H_
