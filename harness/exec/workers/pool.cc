#include "exec/workers/pool.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/time.h"
#include "exec/system/proc.h"
#include "exec/workers/crash_explainer.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kDrainNs = 150'000'000;  // for output that a grandchild still holds
constexpr int64_t kSweepNs = 5'000'000'000;
constexpr int64_t kCountNs = 100'000'000;    // how often the descendants of a busy process are counted
constexpr int64_t kMaxWaitNs = 500'000'000;  // clients have clocks of their own to keep
constexpr int64_t kReportedPauseNs = 2'000'000'000;  // shorter pauses are usual on a busy machine
constexpr int64_t kAwakeNs = 50'000;
constexpr int kPacketsAtOnce = 64;
constexpr int kPacketsLeft = 4096;  // more than a socket's buffer can hold
constexpr size_t kOutputAtOnce = 4 << 20;

}  // namespace

int TakeSignal(int signal_fd) {
  signalfd_siginfo info{};
  while (read(signal_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    if (info.ssi_signo != SIGCHLD) return static_cast<int>(info.ssi_signo);
  return 0;
}

Pool::Pool(ProcessControl* control, int signal_fd, std::string scratch_dir, PoolClient* client,
           int max_descendants)
    : control_(control),
      signal_fd_(signal_fd),
      scratch_dir_(std::move(scratch_dir)),
      client_(client),
      max_descendants_(max_descendants),
      oom_kills_(memory_.OomKills()) {}

Pool::~Pool() {
  for (auto& [id, member] : members_)
    if (!member->exited && !member->abandoned) control_->Signal(member->process.pid(), SIGKILL);
}

Result<Worker*> Pool::Start(const WorkerCommand& command, std::unique_ptr<Worker> worker) {
  const int64_t id = next_id_++;
  Result<ScratchFolder> scratch = MakeScratch(id);
  if (!scratch.ok()) return Error{scratch.error()};
  Result<WorkerProcess> process = WorkerProcess::Start(control_, command);
  if (!process.ok()) return Error{process.error()};
  const int64_t now = clock_.NowNs();
  auto member = std::make_unique<Member>();
  member->process = std::move(*process);
  member->scratch = std::move(*scratch);
  member->worker = std::move(worker);
  member->next_count_ns = now + kCountNs;
  const pid_t pid = member->process.pid();
  member->worker->OnStarted(
      id, [pid] { return DescribeProcess(pid); }, now);
  member->worker->ExplainCrashesBy(CrashExplainer(command));
  Worker* started = member->worker.get();
  members_[id] = std::move(member);
  return started;
}

Result<ScratchFolder> Pool::MakeScratch(int64_t id) {
  while (!unused_.empty()) {
    ScratchFolder folder = std::move(unused_.back());
    unused_.pop_back();
    // Whoever had it may have left a process behind that wrote into it since.
    if (folder.AsNew()) return folder;
  }
  return ScratchFolder::Make(scratch_dir_, id);
}

std::vector<Pool::Member*> Pool::Members() {
  // The client may start others while one is served: walk over a copy.
  std::vector<Member*> out;
  for (auto& [id, member] : members_) out.push_back(member.get());
  return out;
}

std::vector<Worker*> Pool::workers() const {
  std::vector<Worker*> out;
  for (const auto& [id, member] : members_)
    if (!member->abandoned) out.push_back(member->worker.get());
  return out;
}

int Pool::live() const {
  return static_cast<int>(
      std::count_if(members_.begin(), members_.end(), [](const auto& m) { return !m.second->abandoned; }));
}

void Pool::Do(Worker* worker, const std::function<void(int64_t, Effects*)>& act) {
  Effects effects;
  act(clock_.NowNs(), &effects);
  Apply(members_.at(worker->id()).get(), &effects);
}

void Pool::Apply(Member* member, Effects* effects) {
  // By index: an effect may bring others about for the same worker, through Do; they are carried out first.
  for (size_t i = 0; i < effects->size(); ++i) {
    Effect effect = std::move((*effects)[i]);
    if (auto* packet = std::get_if<SendPacket>(&effect)) {
      member->process.Send(std::move(packet->packet));
    } else if (const auto* signal = std::get_if<SendSignal>(&effect)) {
      if (!member->exited) control_->Signal(member->process.pid(), signal->signal);
    } else {
      if (std::holds_alternative<Abandoned>(effect)) member->abandoned = true;
      client_->OnEffect(member->worker.get(), std::move(effect));
    }
  }
  effects->clear();
}

void Pool::Turn(int64_t wake_ns) {
  Wait(wake_ns);
  ReportPause();
  HandleSignals();
  const int64_t now = clock_.NowNs();
  for (Member* member : Members()) Service(member, now);
  FinishExited(clock_.NowNs());
  WatchMemory(now);
  SweepStrays(now);
}

void Pool::Wait(int64_t wake_ns) {
  std::vector<pollfd> fds = {{signal_fd_, POLLIN, 0}};
  const int64_t now = clock_.NowNs();
  int64_t wake = now + std::min(wake_ns - MonotonicNs(), kMaxWaitNs);
  for (const auto& [id, member] : members_) {
    if (member->abandoned) continue;
    member->process.AddTo(&fds);
    wake = std::min(wake, member->worker->NextDeadlineNs());
    if (member->exited) wake = std::min(wake, member->drain_until_ns);
    if (!member->worker->idle()) wake = std::min(wake, member->next_count_ns);
  }
  if (next_memory_ns_ > 0 && live() > 0) wake = std::min(wake, next_memory_ns_);
  if (sweep_until_ns_ > now) wake = std::min(wake, now + 1'000'000);
  const int64_t wait = std::max<int64_t>(0, wake - now);
  const timespec timeout{wait / 1'000'000'000, wait % 1'000'000'000};
  // Awake for a while behind a packet of a worker that waits for the next case: whoever sleeps takes longer
  // to wake than a short case runs.
  constexpr timespec kNone{0, 0};
  int ready = 0;
  while (ready == 0 && MonotonicNs() < awake_until_ns_) {
    sched_yield();  // to the worker, where there is one processor
    ready = ppoll(fds.data(), fds.size(), &kNone, nullptr);
  }
  if (ready == 0) {
    clock_.Waiting(wait);
    ready = ppoll(fds.data(), fds.size(), &timeout, nullptr);
  }
  // What cannot be known has to be looked at.
  signal_came_ = ready < 0 || fds[0].revents != 0;
}

void Pool::ReportPause() {
  clock_.NowNs();
  const int64_t paused = clock_.PausedNs() - reported_pause_ns_;
  reported_pause_ns_ = clock_.PausedNs();
  if (paused >= kReportedPauseNs) client_->OnPaused(static_cast<double>(paused) / 1e9);
}

void Pool::HandleSignals() {
  if (!signal_came_) return;
  while (const int signal = TakeSignal(signal_fd_)) {
    if (signalled_)  // the second one: at once
      for (Worker* worker : workers())
        Do(worker, [&](int64_t now, Effects* out) {
          worker->Terminate(CancelledBy(Cancellation::kInterruptedTwice), true, now, out);
        });
    signalled_ = true;
    client_->OnSignal(signal);
  }
}

void Pool::Service(Member* member, int64_t now) {
  if (member->abandoned) return;
  Effects effects;
  Worker* worker = member->worker.get();
  bool heard = false;
  // Output first: what was printed before a verdict belongs to that case.
  member->process.ReadOutput(kOutputAtOnce, [&](std::string_view b) { worker->OnOutput(b, now, &effects); });
  if (member->process.control_open()) {
    const bool open = member->process.Receive(
        kPacketsAtOnce,
        [&](std::string_view packet) {
          worker->OnPacket(packet, now, &effects);
          heard = true;
        },
        [&](const std::string& why) { worker->OnGarbage(why, now, &effects); });
    if (!open) worker->OnControlClosed(now);
  }
  worker->OnTick(now, &effects);
  Apply(member, &effects);
  if (heard && !worker->shutdown_sent()) awake_until_ns_ = MonotonicNs() + kAwakeNs;
  if (member->exited || member->abandoned) return;
  if (!control_->HasExited(member->process.pid())) return CountDescendantsOf(member, now);
  member->exited = true;
  member->drain_until_ns = now + kDrainNs;
  // While the zombie pins the id, its group is surely its own. What it left is ours now and goes at once: it
  // would hold the pipe, and outlive us should we be killed.
  control_->Signal(member->process.pid(), SIGKILL);
  sweep_until_ns_ = now + kSweepNs;
}

// The exit, not the end of a file, ends a worker: its pipe may be held by what it left behind.
void Pool::FinishExited(int64_t now) {
  for (Member* member : Members()) {
    if (!member->exited) continue;
    Effects effects;
    Worker* worker = member->worker.get();
    // What it had sent, not until the end of the file: a child it left may hold the socket, silent for ever.
    member->process.Receive(
        kPacketsLeft, [&](std::string_view packet) { worker->OnPacket(packet, now, &effects); },
        [&](const std::string& why) { worker->OnGarbage(why, now, &effects); });
    member->process.ReadOutput(kOutputAtOnce,
                               [&](std::string_view b) { worker->OnOutput(b, now, &effects); });
    Apply(member, &effects);
    if (member->process.output_open() && now < member->drain_until_ns) continue;
    const ExitStatus status = control_->Reap(member->process.pid());
    sweep_until_ns_ = now + kSweepNs;
    const int64_t kills = memory_.OomKills();
    const bool out_of_memory = member->out_of_memory || kills > oom_kills_;
    oom_kills_ = kills;
    worker->OnExit(status, out_of_memory, now, &effects);
    Apply(member, &effects);
    client_->OnEnded(worker, status);
    if (member->scratch.AsNew()) unused_.push_back(std::move(member->scratch));
    members_.erase(worker->id());
  }
}

void Pool::CountDescendantsOf(Member* member, int64_t now) {
  if (now < member->next_count_ns || member->worker->idle()) return;
  member->next_count_ns = now + kCountNs;
  if (CountDescendants(member->process.pid(), max_descendants_ + 1) <= max_descendants_) return;
  const std::string command = LargestCommandOf(member->process.pid());
  const std::string detail = "more than " + std::to_string(max_descendants_) + " descendants" +
                             (command.empty() ? "" : ", most of them of the command " + command);
  Do(member->worker.get(), [&](int64_t at, Effects* out) {
    member->worker->Terminate(
        {ErrorKind::kProcessLimit, detail, command.empty() ? CrashSite::kUnknown : CrashSite::kImage}, true,
        at, out);
  });
}

void Pool::WatchMemory(int64_t now) {
  if (now < next_memory_ns_ || live() == 0) return;
  const int64_t room = memory_.Room();
  next_memory_ns_ = now + memory_.IntervalNs(room);
  if (room >= memory_.Reserve()) return;
  // Not what is small: it would not help. Who only prepares goes first; its memory is free once it has ended.
  Member* largest = nullptr;
  bool frees = false;
  std::pair<bool, int64_t> most = {false, memory_.Reserve() / 2};
  for (auto& [id, member] : members_) {
    if (member->exited || member->abandoned) continue;
    frees |= member->out_of_memory && member->worker->only_prepares();
    if (member->out_of_memory) continue;
    const int64_t resident = ResidentBytes(member->process.pid());
    const std::pair rank = {member->worker->only_prepares(), resident};
    if (resident < memory_.Reserve() / 2 || rank < most) continue;
    most = rank;
    largest = member.get();
  }
  if (!largest || (frees && !most.first)) return;
  const int64_t size = most.second;
  largest->out_of_memory = true;
  Do(largest->worker.get(), [&](int64_t at, Effects* out) {
    largest->worker->Terminate(ErrorKind::kOutOfMemory,
                               "resident size " + std::to_string(size >> 20) + " MiB with " +
                                   std::to_string(std::max<int64_t>(0, room) >> 20) + " MiB left (" +
                                   memory_.Describe() + ")",
                               true, at, out);
  });
}

void Pool::SweepStrays(int64_t now) {
  if (sweep_until_ns_ <= now) return;
  std::set<pid_t> keep;
  for (const auto& [id, member] : members_) keep.insert(member->process.pid());
  if (!control_->SweepStrays(keep)) sweep_until_ns_ = 0;
}

void Pool::Sweep() {
  std::set<pid_t> keep;
  for (const auto& [id, member] : members_) keep.insert(member->process.pid());
  for (int i = 0; i < 100 && control_->SweepStrays(keep); ++i) usleep(1000);
}

}  // namespace cudnn_ci
