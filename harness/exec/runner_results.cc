// What came of it: effects of workers into events, attempts into outcomes.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "exec/proc.h"
#include "exec/runner.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kAttachmentBytes = 16 << 20, kAllAttachmentsBytes = 256 << 20;

bool NeedsCanary(const AttemptResult& r) {
  const auto* e = std::get_if<Errored>(&r.outcome);
  return r.context_broken || (e && e->kind != ErrorKind::kCancelled && e->kind != ErrorKind::kPluginLoad &&
                              e->kind != ErrorKind::kDeviceLost);
}

}  // namespace

void Runner::Apply(Slot* slot, std::vector<Effect>* effects, int64_t now) {
  // Effects may bring effects (a finished case makes room for the next): handled in order, without recursion.
  for (size_t i = 0; i < effects->size(); ++i) {
    Effect effect = std::move((*effects)[i]);
    if (auto* packet = std::get_if<SendPacket>(&effect)) {
      slot->process.Send(std::move(packet->packet));
    } else if (auto* signal = std::get_if<SendSignal>(&effect)) {
      if (!slot->exited) control_->Signal(slot->process.pid(), signal->signal);
    } else if (auto* event = std::get_if<EmitEvent>(&effect)) {
      if (auto* attached = std::get_if<Attached>(&event->body)) {
        TakeAttachment(attached);
        if (attached->path.empty()) continue;
      }
      Emit(event->body);
    } else if (auto* ended = std::get_if<AttemptEnded>(&effect)) {
      OnAttemptEnded(slot, std::move(ended->result));
    } else if (auto* back = std::get_if<GiveBack>(&effect)) {
      for (const size_t c : back->case_indices)
        if (!scheduler_.IsSettled(c)) scheduler_.Requeue(c, false);
    } else if (auto* canary = std::get_if<CanaryResult>(&effect)) {
      OnCanary(slot, *canary);
    } else if (auto* abandoned = std::get_if<Abandoned>(&effect)) {
      // The run ends without it; its device cannot be used again.
      slot->abandoned = true;
      if (!slot->device.empty())
        LoseDevice(slot->device, "a process on it survived SIGKILL: " + abandoned->evidence);
      Emit(WorkerEnded{slot->worker->id(), "abandoned", CleanLine(abandoned->evidence)});
    }
  }
  effects->clear();
  (void)now;
}

void Runner::OnAttemptEnded(Slot* slot, AttemptResult result) {
  const size_t i = result.case_index;
  const Case& c = plan_.cases[i];
  Emit(AttemptFinished{c.planned.ref, result.attempt, slot->worker->id(), result.outcome, result.seconds,
                       result.output, result.evidence});
  if (!result.first_expectation.empty()) first_expectations_.emplace(i, result.first_expectation);
  if (!result.findings.empty()) {
    std::vector<Finding>& said = said_[i];
    said.insert(said.end(), result.findings.begin(), result.findings.end());
  }
  if (scheduler_.IsSettled(i)) return;  // its device was lost meanwhile
  const auto* errored = std::get_if<Errored>(&result.outcome);
  if (cancelled_ && errored && errored->kind == ErrorKind::kCancelled)
    return Finalize(
        i, result.outcome,
        options_.time_limit_s > 0 && signal_ == 0
            ? std::vector<Finding>{HarnessFinding("time-limit", "the run's --time-limit was reached")}
            : std::vector<Finding>{});
  if (!IsGood(c, result.outcome) && NeedsCanary(result) && !cancelled_ && DeviceCanBeTested(slot->device)) {
    DeviceState& device = device_states_[slot->device];
    device.suspect = true;
    // Whose fault it is depends on whether the device still computes. A shared worker's word is confirmed
    // anyway, by a process that begins with the canary.
    if (result.mode != AttemptMode::kShared) {
      device.held.push_back(i);
      held_results_[i] = std::move(result);
      return;
    }
  }
  Decide(i, result);
}

void Runner::Decide(size_t i, const AttemptResult& result) {
  const Case& c = plan_.cases[i];
  // The common case costs no history.
  if (IsGood(c, result.outcome) && !histories_.count(i) && !result.leaked && !result.slow) {
    histories_[i].seconds = result.seconds;
    return Finalize(i, result.outcome, {});
  }
  Decision decision = rules_.Judge(c, result, &History(i));
  if (decision.next == Next::kFinal)
    return Finalize(i, std::move(decision.outcome), std::move(decision.findings));
  // The run is over: what was to be looked at again counts as it stands.
  if (cancelled_) return Finalize(i, result.outcome, {});
  scheduler_.Requeue(i, true);
}

