// Lets plugins validate parameters while the run is planned: one process for each plugin, which sees no
// device.
#ifndef CUDNN_CI_EXEC_PLUGINS_VALIDATE_H_
#define CUDNN_CI_EXEC_PLUGINS_VALIDATE_H_

#include <string>
#include <vector>

#include "exec/system/process.h"
#include "exec/workers/asked_worker.h"
#include "model/plan/check_info.h"
#include "model/plan/plan.h"

namespace cudnn_ci {

// A worker whose plugin validates the parameters of cases, one after the other.
class ValidateWorker : public AskedWorker {
 public:
  // `cases` must outlive it. `load_s`: seconds until the first answer; `hook_s`: until each further one.
  ValidateWorker(std::vector<const CasePlanned*> cases, double load_s, double hook_s, WorkerLimits limits);

  // The first questions; the others follow the answers, the shutdown follows the last.
  void Ask(const wire::Configure& configure, int64_t now_ns, Effects* out) override;

  bool idle() const override { return answered_ == cases_.size(); }
  // By place in `cases`. To be used once the process has ended, and only without an error.
  std::vector<std::vector<InvalidParam>>& invalid() { return invalid_; }

 private:
  void OnMessage(const wire::FromWorker& message, int64_t now_ns, Effects* out) override;
  void CheckTask(int64_t now_ns, Effects* out) override;
  int64_t TaskDeadlineNs() const override;
  void OnEnded(const ExitStatus& status, bool out_of_memory, bool was_killed, int64_t now_ns,
               Effects* out) override;
  std::string Doing() const override;

  void SendAhead(int64_t now_ns, Effects* out);

  const std::vector<const CasePlanned*> cases_;
  const int64_t load_ns_, hook_ns_;
  size_t sent_ = 0, answered_ = 0, problems_ = 0;
  int64_t since_ns_ = 0;  // the question being answered was asked, or the one before it answered
  std::vector<std::vector<InvalidParam>> invalid_;
};

struct ValidateOptions {
  std::string worker_path;
  std::string scratch_dir;
  double load_timeout_s = 10;
  double hook_timeout_s = 10;
  WorkerLimits limits;
};

// Asks the plugins of the catalog about the cases that are theirs. `signal_fd` as for Discover; when SIGINT
// or SIGTERM comes, `*interrupted` becomes the signal and the answers are not complete.
Validation ValidateParameters(const ValidateOptions& options, const Catalog& catalog,
                              const std::vector<const CasePlanned*>& cases, ProcessControl* control,
                              int signal_fd, int* interrupted);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_PLUGINS_VALIDATE_H_
