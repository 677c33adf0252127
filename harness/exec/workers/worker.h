// The life of one worker process as a state machine, whatever it is asked to do: serving -> stopping
// (shutdown sent) -> ended. Out of either: terminating (SIGTERM sent) -> killed (SIGKILL sent) -> ended or
// abandoned. Pure: packets, output, the exit and the time come in, effects go out; it never touches a
// process, so every row of the misbehaviour table is a unit test.
//
// A *termination reason* is a reason of the harness's own for ending a process: a deadline, a broken
// protocol, a bound exceeded. The first one stands, and no exit status afterwards takes it back.
#ifndef CUDNN_CI_EXEC_WORKERS_WORKER_H_
#define CUDNN_CI_EXEC_WORKERS_WORKER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "exec/system/output_tail.h"
#include "exec/system/process.h"
#include "exec/workers/effects.h"
#include "model/record/crash.h"
#include "wire/message.h"

namespace cudnn_ci {

struct WorkerLimits {
  double grace_s = 2;                 // between SIGTERM and SIGKILL
  double abandon_s = 10;              // after SIGKILL
  double exit_s = 10;                 // to exit after the last task or shutdown
  int64_t output_bytes = 64ll << 20;  // of one task
  bool timeouts = true;               // off under a debugger
};

class Worker {
 public:
  explicit Worker(WorkerLimits limits) : limits_(limits) {}
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // The process exists. `describe` looks at it for evidence.
  void OnStarted(int64_t id, std::function<std::string()> describe, int64_t now_ns);

  // How a crash that the process tells of gets its symbols and its site; without it, it has none.
  void ExplainCrashesBy(std::function<CrashSite(Crash*)> explain) { explain_ = std::move(explain); }

  // Inputs. Each appends to *out. All times are of the monotonic clock.
  void OnPacket(std::string_view packet, int64_t now_ns, Effects* out);
  void OnGarbage(const std::string& why, int64_t now_ns, Effects* out);
  void OnControlClosed(int64_t now_ns);
  void OnOutput(std::string_view bytes, int64_t now_ns, Effects* out);
  void OnTick(int64_t now_ns, Effects* out);
  // The process is gone and its output is drained. `out_of_memory`: the kernel killed for memory meanwhile.
  void OnExit(const ExitStatus& status, bool out_of_memory, int64_t now_ns, Effects* out);

  // Ends the process for a reason the harness has, by SIGTERM or (`at_once`) SIGKILL. The first reason
  // stands; of a process already killed only what it did itself is still held against it.
  void Terminate(Errored reason, bool at_once, int64_t now_ns, Effects* out);
  void Terminate(ErrorKind kind, const std::string& detail, bool at_once, int64_t now_ns, Effects* out) {
    Terminate({kind, detail}, at_once, now_ns, out);
  }
  // No more tasks will come: finish what was sent and exit.
  virtual void Shutdown(int64_t now_ns, Effects* out);

  int64_t id() const { return id_; }
  // Nothing is asked of it now.
  virtual bool idle() const = 0;
  // Nothing was asked of it but what saves time, and it may be in the middle of that.
  virtual bool only_prepares() const { return false; }
  bool ending() const { return state_ != State::kServing; }
  // It has been sent all that it will be.
  bool shutdown_sent() const { return shutdown_sent_; }
  // It said hello: its process reached its own main function.
  bool greeted() const { return greeted_; }
  bool retired() const { return !retire_reason_.empty(); }
  const std::string& retire_reason() const { return retire_reason_; }
  // What the harness holds against the process; null: nothing. A cancelled run or a lost device is no fault.
  const Errored* termination() const { return termination_ ? &*termination_ : nullptr; }
  bool terminated() const;
  // When OnTick wants to be called next; INT64_MAX: never.
  int64_t NextDeadlineNs() const;

 protected:
  enum class State { kServing, kStopping, kTerminating, kKilled, kEnded };

  // What the tasks add to the life of the process.
  virtual void OnMessage(const wire::FromWorker& message, int64_t now_ns, Effects* out) = 0;
  virtual void CheckTask(int64_t now_ns, Effects* out) = 0;  // the task's own deadlines
  virtual int64_t TaskDeadlineNs() const = 0;
  // The process has ended; `was_killed`: by our SIGKILL.
  virtual void OnEnded(const ExitStatus& status, bool out_of_memory, bool was_killed, int64_t now_ns,
                       Effects* out) = 0;
  // The process survived SIGKILL and is waited for no longer.
  virtual void OnAbandoned(int64_t now_ns, Effects* out) = 0;

  // Why a process that had not finished its task ended, by the termination or else by its exit.
  Errored ErrorOfExit(const ExitStatus& status, bool out_of_memory, const std::string& when) const;
  void TakeHang(const ExitStatus& status);
  // What ErrorOfExit says of a crash besides its signal: "; in /opt/lib/libfoo.so, foo_bar+0x1f".
  std::string CrashPlace() const;
  std::string SurvivedSigkill() const;
  // It has told of a crash that it is about to die of: no answer after that is taken.
  bool crash_reported() const { return crash_.has_value(); }
  void Send(const wire::ToWorker& message, Effects* out);
  void Retire(const std::string& why);
  void Kill(int64_t now_ns, Effects* out);
  void Enter(State state, int64_t now_ns);

  const WorkerLimits limits_;
  State state_ = State::kServing;
  int64_t state_since_ns_ = 0;
  bool shutdown_sent_ = false;
  size_t packet_bytes_ = 0;  // of the message being handled
  std::optional<Errored> termination_;
  bool greeted_ = false;
  std::string plugin_failure_;  // the worker's own words on why the plugin is none
  OutputTail output_;           // of the running task
  std::string evidence_;        // of the running task

 private:
  int64_t id_ = 0;
  std::function<std::string()> describe_;
  std::function<CrashSite(Crash*)> explain_;
  std::optional<Crash> crash_;  // as the process told it; of the signal it died of, once it has ended
  CrashSite crash_site_ = CrashSite::kUnknown;
  std::string retire_reason_;
  bool control_closed_ = false;
  int64_t control_closed_ns_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_WORKER_H_
