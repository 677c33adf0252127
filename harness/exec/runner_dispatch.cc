// Who runs what: lanes to workers, devices to lanes, within the job slots.
#include <stdlib.h>

#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "exec/proc.h"
#include "exec/runner.h"

extern char** environ;

namespace cudnn_ci {
namespace {

constexpr size_t kRunsAhead = 16;  // hides the round trip; more would only lengthen what a crash gives back
constexpr size_t kConfigureBytes = 24 * 1024;

// NAME=VALUE pairs with one variable set.
void SetVariable(std::vector<std::string>* env, const std::string& name, const std::string& value) {
  const std::string prefix = name + "=";
  env->erase(std::remove_if(env->begin(), env->end(),
                            [&](const std::string& e) { return e.compare(0, prefix.size(), prefix) == 0; }),
             env->end());
  env->push_back(prefix + value);
}

}  // namespace

int Runner::LiveWorkers() const {
  int n = 0;
  for (const auto& [id, slot] : slots_) n += slot->abandoned ? 0 : 1;
  return n;
}

Runner::Slot* Runner::SharedWorkerOf(const Lane* lane) {
  for (auto& [id, slot] : slots_)
    if ((slot->lane == lane || options_.isolation == Isolation::kNone) && slot->worker->shared() &&
        slot->worker->accepting())
      return slot.get();
  return nullptr;
}

void Runner::Dispatch() {
  const std::vector<Lane*> lanes = scheduler_.ReadyLanes();
  for (auto& [device, state] : device_states_) {
    if (!state.suspect || state.held.empty() || !scheduler_.CanLease(device) ||
        LiveWorkers() >= options_.jobs)
      continue;
    // Whoever uses the device next begins with the canary; a process for it alone only when nobody comes.
    const std::string& name = device;
    const auto uses = [&](const Lane* lane) { return lane->device == name; };
    if (!stop_dispatch_ && std::any_of(lanes.begin(), lanes.end(), uses)) continue;
    StartCanary(device);
    break;  // the map may have changed
  }
  if (stop_dispatch_) {
    for (auto& [id, slot] : slots_) {
      std::vector<Effect> effects;
      if (slot->worker->idle()) slot->worker->Shutdown(MonotonicNs(), &effects);
      Apply(slot.get(), &effects, MonotonicNs());
    }
    return;
  }
  for (Lane* lane : scheduler_.ReadyLanes()) {
    if (lane->shared && !lane->ready.empty()) {
      if (Slot* slot = SharedWorkerOf(lane)) {
        if (!slot->canary_pending) Fill(slot);
        continue;
      }
    }
    if (spawn_failed_) return;
    if (LiveWorkers() >= options_.jobs || !scheduler_.CanLease(lane->device)) {
      MakeRoom(lane);
      continue;
    }
    // What was asked to run alone goes first; a device's shared worker was shut down for it by MakeRoom.
    if (!lane->alone.empty())
      StartWorker(lane, lane->device, scheduler_.Take(lane, true));
    else if (lane->shared)
      StartWorker(lane, lane->device, std::nullopt);
    else
      StartWorker(lane, lane->device, scheduler_.Take(lane, false));
  }
  // Warm workers nobody will need again.
  for (auto& [id, slot] : slots_) {
    if (!slot->worker->shared() || !slot->worker->idle() || slot->worker->ending()) continue;
    if (scheduler_.open() > 0) continue;
    std::vector<Effect> effects;
    slot->worker->Shutdown(MonotonicNs(), &effects);
    Apply(slot.get(), &effects, MonotonicNs());
  }
}

// An idle warm worker holds a slot, perhaps a device: it goes when a lane that cannot start needs either.
void Runner::MakeRoom(const Lane* wanting) {
  for (auto& [id, slot] : slots_) {
    if (!slot->worker->shared() || !slot->worker->idle() || slot->worker->ending() || slot->canary_pending)
      continue;
    if (slot->lane && !slot->lane->ready.empty()) continue;
    const bool holds_device = !slot->device.empty() && (slot->device == wanting->device ||
                                                        wanting->device == "*" || slot->device == "*");
    if (!holds_device && LiveWorkers() < options_.jobs) continue;
    std::vector<Effect> effects;
    slot->worker->Shutdown(MonotonicNs(), &effects);
    Apply(slot.get(), &effects, MonotonicNs());
    return;
  }
}

std::vector<std::string> Runner::Environment(const Lane* lane, const std::string& device) const {
  std::vector<std::string> env;
  for (char** e = environ; *e; ++e) env.emplace_back(*e);
  for (const SubjectInfo& s : options_.subjects)
    if (lane && s.name == lane->subject && s.spec.compare(0, 5, "path:") == 0) {
      const char* before = getenv("LD_LIBRARY_PATH");
      SetVariable(&env, "LD_LIBRARY_PATH",
                  s.spec.substr(5) + (before && *before ? ":" + std::string(before) : ""));
    }
  // One visible device, by UUID: cuInit takes five times as long with four of them visible.
  std::vector<std::string> uuids;
  for (const DeviceInfo& d : options_.devices)
    if (!d.uuid.empty() && (d.name == device || device == "*")) uuids.push_back(d.uuid);
  if (!uuids.empty()) SetVariable(&env, "CUDA_VISIBLE_DEVICES", Join(uuids, ","));
  return env;
}

std::vector<wire::Configure> Runner::Configuration(const Lane* lane, const std::string& device) const {
  wire::Configure c;
  const std::string subject = lane && !lane->subject.empty()
                                  ? lane->subject
                                  : (options_.subjects.empty() ? "" : options_.subjects[0].name);
  c.subject_name = subject;
  for (const SubjectInfo& s : options_.subjects)
    if (s.name == subject) c.subject_spec = s.spec;
  for (const DeviceInfo& d : options_.devices)
    if (d.name == device) c.device_uuid = d.uuid;
  c.scratch_dir = options_.scratch_dir;
  c.contract = options_.contract;
  std::vector<wire::Configure> out;
  const auto facts = options_.facts.by_subject.find(subject);
  size_t bytes = 0;
  if (facts != options_.facts.by_subject.end())
    for (const auto& [key, value] : facts->second) {
      if (bytes > kConfigureBytes) {  // a packet is bounded
        out.push_back(c);
        c.facts.clear();
        bytes = 0;
      }
      c.facts[key] = value;
      bytes += key.size() + value.size() + 8;
    }
  out.push_back(std::move(c));
  return out;
}

std::vector<std::string> Runner::PluginFiles(const Lane* lane) const {
  std::vector<std::string> files;
  for (const PluginInfo& p : catalog_.plugins)
    if (options_.isolation == Isolation::kNone || !lane || p.name == lane->plugin) files.push_back(p.path);
  if (!lane && options_.isolation != Isolation::kNone) files.resize(std::min<size_t>(files.size(), 1));
  return files;
}

bool Runner::StartWorker(Lane* lane, const std::string& wanted_device, std::optional<size_t> alone_case) {
  // One process for everything sees one device, too.
  const bool one_process = options_.isolation == Isolation::kNone;
  const std::string device =
      one_process && !options_.devices.empty() ? options_.devices[0].name : wanted_device;
  WorkerCommand command;
  command.worker_path = options_.worker_path;
  command.plugins = PluginFiles(lane);
  command.env = Environment(lane, device);
  command.inherit_output = options_.isolation == Isolation::kNone;
  const int64_t now = MonotonicNs();
  Result<WorkerProcess> process = WorkerProcess::Start(control_, command);
  if (!process.ok()) {
    // No process can be had: the run cannot go on, and says so.
    spawn_failed_ = stop_dispatch_ = true;
    if (alone_case) {
      Finalize(*alone_case, Errored{ErrorKind::kCrashed, process.error()}, {});
    }
    Emit(FindingReported{{}, HarnessFinding("worker-exit", process.error())});
    return false;
  }
  auto owned = std::make_unique<Slot>();
  Slot* slot = owned.get();
  slot->process = std::move(*process);
  slot->lane = lane;
  slot->device = device;
  slot->next_watch_ns = now + 100'000'000;
  const int64_t id = next_worker_++;
  const pid_t pid = slot->process.pid();
  const std::string plugin = lane ? lane->plugin : "";
  const bool shared = !alone_case && lane && lane->shared;
  WorkerLimits limits = options_.limits;
  if (options_.isolation == Isolation::kNone) limits.timeouts = false;
  slot->worker = std::make_unique<Worker>(
      id, shared, limits,
      [this, plugin](const std::string& slug) -> const FindingInfo* {
        for (const PluginInfo& p : catalog_.plugins) {
          if (p.name != plugin && options_.isolation != Isolation::kNone) continue;
          for (const FindingInfo& f : p.findings)
            if (f.slug == slug) return &f;
        }
        return nullptr;
      },
      [pid] { return DescribeProcess(pid); }, now);
  slots_[id] = std::move(owned);
  scheduler_.Lease(device, id);
  Emit(WorkerStarted{id, pid, plugin, lane ? lane->subject : "", device, shared});
  for (const wire::Configure& c : Configuration(lane, device))
    slot->process.Send(wire::Encode(wire::ToWorker(c)));
  std::vector<Effect> effects;
  if (alone_case) {
    const auto h = histories_.find(*alone_case);
    AttemptMode mode = AttemptMode::kAlone;
    if (h != histories_.end() && h->second.suspicion && !h->second.decisive)
      mode = AttemptMode::kConfirm;
    else if (h != histories_.end() && h->second.retries > 0)
      mode = AttemptMode::kRetry;
    slot->reserved = MakeAssignment(*alone_case, mode);
  }
  const auto state = device_states_.find(device);
  if (state != device_states_.end() && state->second.suspect && DeviceCanBeTested(device)) {
    slot->canary_pending = true;
    slot->worker->RequestCanary(now, &effects);
  } else if (slot->reserved) {
    slot->worker->Assign(std::move(*slot->reserved), now, &effects);
    slot->reserved.reset();
  }
  Apply(slot, &effects, now);
  if (shared && !slot->canary_pending) Fill(slot);
  return true;
}

void Runner::StartCanary(const std::string& device) {
  if (!StartWorker(nullptr, device, std::nullopt))
    LoseDevice(device, "no process could be started to test it");
}

Assignment Runner::MakeAssignment(size_t case_index, AttemptMode mode) {
  const Case& c = plan_.cases[case_index];
  Assignment a;
  a.case_index = case_index;
  a.ref = c.planned.ref;
  a.layer = c.planned.layer;
  a.mode = mode;
  a.timeout_s = c.planned.timeout_s;
  a.run.check = c.planned.check;
  a.run.params = c.planned.params;
  a.run.timeout_s = c.planned.timeout_s;
  // From the id alone: the same case draws the same data wherever and whenever it runs.
  a.run.seed = Fnv1a(c.planned.ref.id) >> 1;
  if (const auto h = histories_.find(case_index); h != histories_.end()) {
    a.attempt = h->second.attempts + 1;
    a.run.skip_steps = h->second.skip_steps;
  }
  return a;
}

void Runner::Fill(Slot* slot) {
  std::vector<Effect> effects;
  const int64_t now = MonotonicNs();
  Lane* lane = slot->lane;
  const auto take = [&](Lane* from) {
    while (!from->ready.empty() && slot->worker->queued() < kRunsAhead && slot->worker->accepting())
      slot->worker->Assign(MakeAssignment(scheduler_.Take(from, false), AttemptMode::kShared), now, &effects);
  };
  if (options_.isolation == Isolation::kNone) {
    for (Lane* l : scheduler_.ReadyLanes()) take(l);
  } else {
    take(lane);
  }
  Apply(slot, &effects, now);
}

}  // namespace cudnn_ci
