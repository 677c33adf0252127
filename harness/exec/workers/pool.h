// The one poll loop: every process that cudnn-ci starts to do something (describe a plugin, collect facts,
// run cases, test a device) lives in a pool. It starts them, moves packets and output, keeps deadlines,
// kills, gives up on what the kernel will not kill, sweeps what they leave, and watches memory and numbers of
// processes. It knows no case and no verdict: what a process means is its Worker's and the client's business.
// Its deadlines follow a clock that stands still while cudnn-ci itself cannot run.
#ifndef CUDNN_CI_EXEC_WORKERS_POOL_H_
#define CUDNN_CI_EXEC_WORKERS_POOL_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/running_clock.h"
#include "exec/system/memory_watch.h"
#include "exec/system/process.h"
#include "exec/system/scratch_folder.h"
#include "exec/workers/worker.h"
#include "exec/workers/worker_process.h"

namespace cudnn_ci {

// Who uses the pool. Called from within Turn, Start and Do; may call Start and Do in turn.
class PoolClient {
 public:
  virtual ~PoolClient() = default;
  // An effect that is not the pool's own business, or Abandoned (after which the worker is gone for the
  // client; its process may live on).
  virtual void OnEffect(Worker* worker, Effect effect) = 0;
  // The process has ended and everything it had sent was handled. The worker is deleted after this.
  virtual void OnEnded(Worker* worker, const ExitStatus& status) = 0;
  // SIGINT or SIGTERM; the second one has already killed all processes.
  virtual void OnSignal(int signal) = 0;
  // This process could not run for so long (base/running_clock); no case is charged for it.
  virtual void OnPaused(double seconds) = 0;
};

// The next SIGINT or SIGTERM of a non-blocking signalfd; 0: none has come. A SIGCHLD is dropped: it only
// wakes.
int TakeSignal(int signal_fd);

class Pool {
 public:
  // `signal_fd`: a signalfd of SIGCHLD, SIGINT, SIGTERM, non-blocking. `scratch_dir`: private and existing;
  // each process gets its own folder in it. `max_descendants`: of one process.
  Pool(ProcessControl* control, int signal_fd, std::string scratch_dir, PoolClient* client,
       int max_descendants = 256);
  // Kills whoever is left, without waiting.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Starts a process for `worker`, which it owns from here on; its id counts from 1. An error says why no
  // process, descriptor or folder was to be had.
  Result<Worker*> Start(const WorkerCommand& command, std::unique_ptr<Worker> worker);
  // The folder in which the worker's process may put files.
  ScratchFolder& Scratch(const Worker& worker) { return members_.at(worker.id())->scratch; }
  int64_t Pid(const Worker& worker) const { return members_.at(worker.id())->process.pid(); }

  // Lets `act` give inputs to a worker, and carries out the effects.
  void Do(Worker* worker, const std::function<void(int64_t now_ns, Effects* out)>& act);
  // Waits for something to happen, at most until `wake_ns` of the monotonic clock, and handles it.
  void Turn(int64_t wake_ns);
  // Processes that are waited for: not those given up.
  int live() const;
  std::vector<Worker*> workers() const;
  // Ends the strays of what was killed last; within a tenth of a second.
  void Sweep();
  // Bytes of memory that can still be used.
  int64_t MemoryRoom() const { return memory_.Room(); }

 private:
  struct Member {
    std::unique_ptr<Worker> worker;
    WorkerProcess process;
    ScratchFolder scratch;
    bool exited = false, abandoned = false, out_of_memory = false;
    int64_t drain_until_ns = 0, next_count_ns = 0;
  };

  void Wait(int64_t wake_ns);
  void ReportPause();
  void HandleSignals();
  void Service(Member* member, int64_t now);
  void FinishExited(int64_t now);
  void CountDescendantsOf(Member* member, int64_t now);
  void WatchMemory(int64_t now);
  void SweepStrays(int64_t now);
  void Apply(Member* member, Effects* effects);
  Result<ScratchFolder> MakeScratch(int64_t id);
  std::vector<Member*> Members();

  ProcessControl* const control_;
  const int signal_fd_;
  const std::string scratch_dir_;
  PoolClient* const client_;
  const int max_descendants_;
  RunningClock clock_;
  int64_t reported_pause_ns_ = 0;
  MemoryWatch memory_;
  std::map<int64_t, std::unique_ptr<Member>> members_;
  std::vector<ScratchFolder> unused_;  // to make and remove one for each process costs more than the process
  int64_t next_id_ = 1, next_memory_ns_ = 0, sweep_until_ns_ = 0, oom_kills_ = 0;
  bool signalled_ = false;
  int64_t awake_until_ns_ = 0;
  bool signal_came_ = true;  // since the last turn
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_POOL_H_
