// Reports from the record: the same fold and the same reporters as during the run, over events from a
// journal.
#ifndef CUDNN_CI_REVIEW_REBUILD_H_
#define CUDNN_CI_REVIEW_REBUILD_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "report/formats/console.h"
#include "report/formats/formats.h"

namespace cudnn_ci {

struct RebuildOptions {
  ReportPaths paths;
  std::string journal;  // of a merged run, which has none yet; empty: not written
  ReportSettings settings;
  int console_fd = -1;  // for the summary; -1: none
  ConsoleOptions console;
};

// Writes what the options name. A journal without RunFinished gives a verdict that is not complete and never
// passed. Every report is tried; the error names those that could not be written.
Status RebuildReports(const std::vector<Event>& events, const RebuildOptions& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REVIEW_REBUILD_H_