// Memory on the device that is not ours: what was in use before the run began.
int64_t Runner::ForeignMemory(const std::string& device) const {
  if (device.size() < 4) return 0;
  const std::string key = "gpu." + device.substr(3) + ".";
  for (const auto& [subject, facts] : options_.facts.by_subject) {
    const auto total = facts.find(key + "memory_bytes"), free = facts.find(key + "memory_free_bytes");
    if (total == facts.end() || free == facts.end()) continue;
    return strtoll(total->second.c_str(), nullptr, 10) - strtoll(free->second.c_str(), nullptr, 10);
  }
  return 0;
}

// A required case that found too little device memory: the runner's fault if others hold it.
void Runner::BlameForMemory(const Case& c, const Outcome& outcome, std::vector<Finding>* findings) const {
  constexpr int64_t kDriversOwn = int64_t{2} << 30;  // an idle device shows up to about 1 GiB in use
  const auto* skipped = std::get_if<Skipped>(&outcome);
  if (!skipped || skipped->kind != SkipKind::kMemory) return;
  const int64_t foreign = ForeignMemory(c.planned.ref.device);
  if (foreign < kDriversOwn) return;
  for (Finding& f : *findings)
    if (f.slug == "skip-not-allowed")
      f = HarnessFinding("out-of-device-memory-shared", "needs " + skipped->need + ", saw " + skipped->seen +
                                                            "; " + std::to_string(foreign >> 20) +
                                                            " MiB were in use before the run began");
}

void Runner::Finalize(size_t i, Outcome outcome, std::vector<Finding> extra) {
  const Case& c = plan_.cases[i];
  const CaseHistory history = histories_.count(i) ? histories_[i] : CaseHistory{};
  std::vector<Finding> said = said_.count(i) ? said_[i] : std::vector<Finding>{};
  said.insert(said.end(), extra.begin(), extra.end());
  const auto expectation = first_expectations_.find(i);
  std::vector<Finding> owed = OwedFindings(
      c, outcome, said, expectation == first_expectations_.end() ? "" : CleanLine(expectation->second, 1000));
  BlameForMemory(c, outcome, &owed);
  extra.insert(extra.end(), owed.begin(), owed.end());
  for (const Finding& f : extra) Emit(FindingReported{c.planned.ref, f});
  Emit(CaseFinished{c.planned.ref, outcome, history.seconds, history.flags});
  if (!IsGood(c, outcome) && options_.fail_fast && c.planned.required && !cancelled_ && !stop_dispatch_) {
    stop_dispatch_ = true;
    Emit(RunCancelled{CancelReason::kFailFast, 0});
  }
  histories_.erase(i);
  said_.erase(i);
  first_expectations_.erase(i);
  SettleBlocked(scheduler_.Settle(i, outcome));
}

void Runner::SettleBlocked(const std::vector<Scheduler::Settled>& blocked) {
  for (const Scheduler::Settled& s : blocked)
    Emit(CaseFinished{plan_.cases[s.case_index].planned.ref, s.outcome, 0, {}});
}

bool Runner::DeviceCanBeTested(const std::string& device) const {
  if (device.empty() || options_.isolation == Isolation::kNone) return false;
  for (const DeviceInfo& d : options_.devices)
    if (d.name == device) return !d.uuid.empty();
  return false;
}

void Runner::OnCanary(Slot* slot, const CanaryResult& result) {
  slot->canary_pending = false;
  const std::string device = slot->device;
  if (!result.ok) return LoseDevice(device, result.detail);
  device_states_[device].suspect = false;
  ReleaseHeld(device);
  std::vector<Effect> effects;
  const int64_t now = MonotonicNs();
  if (slot->reserved) {
    slot->worker->Assign(std::move(*slot->reserved), now, &effects);
    slot->reserved.reset();
    Apply(slot, &effects, now);
  } else if (!slot->lane) {
    slot->worker->Shutdown(now, &effects);
    slot->process.Send(wire::Encode(wire::ToWorker(wire::Shutdown{})));
    Apply(slot, &effects, now);
  }
}

