#include "exec/workers/batch.h"

#include <utility>

namespace cudnn_ci {
namespace {

constexpr int kProcessesAtOnce = 8;

}  // namespace

void Batch::Run(size_t count, const std::function<std::optional<BatchJob>(size_t)>& job) {
  size_t next = 0;
  while (true) {
    while (*interrupted_ == 0 && next < count && pool_.live() < kProcessesAtOnce)
      if (std::optional<BatchJob> due = job(next++)) Start(std::move(*due));
    if (pool_.live() == 0 && (*interrupted_ != 0 || next == count)) break;
    pool_.Turn(INT64_MAX);
  }
  pool_.Sweep();
}

void Batch::Start(BatchJob job) {
  AskedWorker* worker = job.worker.get();
  if (const Result<Worker*> started = pool_.Start(job.command, std::move(job.worker)); !started.ok())
    return job.no_start(started.error());
  ended_[worker->id()] = std::move(job.ended);
  job.configure.scratch_dir = pool_.Scratch(*worker).path();
  pool_.Do(worker, [&](int64_t now, Effects* out) { worker->Ask(job.configure, now, out); });
}

void Batch::OnEffect(Worker* worker, Effect effect) {
  if (std::holds_alternative<Abandoned>(effect)) ended_.at(worker->id())();
}

void Batch::OnEnded(Worker* worker, const ExitStatus&) { ended_.at(worker->id())(); }

void Batch::OnSignal(int signal) {
  if (*interrupted_ == 0) *interrupted_ = signal;
  for (Worker* worker : pool_.workers())
    pool_.Do(worker, [&](int64_t now, Effects* out) {
      worker->Terminate(CancelledBy(Cancellation::kInterrupted), true, now, out);
    });
}

}  // namespace cudnn_ci
