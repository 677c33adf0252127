// What a finished run says, without how it was recorded: from its fold, which is that of its journal, of its
// report.json or of the run itself. What compares runs, or shows many of them, reads this.
#ifndef CUDNN_CI_REVIEW_RUN_VIEW_H_
#define CUDNN_CI_REVIEW_RUN_VIEW_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/plan/speed.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {

// How a case stands. A pass with an error (a context left broken) failed.
enum class Standing { kPassed, kFailed, kWaived, kSkipped, kBlocked, kNotRun };
const char* Name(Standing standing);  // "passed", "failed", "waived", "skipped", "blocked", "not run"

struct CaseView {
  Standing standing = Standing::kNotRun;
  bool required = true;
  bool skip_not_allowed = false;  // skipped, and its entry does not allow it: that closes the gate
  std::vector<std::string>
      errors;          // of a case that failed or errored: "image.crashed", as a waiver names them
  std::string reason;  // one line; empty for a clean pass
  Speeds speed;        // measurements of time and of work per time
};

struct RunView {
  std::string source;  // the file, for messages
  std::string verdict, blame;
  int exit_code = 6;
  bool complete = false, report_only = false;
  bool planned = false;        // the whole plan is recorded, so that `cases` lacks none
  std::string partial;         // empty: whole
  std::string headline_cause;  // "image.wrong-value: 3 elements differ"; empty: none
  CaseRef root_case;           // empty: about the run, or none
  std::string image, matrix, matrix_path, matrix_sha256, version, timestamp;
  std::string driver;             // empty: none was found
  std::vector<std::string> gpus;  // models
  int64_t workers_per_gpu = 1;    // processes that used one at a time; above 1 no time is a case's own
  // What was tested, in order, as (label, value): "toolkit", "cuDNN of system", "cuDNN of system from".
  std::vector<std::pair<std::string, std::string>> libraries;
  // Errors about the run as a whole, by name ("runner.worker-not-started"), with their first detail.
  std::map<std::string, std::string> run_errors;
  // Worth knowing, each kind once: names of findings of severity warning, what discovery and planning warned
  // of.
  std::set<std::string> warnings;
  std::map<CaseRef, CaseView> cases;
};

RunView ViewOf(const Summary& summary);
// With a verdict that was made already.
RunView ViewOf(const Summary& summary, const Verdict& verdict);

// Of a journal or report.json, told apart by their heads. Errors name the file and what is wrong; a report of
// another format than this program's is one.
Result<RunView> ReadRun(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REVIEW_RUN_VIEW_H_
