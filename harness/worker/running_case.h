// What stands behind the ABI's opaque cci_case, and the functions a plugin calls with it.
#ifndef CUDNN_CI_WORKER_RUNNING_CASE_H_
#define CUDNN_CI_WORKER_RUNNING_CASE_H_

#include <cudnn_ci/plugin.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wire/message.h"
#include "worker/child.h"
#include "worker/known_entries.h"

namespace cudnn_ci::worker {

// Which of the plugin's functions is running: each may call some of the host's and not others.
enum class Phase { kRun, kFacts, kValidate, kPrepare };

// The table handed to plugins. Its functions never throw: what goes wrong inside fails the case, the facts or
// the validation, in words. They may be called from any thread.
const cci_host* HostFunctions();

}  // namespace cudnn_ci::worker

// What the plugin may read is constant while it runs; what its threads write goes through `mutex`.
struct cci_case {
  cudnn_ci::worker::Phase phase = cudnn_ci::worker::Phase::kRun;
  int control_fd = -1;
  const cudnn_ci::wire::Configure* configuration = nullptr;
  const cudnn_ci::worker::KnownEntries* known = nullptr;
  // Of a validation: serial, check and parameters only; of a preparation: check, parameters and seed.
  cudnn_ci::wire::Run run;
  int64_t deadline_ns = 0;

  std::mutex mutex;
  std::map<std::string, std::vector<const char*>> string_tables;  // for get_string_list
  std::vector<const char*> folder_table;                          // for subject_folders
  std::set<std::string> asked_steps;                              // should_skip_step was called for them
  int64_t evaluated = 0;
  bool poisoned = false;
  std::optional<cudnn_ci::Skipped> skip;
  int attachments = 0;
  cudnn_ci::worker::ChildOutcome child;                // what run_child last returned
  std::vector<cudnn_ci::wire::ParamProblem> problems;  // of a validation
  std::string failure;                                 // outside `run`: the first thing that went wrong

  // Something went wrong that the plugin does not report itself: an exception, a call out of place. In `run`
  // it is sent at once and fails the case; else it is kept in `failure`.
  void Fail(const std::string& why);
};

#endif  // CUDNN_CI_WORKER_RUNNING_CASE_H_