void Runner::ReleaseHeld(const std::string& device) {
  const std::vector<size_t> held = std::move(device_states_[device].held);
  device_states_[device].held.clear();
  for (const size_t i : held) {
    const AttemptResult result = std::move(held_results_[i]);
    held_results_.erase(i);
    Decide(i, result);
  }
}

void Runner::LoseDevice(const std::string& device, const std::string& reason) {
  DeviceState& state = device_states_[device];
  if (state.lost) return;
  state.lost = true;
  state.suspect = false;
  state.held.clear();
  Emit(DeviceLost{device, CleanText(reason)});
  for (const size_t i : scheduler_.WithdrawFrom(device)) {
    if (scheduler_.IsSettled(i)) continue;  // blocked by one before it
    std::string detail = device + " no longer computes: " + reason;
    if (const auto held = held_results_.find(i); held != held_results_.end()) {
      if (const auto* e = std::get_if<Errored>(&held->second.outcome))
        detail += " (this case: " + e->detail + ")";
      held_results_.erase(held);
    }
    Finalize(i, Errored{ErrorKind::kDeviceLost, CleanText(detail)}, {});
  }
  for (auto& [id, slot] : slots_) {
    if (slot->device != device || slot->exited || slot->abandoned) continue;
    slot->reserved.reset();
    std::vector<Effect> effects;
    slot->worker->Terminate(ErrorKind::kDeviceLost, reason, true, MonotonicNs(), &effects);
    Apply(slot.get(), &effects, MonotonicNs());
  }
}

void Runner::OnWorkerEnded(Slot* slot, const ExitStatus* status, int64_t now) {
  Worker* worker = slot->worker.get();
  const int64_t kills = memory_.OomKills();
  const bool out_of_memory = slot->out_of_memory || kills > oom_kills_;
  oom_kills_ = kills;
  std::vector<Effect> effects;
  worker->OnExit(*status, out_of_memory, now, &effects);
  scheduler_.Release(worker->id());
  Apply(slot, &effects, now);
  Emit(WorkerEnded{worker->id(), ToString(*status), worker->retire_reason()});
  if (slot->reserved && !scheduler_.IsSettled(slot->reserved->case_index)) {
    scheduler_.Requeue(slot->reserved->case_index, true);  // it never began
  }
  // One that only warmed up, for checks that then were not to run, has nothing to answer for.
  if (!worker->ended_badly() || worker->cases_run() == 0 || cancelled_) return;
  const Assignment* last = worker->last_finished();
  const std::string after = last ? " after its last case, " + DisplayId(last->ref) : "";
  Emit(FindingReported{
      {},
      HarnessFinding("worker-exit", "a shared worker of " +
                                        Join({slot->lane->plugins.begin(), slot->lane->plugins.end()}, ", ") +
                                        " ended with " + ToString(*status) + after)});
  if (last) scheduler_.Requeue(last->case_index, true);
}

// A file in our scratch directory becomes DIR/attachments/N-NAME; path is emptied if it is not to be kept.
void Runner::TakeAttachment(Attached* attached) {
  const std::string from = attached->path;
  attached->path.clear();
  if (options_.output_dir.empty() ||
      from.compare(0, options_.scratch_dir.size() + 1, options_.scratch_dir + "/") != 0 ||
      from.find("..") != std::string::npos)
    return;
  const int fd = open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  const Fd file(fd);
  struct stat st {};
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > kAttachmentBytes ||
      attachment_bytes_ + st.st_size > kAllAttachmentsBytes)
    return;
  std::string name;
  for (const char ch : attached->name)
    name += std::isalnum(static_cast<unsigned char>(ch)) || ch == '.' || ch == '-' || ch == '_' ? ch : '_';
  const std::string relative = "attachments/" + std::to_string(++attachments_) + "-" + name.substr(0, 80);
  Result<std::string> content = ReadFile(from, kAttachmentBytes);
  unlink(from.c_str());
  if (!content.ok() || !MakeDirectories(options_.output_dir + "/attachments").ok()) return;
  if (!WriteFileAtomically(options_.output_dir + "/" + relative, *content).ok()) return;
  attachment_bytes_ += st.st_size;
  attached->path = relative;
}

}  // namespace cudnn_ci
