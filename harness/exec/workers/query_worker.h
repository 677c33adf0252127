// A worker that is asked about its plugin: to describe itself, to report its facts for one subject, to
// validate parameters while the run is planned. It runs no case. What it answers is bounded.
#ifndef CUDNN_CI_EXEC_WORKERS_QUERY_WORKER_H_
#define CUDNN_CI_EXEC_WORKERS_QUERY_WORKER_H_

#include <deque>
#include <string>
#include <vector>

#include "exec/workers/asked_worker.h"
#include "model/plan/check_info.h"

namespace cudnn_ci {

class QueryWorker : public AskedWorker {
 public:
  enum class Task { kDescribe, kFacts };

  QueryWorker(std::vector<std::pair<Task, double>> tasks, WorkerLimits limits)
      : AskedWorker(limits), tasks_(tasks.begin(), tasks.end()) {}

  // Everything is asked at once, and the shutdown behind it.
  void Ask(const wire::Configure& configure, int64_t now_ns, Effects* out) override;

  bool idle() const override { return tasks_.empty(); }
  // What it answered; to be used of a task that is not `unfinished`, once the process has ended.
  PluginInfo& info() { return info_; }
  FactMap& facts() { return facts_; }
  bool unfinished(Task task) const;

 private:
  void OnMessage(const wire::FromWorker& message, int64_t now_ns, Effects* out) override;
  void CheckTask(int64_t now_ns, Effects* out) override;
  int64_t TaskDeadlineNs() const override;
  void OnEnded(const ExitStatus& status, bool out_of_memory, bool was_killed, int64_t now_ns,
               Effects* out) override;
  std::string Doing() const override;

  void Handle(const wire::PluginDescribed&, int64_t, Effects*);
  void Handle(const wire::CheckDescribed&, int64_t, Effects*);
  void Handle(const wire::FindingDescribed&, int64_t, Effects*);
  void Handle(const wire::DescribeEnd&, int64_t, Effects*);
  void Handle(const wire::Fact&, int64_t, Effects*);
  void Handle(const wire::FactsEnd&, int64_t, Effects*);

  // Whether this task is the one being answered, and one more answer is within bounds.
  bool Expects(Task task, int64_t now_ns, Effects* out);
  void FinishTask(int64_t now_ns);

  std::deque<std::pair<Task, double>> tasks_;  // with the time limit of each, in seconds; front: running
  int64_t task_since_ns_ = 0;
  size_t answers_ = 0, bytes_ = 0;  // of the running task
  PluginInfo info_;
  FactMap facts_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_QUERY_WORKER_H_
