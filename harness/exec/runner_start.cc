// How a worker begins: its environment, its plugins, what it is told first.
#include <stdlib.h>

#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "exec/proc.h"
#include "exec/runner.h"

extern char** environ;

namespace cudnn_ci {
namespace {

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

std::vector<std::string> Runner::Environment(const Lane* lane, const std::string& device) const {
  std::vector<std::string> env;
  for (char** e = environ; *e; ++e) env.emplace_back(*e);
  for (const SubjectInfo& s : options_.subjects)
    if (lane && s.name == lane->subject && s.spec.compare(0, 5, "path:") == 0) {
      const char* before = getenv("LD_LIBRARY_PATH");
      SetVariable(&env, "LD_LIBRARY_PATH",
                  s.spec.substr(5) + (before && *before ? ":" + std::string(before) : ""));
    }
  if (lane && lane->hide_devices && options_.isolation != Isolation::kNone)
    SetVariable(&env, "CUDA_VISIBLE_DEVICES", "");
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

// The plugins a worker loads: those of its lane, one for a case that runs alone, any one for a canary.
std::vector<std::string> Runner::PluginFiles(const std::set<std::string>& plugins) const {
  std::vector<std::string> files;
  for (const PluginInfo& p : catalog_.plugins)
    if (options_.isolation == Isolation::kNone || plugins.count(p.name)) files.push_back(p.path);
  if (files.empty() && !catalog_.plugins.empty()) files.push_back(catalog_.plugins.front().path);
  return files;
}

bool Runner::StartWorker(Lane* lane, const std::string& wanted_device, std::optional<size_t> alone_case,
                         bool early) {
  // One process for everything sees one device, too.
  const bool one_process = options_.isolation == Isolation::kNone;
  const std::string device =
      one_process && !options_.devices.empty() ? options_.devices[0].name : wanted_device;
  std::set<std::string> plugins = lane ? lane->plugins : std::set<std::string>{};
  if (alone_case) plugins = {plan_.cases[*alone_case].planned.plugin};
  WorkerCommand command;
  command.worker_path = options_.worker_path;
  command.plugins = PluginFiles(plugins);
  command.env = Environment(lane, device);
  command.inherit_output = one_process;
  Result<WorkerProcess> process = WorkerProcess::Start(control_, command);
  if (!process.ok()) {
    // No process can be had: the run cannot go on, and says so.
    spawn_failed_ = stop_dispatch_ = true;
    Emit(FindingReported{{}, HarnessFinding("worker-not-started", process.error())});
    return false;
  }
  const int64_t now = MonotonicNs();
  const bool shared = !alone_case && lane && lane->shared;
  Slot* slot = AddSlot(std::move(*process), lane, device, plugins, shared);
  slot->early = early;
  if (!early) scheduler_.Lease(device, slot->worker->id());
  for (const wire::Configure& c : Configuration(lane, device))
    slot->process.Send(wire::Encode(wire::ToWorker(c)));
  if (alone_case) slot->reserved = MakeAssignment(*alone_case, ModeOf(*alone_case));
  std::vector<Effect> effects;
  if (early) {
    slot->process.Send(wire::Encode(wire::ToWorker(wire::Warm{})));
  } else if (NeedsCanaryFirst(device)) {
    slot->canary_pending = true;
    slot->worker->RequestCanary(now, &effects);
  } else if (slot->reserved) {
    slot->worker->Assign(std::move(*slot->reserved), now, &effects);
    slot->reserved.reset();
  }
  Apply(slot, &effects, now);
  if (shared && !early && !slot->canary_pending) Fill(slot);
  return true;
}

Runner::Slot* Runner::AddSlot(WorkerProcess process, Lane* lane, const std::string& device,
                              const std::set<std::string>& plugins, bool shared) {
  const int64_t now = MonotonicNs(), id = next_worker_++;
  const pid_t pid = process.pid();
  auto owned = std::make_unique<Slot>();
  Slot* slot = owned.get();
  slot->process = std::move(process);
  slot->lane = lane;
  slot->device = device;
  slot->next_watch_ns = now + 100'000'000;
  WorkerLimits limits = options_.limits;
  if (options_.isolation == Isolation::kNone) limits.timeouts = false;
  const auto declared = [this, plugins](const std::string& slug) -> const FindingInfo* {
    for (const PluginInfo& p : catalog_.plugins) {
      if (!plugins.count(p.name) && options_.isolation != Isolation::kNone) continue;
      for (const FindingInfo& f : p.findings)
        if (f.slug == slug) return &f;
    }
    return nullptr;
  };
  slot->worker = std::make_unique<Worker>(
      id, shared, limits, declared, [pid] { return DescribeProcess(pid); }, now);
  slots_[id] = std::move(owned);
  Emit(WorkerStarted{id, pid, Join({plugins.begin(), plugins.end()}, ","), lane ? lane->subject : "", device,
                     shared});
  return slot;
}

bool Runner::NeedsCanaryFirst(const std::string& device) const {
  const auto state = device_states_.find(device);
  return state != device_states_.end() && state->second.suspect && DeviceCanBeTested(device);
}

AttemptMode Runner::ModeOf(size_t case_index) const {
  const auto h = histories_.find(case_index);
  if (h == histories_.end()) return AttemptMode::kAlone;
  if (h->second.suspicion && !h->second.decisive) return AttemptMode::kConfirm;
  return h->second.retries > 0 ? AttemptMode::kRetry : AttemptMode::kAlone;
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

}  // namespace cudnn_ci
