#include "cli/rerun.h"

#include <unistd.h>

#include <utility>

#include "review/run_view.h"

namespace cudnn_ci {
namespace {

constexpr char kAll[] = "; run without --rerun-failed";

// The record of the last run; empty when there is none.
std::string RecordAt(const OutputPaths& paths) {
  if (!paths.journal.empty() && access(paths.journal.c_str(), F_OK) == 0) return paths.journal;
  const auto report = paths.reports.find("json");
  const bool exists =
      report != paths.reports.end() && !report->second.empty() && access(report->second.c_str(), F_OK) == 0;
  return exists ? report->second : "";
}

bool IsToRunAgain(const CaseView& one) {
  switch (one.standing) {
    case Standing::kFailed:
    case Standing::kBlocked:
    case Standing::kNotRun:
      return true;
    case Standing::kSkipped:
      return one.skip_not_allowed;
    case Standing::kPassed:
    case Standing::kWaived:
      break;
  }
  return false;
}

}  // namespace

Result<std::vector<CaseRef>> CasesToRerun(const OutputPaths& paths) {
  const std::string record = RecordAt(paths);
  if (record.empty())
    return Error{"no journal.jsonl or report.json of an earlier run" +
                 (paths.folder.empty() ? std::string() : " in " + paths.folder) + kAll};
  Result<RunView> earlier = ReadRun(record);
  if (!earlier.ok()) return Error{earlier.error() + kAll};
  // The cases behind the place where the record ends would be forgotten.
  if (!earlier->planned) return Error{record + ": the run ended before it had a plan" + kAll};
  std::vector<CaseRef> cases;
  for (const auto& [ref, one] : earlier->cases)
    if (IsToRunAgain(one)) cases.push_back(ref);
  if (cases.empty())
    return Error{record + ": the run ended as " + earlier->verdict + ", and all its required cases passed" +
                 kAll};
  return cases;
}

}  // namespace cudnn_ci
