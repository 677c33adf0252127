// Runs a list of questions to plugins, a process each and some at a time: the pool's client for all that is
// done before there is a plan.
#ifndef CUDNN_CI_EXEC_WORKERS_BATCH_H_
#define CUDNN_CI_EXEC_WORKERS_BATCH_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/workers/asked_worker.h"
#include "exec/workers/pool.h"

namespace cudnn_ci {

// One process: how it is started and what becomes of it. Exactly one of the functions is called, once.
struct BatchJob {
  WorkerCommand command;
  std::unique_ptr<AskedWorker> worker;
  wire::Configure configure;                         // the batch adds the scratch folder
  std::function<void()> ended;                       // or was given up; the worker is still there
  std::function<void(const std::string&)> no_start;  // why no process was to be had
};

class Batch : private PoolClient {
 public:
  // `signal_fd`: a non-blocking signalfd of SIGCHLD, SIGINT and SIGTERM. When SIGINT or SIGTERM comes,
  // `*interrupted` becomes the signal, all processes are ended and no more started.
  Batch(ProcessControl* control, int signal_fd, const std::string& scratch_dir, int* interrupted)
      : interrupted_(interrupted), pool_(control, signal_fd, scratch_dir, this) {}

  // `job` makes those of numbers 0 to count - 1, each when its turn comes; nullopt: nothing is to be started.
  void Run(size_t count, const std::function<std::optional<BatchJob>(size_t)>& job);

 private:
  void Start(BatchJob job);
  void OnEffect(Worker* worker, Effect effect) override;
  void OnEnded(Worker* worker, const ExitStatus& status) override;
  void OnSignal(int signal) override;
  void OnPaused(double) override {}  // there is no record yet to say it in

  int* const interrupted_;
  std::map<int64_t, std::function<void()>> ended_;  // by worker id
  Pool pool_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_BATCH_H_
