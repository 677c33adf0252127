#include "exec/runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/time.h"
#include "exec/proc.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kDrainNs = 150'000'000;  // for output that a grandchild still holds
constexpr int64_t kSweepNs = 5'000'000'000;
constexpr int64_t kWatchNs = 100'000'000;    // how often a running case's descendants are counted
constexpr int64_t kMaxPollNs = 500'000'000;  // reporters are ticked at least that often
// A warm worker may grow by what its first cases needed, not without end.
constexpr int64_t kGrowthBytes = int64_t{2} << 30;
constexpr int64_t kWarmCases = 8;
constexpr int kPacketsAtOnce = 64;
constexpr int kPacketsLeft = 4096;  // more than a socket's buffer can hold
constexpr size_t kOutputAtOnce = 4 << 20;

}  // namespace

Runner::Runner(const Plan& plan, const Catalog& catalog, RunnerOptions options, RunnerCallbacks callbacks,
               ProcessControl* control)
    : plan_(plan),
      catalog_(catalog),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      control_(control),
      scheduler_(plan, options_.isolation),
      rules_(options_.retries, options_.isolation == Isolation::kShared) {}

Runner::~Runner() {
  // Only after an early return: whoever is left must not outlive the run.
  for (auto& [id, slot] : slots_)
    if (!slot->exited && !slot->abandoned) control_->Signal(slot->process.pid(), SIGKILL);
}

int Runner::Run(int signal_fd) {
  start_ns_ = MonotonicNs();
  oom_kills_ = memory_.OomKills();
  for (const Scheduler::Settled& s : scheduler_.SettlePlanned()) {
    const Case& c = plan_.cases[s.case_index];
    for (const Finding& f : c.findings) Emit(FindingReported{c.planned.ref, f});
    Emit(CaseFinished{c.planned.ref, s.outcome, 0, {}});
  }
  StartEarly();
  Loop(signal_fd);
  // Strays of workers that were killed last.
  for (int i = 0; i < 100 && control_->SweepStrays({}); ++i) usleep(1000);
  return signal_;
}

bool Runner::Finished() const {
  for (const auto& [id, slot] : slots_)
    if (!slot->abandoned) return false;
  return cancelled_ || stop_dispatch_ || scheduler_.open() == 0;
}

void Runner::Loop(int signal_fd) {
  while (true) {
    if (!cancelled_) Dispatch();
    if (Finished()) return;
    // Nothing runs and nothing can start: what is left would wait for ever. It ends as not run, which is red.
    if (slots_.empty() && scheduler_.ReadyLanes().empty() && held_results_.empty()) return;
    Poll(signal_fd);
    HandleSignals(signal_fd);
    const int64_t now = MonotonicNs();
    // A slot may start others (a canary) while it is served: walk over ids, not over the map.
    std::vector<int64_t> ids;
    for (const auto& [id, slot] : slots_) ids.push_back(id);
    for (const int64_t id : ids) Service(slots_[id].get(), now);
    FinishExited(MonotonicNs());
    WatchMemory(now);
    if (sweep_until_ns_ > now) {
      std::set<pid_t> keep;
      for (const auto& [id, slot] : slots_) keep.insert(slot->process.pid());
      if (!control_->SweepStrays(keep)) sweep_until_ns_ = 0;
    }
    if (options_.time_limit_s > 0 && !cancelled_ &&
        static_cast<double>(now - start_ns_) / 1e9 >= options_.time_limit_s)
      Cancel(CancelReason::kTimeLimit, 0);
    callbacks_.tick();
  }
}

void Runner::Poll(int signal_fd) {
  std::vector<pollfd> fds = {{signal_fd, POLLIN, 0}};
  const int64_t now = MonotonicNs();
  int64_t wake = now + kMaxPollNs;
  for (const auto& [id, slot] : slots_) {
    slot->process.AddTo(&fds);
    wake = std::min(wake, slot->worker->NextDeadlineNs());
    if (slot->exited) wake = std::min(wake, slot->drain_until_ns);
    if (!slot->worker->idle()) wake = std::min(wake, std::max(now, slot->next_watch_ns));
  }
  if (next_memory_ns_ > 0 && !slots_.empty()) wake = std::min(wake, next_memory_ns_);
  if (options_.time_limit_s > 0)
    wake = std::min(wake, start_ns_ + static_cast<int64_t>(options_.time_limit_s * 1e9));
  if (sweep_until_ns_ > now) wake = std::min(wake, now + 1'000'000);
  const int64_t wait = std::max<int64_t>(0, wake - now);
  const timespec timeout{wait / 1'000'000'000, wait % 1'000'000'000};
  ppoll(fds.data(), fds.size(), &timeout, nullptr);
}

