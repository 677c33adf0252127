// A run from its report.json, for those who have no journal of it.
#ifndef CUDNN_CI_REPORT_RECORD_READ_REPORT_H_
#define CUDNN_CI_REPORT_RECORD_READ_REPORT_H_

#include <string>

#include "base/result.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {

// The run as the fold had it, and the verdict on it. A report holds what was tested, the cases with their
// outcomes, findings and measurements, and the findings about the run; it lacks the waivers, the workers and
// what the matrix allows of cases that did not need it. So the verdict is the report's, and is not to be made
// again.
struct ReportedRun {
  Summary summary;
  Verdict verdict;
};

// Errors name the file and what is wrong: it is no report.json of this version's format, or a record in it is
// malformed, as a line of a journal may be.
Result<ReportedRun> ReadReport(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_READ_REPORT_H_
