#include "exec/workers/query_worker.h"

#include <algorithm>

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostAnswers = 4096;     // checks, findings or facts of one plugin
constexpr size_t kMostBytes = 16u << 20;  // of all packets of one task
constexpr size_t kFactBytes = 4000, kKeyBytes = 100;

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

}  // namespace

void QueryWorker::Ask(const wire::Configure& configure, int64_t now_ns, Effects* out) {
  Send(configure, out);
  for (const auto& [task, limit_s] : tasks_) {
    if (task == Task::kDescribe)
      Send(wire::Describe{}, out);
    else
      Send(wire::CollectFacts{}, out);
  }
  Send(wire::Shutdown{}, out);
  shutdown_sent_ = true;
  task_since_ns_ = now_ns;
}

bool QueryWorker::unfinished(Task task) const {
  return std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& t) { return t.first == task; });
}

void QueryWorker::OnMessage(const wire::FromWorker& message, int64_t now_ns, Effects* out) {
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { this->Handle(m, now_ns, out); })
          Handle(m, now_ns, out);
        else
          OnGarbage("the worker sent a message that belongs to a case", now_ns, out);
      },
      message);
}

bool QueryWorker::Expects(Task task, int64_t now_ns, Effects* out) {
  // Too late: it was terminated, has crashed, or said itself that it is none. What follows means nothing.
  if (termination_ || crash_reported() || !plugin_failure_.empty()) return false;
  if (tasks_.empty() || tasks_.front().first != task) {
    OnGarbage("an answer to a question that was not asked", now_ns, out);
    return false;
  }
  bytes_ += packet_bytes_;
  if (++answers_ <= kMostAnswers && bytes_ <= kMostBytes) return true;
  OnGarbage("more than " + std::to_string(kMostAnswers) + " answers or " + std::to_string(kMostBytes >> 20) +
                " MiB of them",
            now_ns, out);
  return false;
}

void QueryWorker::FinishTask(int64_t now_ns) {
  tasks_.pop_front();
  task_since_ns_ = now_ns;
  answers_ = bytes_ = 0;
  // The time to exit begins after the last answer.
  if (tasks_.empty()) Enter(state_ == State::kServing ? State::kStopping : state_, now_ns);
}

void QueryWorker::Handle(const wire::PluginDescribed& m, int64_t now_ns, Effects* out) {
  if (Expects(Task::kDescribe, now_ns, out)) info_ = m.info;
}
void QueryWorker::Handle(const wire::CheckDescribed& m, int64_t now_ns, Effects* out) {
  if (Expects(Task::kDescribe, now_ns, out)) info_.checks.push_back(m.check);
}
void QueryWorker::Handle(const wire::FindingDescribed& m, int64_t now_ns, Effects* out) {
  if (Expects(Task::kDescribe, now_ns, out)) info_.findings.push_back(m.finding);
}
void QueryWorker::Handle(const wire::DescribeEnd&, int64_t now_ns, Effects* out) {
  if (Expects(Task::kDescribe, now_ns, out)) FinishTask(now_ns);
}
void QueryWorker::Handle(const wire::Fact& m, int64_t now_ns, Effects* out) {
  if (Expects(Task::kFacts, now_ns, out))
    facts_[SingleLine(m.key, kKeyBytes)] = SingleLine(m.value, kFactBytes);
}
void QueryWorker::Handle(const wire::FactsEnd& m, int64_t now_ns, Effects* out) {
  if (!Expects(Task::kFacts, now_ns, out)) return;
  if (m.failure.empty()) return FinishTask(now_ns);
  // An exception left the plugin's function: what it reported before is not the whole.
  plugin_failure_ = m.failure;
}

std::string QueryWorker::Doing() const {
  if (tasks_.empty()) return "after its last answer";
  return tasks_.front().first == Task::kDescribe ? "while it was loaded and described"
                                                 : "while it collected facts";
}

void QueryWorker::CheckTask(int64_t now_ns, Effects* out) {
  if (tasks_.empty() || now_ns < TaskDeadlineNs()) return;
  Terminate(ErrorKind::kTimedOut,
            "hung " + Doing() + ": killed after " + FixedSeconds(tasks_.front().second) + " s", true, now_ns,
            out);
}

int64_t QueryWorker::TaskDeadlineNs() const {
  return tasks_.empty() ? INT64_MAX : task_since_ns_ + Ns(tasks_.front().second);
}

void QueryWorker::OnEnded(const ExitStatus& status, bool out_of_memory, bool, int64_t, Effects*) {
  const bool clean = !status.signaled && status.code == 0;
  if (termination_ || !plugin_failure_.empty()) {
    Fail(ErrorOfExit(status, out_of_memory, ""));
  } else if (!tasks_.empty() || !clean) {
    Errored error = ErrorOfExit(status, out_of_memory, " " + Doing());
    if (clean && unfinished(Task::kDescribe)) error.detail += ": a static initialiser called exit";
    Fail(std::move(error));
  }
}

}  // namespace cudnn_ci
