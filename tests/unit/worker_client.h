// The harness's side of a worker, for tests of the worker alone: starts the real cudnn-ci-worker on a plugin,
// sends it messages and reads what it answers.
#ifndef CUDNN_CI_TESTS_UNIT_WORKER_CLIENT_H_
#define CUDNN_CI_TESTS_UNIT_WORKER_CLIENT_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "wire/message.h"

namespace cudnn_ci {

class WorkerClient {
 public:
  // `env`: NAME=VALUE laid over this process's environment. stdout and stderr go where the test's go.
  explicit WorkerClient(const std::string& plugin, const std::vector<std::string>& env = {});
  ~WorkerClient();
  WorkerClient(const WorkerClient&) = delete;
  WorkerClient& operator=(const WorkerClient&) = delete;

  void Send(const wire::ToWorker& message);
  // The next message; none when the worker has closed its end or 20 s have passed.
  std::optional<wire::FromWorker> Receive();
  // The next message of type M, what comes before it is dropped.
  template <class M>
  std::optional<M> Await() {
    while (std::optional<wire::FromWorker> message = Receive())
      if (const M* m = std::get_if<M>(&*message)) return *m;
    return std::nullopt;
  }
  // How the process ended, as of waitpid(2); none when it still runs after so many seconds.
  std::optional<int> Wait(double seconds);
  // What the plugin says of its checks.
  std::vector<CheckInfo> DescribeChecks();
  // Runs one case; its messages up to and with CaseFinished.
  std::vector<wire::FromWorker> RunCase(const std::string& check, const Params& params = {});

 private:
  Fd control_;
  pid_t pid_ = -1;
};

// The first message of type M among them; null if there is none.
template <class M>
const M* FirstOf(const std::vector<wire::FromWorker>& messages) {
  for (const wire::FromWorker& message : messages)
    if (const M* m = std::get_if<M>(&message)) return m;
  return nullptr;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_WORKER_CLIENT_H_
