// A worker that answers questions about its plugin, in place of running cases. What all of these share: how
// they begin, and why an answer is refused.
#ifndef CUDNN_CI_EXEC_WORKERS_ASKED_WORKER_H_
#define CUDNN_CI_EXEC_WORKERS_ASKED_WORKER_H_

#include <optional>
#include <string>

#include "exec/workers/worker.h"

namespace cudnn_ci {

class AskedWorker : public Worker {
 public:
  using Worker::Worker;

  // Sends the configuration and the first questions. Once.
  virtual void Ask(const wire::Configure& configure, int64_t now_ns, Effects* out) = 0;

  // Once the process has ended: why it is not to be believed or did not finish; null when all went well.
  const Errored* error() const { return error_ ? &*error_ : nullptr; }
  // What the process of such a one printed, cleaned, on one line; the error's detail ends with it.
  const std::string& printed() const { return printed_; }

 protected:
  // "while it collected facts": what it is at, for whoever reads why it failed.
  virtual std::string Doing() const = 0;
  // With what the process printed.
  void Fail(Errored error);
  void OnAbandoned(int64_t now_ns, Effects* out) final;

 private:
  std::optional<Errored> error_;
  std::string printed_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_ASKED_WORKER_H_
