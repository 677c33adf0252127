// One worker process as a state machine: what was assigned, what it said, when it must be ended, and what
// its end means. Pure: packets, output, exits and the time come in, effects go out; it never touches a
// process, so every row of the misbehaviour table is a unit test.
//
// The life of a worker: starting -> serving (cases queued, the first one running) -> stopping (shutdown sent)
// -> ended. Out of any of them: terminating (SIGTERM sent) -> killed (SIGKILL sent) -> ended or abandoned.
#ifndef CUDNN_CI_EXEC_WORKER_H_
#define CUDNN_CI_EXEC_WORKER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "exec/output_tail.h"
#include "exec/process.h"
#include "model/event.h"
#include "model/plan.h"
#include "wire/message.h"

namespace cudnn_ci {

struct WorkerLimits {
  double grace_s = 2;                 // between SIGTERM and SIGKILL
  double abandon_s = 10;              // after SIGKILL
  double exit_s = 10;                 // to exit after the last case or shutdown
  int64_t output_bytes = 64ll << 20;  // of one case
  bool timeouts = true;               // off under a debugger
};

// What a finished attempt brought. The runner decides what it counts for.
struct AttemptResult {
  size_t case_index = 0;
  int attempt = 1;
  AttemptMode mode = AttemptMode::kAlone;
  Outcome outcome;
  std::vector<Finding> findings;          // declared ones the check reported, and the harness's own
  std::vector<std::string> crashed_step;  // the step it ended in, if the check can skip it; at most one
  double seconds = 0;
  std::string first_expectation;  // "FILE:LINE: TEXT" of the first that did not hold
  std::string output, evidence;
  int signal = 0;  // that ended the process
  bool leaked = false, context_broken = false, slow = false;
  bool after_verdict = false;  // ended badly only after its verdict
};

// ---- effects ----
struct SendPacket {
  std::string packet;
};
struct SendSignal {
  int signal = 0;
};
struct EmitEvent {
  EventBody body;
};
struct AttemptEnded {
  AttemptResult result;
};
// Unfinished cases given back, none of them to blame.
struct GiveBack {
  std::vector<size_t> case_indices;
};
struct CanaryResult {
  bool ok = false;
  std::string detail;
};
// The process would not die: stop waiting for it.
struct Abandoned {
  std::string evidence;
};
using Effect =
    std::variant<SendPacket, SendSignal, EmitEvent, AttemptEnded, GiveBack, CanaryResult, Abandoned>;

struct Assignment {
  size_t case_index = 0;
  CaseRef ref;
  Layer layer = Layer::kOther;
  int attempt = 1;
  AttemptMode mode = AttemptMode::kAlone;
  double timeout_s = 60;
  wire::Run run;  // serial is set by the worker
};

class Worker {
 public:
  // `shared`: results are delivered as they come and the process serves on; otherwise it runs one case, whose
  // result is delivered when the process has ended. `declared` finds the findings of the worker's plugin.
  // `describe` looks at the process for evidence.
  Worker(int64_t id, bool shared, WorkerLimits limits,
         std::function<const FindingInfo*(const std::string&)> declared,
         std::function<std::string()> describe, int64_t now_ns);

  int64_t id() const { return id_; }
  bool shared() const { return shared_; }

  // Inputs. Each appends to *out.
  void Assign(Assignment assignment, int64_t now_ns, std::vector<Effect>* out);
  void RequestCanary(int64_t now_ns, std::vector<Effect>* out);
  void OnPacket(std::string_view packet, int64_t now_ns, std::vector<Effect>* out);
  void OnGarbage(const std::string& why, int64_t now_ns, std::vector<Effect>* out);
  void OnControlClosed(int64_t now_ns, std::vector<Effect>* out);
  void OnOutput(std::string_view bytes, int64_t now_ns, std::vector<Effect>* out);
  void OnTick(int64_t now_ns, std::vector<Effect>* out);
  // The process is gone and its output is drained. `out_of_memory`: the kernel killed for memory meanwhile.
  void OnExit(const ExitStatus& status, bool out_of_memory, int64_t now_ns, std::vector<Effect>* out);

  // Ends the process for a reason the harness has: out of memory, process limit, cancelled.
  void Terminate(ErrorKind kind, const std::string& detail, bool at_once, int64_t now_ns,
                 std::vector<Effect>* out);
  // No more cases will come: finish what is queued and exit.
  void Shutdown(int64_t now_ns, std::vector<Effect>* out);

