// What `self-test` reads of a run's report.json, and whether a spoiled run said what it had to. Knows the
// format, starts nothing.
#ifndef CUDNN_CI_CLI_SELF_TEST_REPORT_H_
#define CUDNN_CI_CLI_SELF_TEST_REPORT_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/self_test_faults.h"

namespace cudnn_ci {

struct SeenFinding {
  std::string blame, slug, detail;
};

struct SeenCase {
  std::string id, check, outcome;
  std::string reason;  // why it did not pass, one line
  double seconds = 0;
  std::vector<SeenFinding> errors;  // findings of severity error
};

struct SeenReport {
  std::string run_id, command_line, verdict;
  bool complete = false;
  int exit_code = -1;
  SeenFinding root_cause;  // empty: there is none
  std::string cudnn_path;  // of the image's main library, when there is one
  std::vector<SeenCase> cases;

  // The one case of a check; null: there is none.
  const SeenCase* Find(const std::string& check) const;
};

// Reads a report of this version. Errors name the file; what it does not say is left empty.
Result<SeenReport> ReadSeenReport(const std::string& path);

// Why a report does not speak for a run that ended with `status` and was started with `word` (its report
// folder) on the command line; empty: it does.
std::string ForeignReport(const SeenReport& report, int status, const std::string& word);

// Why the gate did not notice a fault in the case `id`; empty: it did, as it has to.
std::string Unnoticed(const Fault& fault, const Injection& injection, const SeenReport& report,
                      const std::string& id);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SELF_TEST_REPORT_H_