void Runner::HandleSignals(int signal_fd) {
  signalfd_siginfo info{};
  while (read(signal_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (signal_ != 0) {  // the second one: at once
      for (auto& [id, slot] : slots_) {
        std::vector<Effect> effects;
        slot->worker->Terminate(ErrorKind::kCancelled, "interrupted twice", true, MonotonicNs(), &effects);
        Apply(slot.get(), &effects, MonotonicNs());
      }
      continue;
    }
    signal_ = signal;
    Cancel(CancelReason::kSignal, signal);
  }
}

void Runner::Cancel(CancelReason reason, int signal) {
  if (cancelled_) return;
  cancelled_ = true;
  const RunCancelled cancelled{reason, signal};
  Emit(cancelled);
  const int64_t now = MonotonicNs();
  for (auto& [id, slot] : slots_) {
    slot->reserved.reset();
    std::vector<Effect> effects;
    if (slot->worker->idle() && !slot->worker->ending())
      slot->worker->Shutdown(now, &effects);
    else
      slot->worker->Terminate(ErrorKind::kCancelled, "the run was ended by " + TextOf(cancelled), false, now, &effects);
    Apply(slot.get(), &effects, now);
  }
  std::vector<std::string> devices;
  for (const auto& [device, state] : device_states_) devices.push_back(device);
  for (const std::string& device : devices) ReleaseHeld(device);
}

void Runner::Service(Slot* slot, int64_t now) {
  std::vector<Effect> effects;
  Worker* worker = slot->worker.get();
  // Output first: what was printed before a verdict belongs to that case.
  const auto read_output = [&](size_t limit) {
    slot->process.ReadOutput(limit, [&](std::string_view bytes) { worker->OnOutput(bytes, now, &effects); });
  };
  read_output(kOutputAtOnce);
  if (slot->process.control_open()) {
    const bool open = slot->process.Receive(
        kPacketsAtOnce, [&](std::string_view packet) { worker->OnPacket(packet, now, &effects); },
        [&](const std::string& why) { worker->OnGarbage(why, now, &effects); });
    if (!open) worker->OnControlClosed(now, &effects);
  }
  worker->OnTick(now, &effects);
  Apply(slot, &effects, now);
  if (!slot->exited && !slot->abandoned && control_->HasExited(slot->process.pid())) {
    slot->exited = true;
    slot->drain_until_ns = now + kDrainNs;
    // While the zombie pins the id, its group is surely its own.
    control_->Signal(slot->process.pid(), SIGKILL);
    // What it left is ours now and goes at once: it would hold the pipe, and outlive us should we be killed.
    sweep_until_ns_ = now + kSweepNs;
  }
  if (!slot->exited) Watch(slot, now);
}

// Children beyond any reason, and memory that only grows.
void Runner::Watch(Slot* slot, int64_t now) {
  if (now < slot->next_watch_ns || slot->worker->idle()) return;
  slot->next_watch_ns = now + kWatchNs;
  if (slot->worker->accepting() && slot->worker->shared() && slot->worker->cases_run() >= kWarmCases) {
    const int64_t resident = ResidentBytes(slot->process.pid());
    if (slot->baseline_rss == 0) slot->baseline_rss = resident;
    if (resident > slot->baseline_rss + kGrowthBytes) {
      std::vector<Effect> effects;
      slot->worker->Shutdown(now, &effects);  // what is queued is finished first
      Apply(slot, &effects, now);
    }
  }
  if (CountDescendants(slot->process.pid(), options_.max_descendants + 1) <= options_.max_descendants) return;
  std::vector<Effect> effects;
  slot->worker->Terminate(ErrorKind::kProcessLimit,
                          "more than " + std::to_string(options_.max_descendants) + " descendants", true, now,
                          &effects);
  Apply(slot, &effects, now);
}

void Runner::WatchMemory(int64_t now) {
  if (now < next_memory_ns_ || slots_.empty()) return;
  const int64_t room = memory_.Room();
  next_memory_ns_ = now + memory_.IntervalNs(room);
  if (room >= memory_.Reserve()) return;
  Slot* largest = nullptr;
  int64_t size = 0;
  for (auto& [id, slot] : slots_) {
    if (slot->exited || slot->abandoned || slot->out_of_memory) continue;
    const int64_t resident = ResidentBytes(slot->process.pid());
    if (resident <= size) continue;
    size = resident;
    largest = slot.get();
  }
  // What is small is not to blame, and killing it would not help.
  if (!largest || size < memory_.Reserve() / 2) return;
  largest->out_of_memory = true;
  std::vector<Effect> effects;
  largest->worker->Terminate(ErrorKind::kOutOfMemory,
                             "resident size " + std::to_string(size >> 20) + " MiB with " +
                                 std::to_string(std::max<int64_t>(0, room) >> 20) + " MiB left (" +
                                 memory_.Describe() + ")",
                             true, now, &effects);
  Apply(largest, &effects, now);
}

// The exit, not the end of a file, ends a worker: its pipe may be held by what it left behind.
void Runner::FinishExited(int64_t now) {
  std::vector<int64_t> done;
  for (auto& [id, slot] : slots_) {
    if (!slot->exited) continue;
    std::vector<Effect> effects;
    Worker* worker = slot->worker.get();
    // What it had sent, not until the end of the file: a child it left may hold the socket, silent for ever.
    slot->process.Receive(
        kPacketsLeft, [&](std::string_view packet) { worker->OnPacket(packet, now, &effects); },
        [&](const std::string& why) { worker->OnGarbage(why, now, &effects); });
    slot->process.ReadOutput(kOutputAtOnce, [&](std::string_view b) { worker->OnOutput(b, now, &effects); });
    Apply(slot.get(), &effects, now);
    if (!slot->process.output_open() || now >= slot->drain_until_ns) done.push_back(id);
  }
  for (const int64_t id : done) {
    Slot* slot = slots_[id].get();
    const ExitStatus status = control_->Reap(slot->process.pid());
    sweep_until_ns_ = now + kSweepNs;
    OnWorkerEnded(slot, &status, now);
    slots_.erase(id);
  }
}

}  // namespace cudnn_ci