  size_t queued() const { return queue_.size(); }
  // Whether another case may be assigned: it serves, and was not retired by what happened in it.
  bool accepting() const { return state_ == State::kServing && !retired_; }
  bool retired() const { return retired_; }
  bool idle() const { return queue_.empty() && !canary_since_ns_; }
  bool ending() const { return state_ != State::kServing; }
  // A crash, timeout, poison or broken context: the device needs a canary before it is trusted again.
  bool device_suspect() const { return device_suspect_; }
  const std::string& retire_reason() const { return retire_reason_; }
  // The case it runs now, if any.
  const Assignment* current() const { return queue_.empty() ? nullptr : &queue_.front(); }
  const Assignment* last_finished() const { return last_finished_ ? &*last_finished_ : nullptr; }
  int64_t current_since_ns() const { return current_since_ns_; }
  // When OnTick wants to be called next; INT64_MAX: never.
  int64_t NextDeadlineNs() const;
  int64_t cases_run() const { return cases_run_; }
  // A shared worker that had answered everything and yet did not end as it should.
  bool ended_badly() const { return ended_badly_; }

 private:
  enum class State { kServing, kStopping, kTerminating, kKilled, kEnded };

  void Handle(const wire::Hello&, int64_t, std::vector<Effect>*);
  void Handle(const wire::PluginFailed&, int64_t, std::vector<Effect>*);
  void Handle(const wire::CanaryDone&, int64_t, std::vector<Effect>*);
  void Handle(const wire::CaseStarted&, int64_t, std::vector<Effect>*);
  void Handle(const wire::Step&, int64_t, std::vector<Effect>*);
  void Handle(const wire::Expectation&, int64_t, std::vector<Effect>*);
  void Handle(const wire::FindingSaid&, int64_t, std::vector<Effect>*);
  void Handle(const wire::Measurement&, int64_t, std::vector<Effect>*);
  void Handle(const wire::Attachment&, int64_t, std::vector<Effect>*);
  void Handle(const wire::Log&, int64_t, std::vector<Effect>*);
  void Handle(const wire::Poisoned&, int64_t, std::vector<Effect>*);
  void Handle(const wire::Uncaught&, int64_t, std::vector<Effect>*);
  void Handle(const wire::CaseFinished&, int64_t, std::vector<Effect>*);
  template <class M>
  void Unexpected(const M&, int64_t now_ns, std::vector<Effect>* out);

  bool IsCurrent(int64_t serial, int64_t now_ns, std::vector<Effect>* out);
  void Say(Finding finding, std::vector<Effect>* out);
  void StartCurrent(int64_t now_ns);
  void Announce(std::vector<Effect>* out);
  AttemptResult TakeResult(Outcome outcome, int64_t now_ns, std::vector<Effect>* out);
  void GiveBackRest(std::vector<Effect>* out);
  void Retire(const std::string& why);
  void Kill(int64_t now_ns, std::vector<Effect>* out);
  void CheckDeadlines(int64_t now_ns, std::vector<Effect>* out);
  Outcome OutcomeOfExit(const ExitStatus& status, bool out_of_memory) const;
  std::string Where() const;

  const int64_t id_;
  const bool shared_;
  const WorkerLimits limits_;
  const std::function<const FindingInfo*(const std::string&)> declared_;
  const std::function<std::string()> describe_;

  State state_ = State::kServing;
  int64_t state_since_ns_ = 0;
  bool retired_ = false, device_suspect_ = false, control_closed_ = false;
  bool shutdown_sent_ = false, ended_badly_ = false;
  std::string retire_reason_;
  std::optional<Errored> doom_;  // why the harness ended it
  std::string plugin_failure_;
  int64_t next_serial_ = 1, cases_run_ = 0;
  int64_t control_closed_ns_ = 0;
  std::optional<int64_t> canary_since_ns_;

  std::deque<Assignment> queue_;  // front: running
  std::optional<Assignment> last_finished_;
  std::optional<AttemptResult> verdict_;  // of an unshared worker, until it ends

  // About the running case.
  int64_t current_since_ns_ = 0;
  bool started_ = false, failed_ = false, slow_said_ = false;
  std::string step_;
  bool step_skippable_ = false;
  std::vector<Finding> findings_;
  std::string first_expectation_;
  OutputTail output_;
  std::string evidence_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKER_H_
