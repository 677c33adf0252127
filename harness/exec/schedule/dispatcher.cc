#include "exec/schedule/dispatcher.h"

#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "exec/schedule/launch.h"
#include "exec/system/plugin_file.h"

namespace cudnn_ci {
namespace {

// What one of these plugins may report (null: any of them); null where none has declared it.
const FindingInfo* FindDeclared(const Catalog& catalog, const std::set<std::string>* plugins,
                                const std::string& slug) {
  for (const PluginInfo& p : catalog.plugins)
    if (!plugins || plugins->count(p.name))
      for (const FindingInfo& f : p.findings)
        if (f.slug == slug) return &f;
  return MayBeReported(slug) ? FindHarnessFinding(slug) : nullptr;
}

}  // namespace

Dispatcher::Dispatcher(const Plan& plan, const Catalog& catalog, const RunnerOptions& options, Pool* pool,
                       Scheduler* scheduler, DeviceTable* devices, Cases* cases, SecondOpinions* opinions,
                       Slowness* slowness, std::function<void(const EventBody&)> emit)
    : plan_(plan),
      catalog_(catalog),
      options_(options),
      pool_(pool),
      scheduler_(scheduler),
      devices_(devices),
      cases_(cases),
      opinions_(opinions),
      slowness_(slowness),
      emit_(std::move(emit)),
      known_packets_(KnownPackets(options.compatibility, false)),
      known_with_adapters_(KnownPackets(options.compatibility, true)),
      host_room_(pool->MemoryRoom()) {
  const CaseQueue* last = nullptr;
  for (size_t i = 0; i < plan.cases.size(); ++i) {
    const CaseQueue* queue = scheduler->QueueOf(i);
    if (plan.cases[i].prepared && !queue->shared) preparable_.push_back(i);
    if (queue != last) slots_of_devices_ = std::max(slots_of_devices_, MostWorkersOnDevice(*queue));
    last = queue;
  }
  slots_of_devices_ *= std::max(1, static_cast<int>(options.devices.size()));
}

std::vector<WorkerSlot*> Dispatcher::Slots() {
  std::vector<WorkerSlot*> out;
  for (auto& [id, slot] : slots_) out.push_back(&slot);
  return out;
}

WorkerSlot Dispatcher::Release(int64_t worker) {
  devices_->Release(worker);
  WorkerSlot slot = std::move(slots_.at(worker));
  slots_.erase(worker);
  for (auto& [queue, portions] : portions_) portions.Release(worker);
  return slot;
}

void Dispatcher::Dispatch(bool stopping) {
  DispatchCanaries(stopping);
  if (stopping) return EndIdle();
  for (CaseQueue* queue : scheduler_->ReadyQueues()) DispatchQueue(queue);
  DispatchCrossDeviceRetries();
  Prepare();
  DispatchRepetition();
  EndNeedless();
  if (scheduler_->open() == 0) EndIdle();
}

void Dispatcher::DispatchCanaries(bool stopping) {
  const std::vector<CaseQueue*> queues = scheduler_->ReadyQueues();
  for (const std::string& device : devices_->WaitingForCanary()) {
    if (pool_->live() >= options_.jobs) return;
    // Whoever uses the device next begins with the canary; a process for it alone only if there is none.
    // What waits for the result that waits does not come.
    const auto uses = [&](CaseQueue* queue) { return queue->device == device && !MustYield(queue); };
    if (!stopping && std::any_of(queues.begin(), queues.end(), uses)) continue;
    if (!StartWorker(nullptr, device, std::nullopt, false)) untested_device_ = device;
  }
}

void Dispatcher::DispatchQueue(CaseQueue* queue) {
  if (queue->empty()) return;
  if (queue->shared && !queue->ready.empty() && !MustYield(queue))
    if (const std::vector<WorkerSlot*> workers = WarmWorkersOf(queue); !workers.empty())
      return AssignTo(queue, workers);
  if (!start_failure_.empty()) return;
  // What was asked to run alone goes first; a device's shared worker was shut down for it by MakeRoom.
  const bool alone = !queue->alone.empty();
  if (!alone && (MustYield(queue) || MustComeLater(*queue))) return;
  const Use use = UseOf(*queue, alone);
  const size_t next = alone ? queue->alone.front() : queue->ready.front();
  WorkerSlot* prepared = alone ? nullptr : PreparedFor(next);
  if (!prepared && pool_->live() >= options_.jobs) return MakeRoom(queue);
  if (!devices_->CanLease(queue->device, use, Joinable(queue))) return MakeRoom(queue, use);
  if (prepared) return BeginPrepared(prepared, queue);
  const bool shared = queue->shared && !alone;
  if (!PluginsUnchanged(shared ? queue->plugins : std::set{plan_.cases[next].planned.plugin})) return;
  if (shared)
    StartWorker(queue, queue->device, std::nullopt, false);
  else
    StartWorker(queue, queue->device, scheduler_->Take(queue, alone), false, use);
}

// Warm workers that are no longer needed.
void Dispatcher::EndIdle() {
  for (WorkerSlot* slot : Slots())
    if (slot->worker->idle() && !slot->worker->ending()) Shutdown(slot);
}

void Dispatcher::Shutdown(WorkerSlot* slot) {
  if (slot->OnlyPrepares()) return CancelPrepared(slot);
  pool_->Do(slot->worker, [&](int64_t now, Effects* out) { slot->worker->Shutdown(now, out); });
}

void Dispatcher::BeginWithCanary(WorkerSlot* slot) {
  slot->canary_pending = true;
  pool_->Do(slot->worker, [&](int64_t now, Effects* out) { slot->worker->RequestCanary(now, out); });
}

// An idle warm worker holds a slot, perhaps a device: it goes when a queue that cannot start needs either. Of
// several that hold the device all go at once.
void Dispatcher::MakeRoom(const CaseQueue* wanting, Use use) {
  bool needs_slot = pool_->live() >= options_.jobs;
  for (WorkerSlot* slot : Slots()) {
    const bool drop = slot->prepared && slot->queue != wanting && !slot->worker->ending();
    if (drop && needs_slot) return CancelPrepared(slot);
    if (!slot->worker->shared() || !slot->worker->idle() || slot->worker->ending()) continue;
    if (slot->canary_pending || slot->prewarmed) continue;
    if (slot->queue && !slot->queue->ready.empty() && !MustYield(slot->queue)) continue;
    // A warm worker is no hindrance to what runs concurrently.
    const bool together = use == Use::kCoScheduled && slot->queue && !slot->queue->co_scheduled;
    const bool holds_device =
        !together && !slot->device.empty() &&
        (slot->device == wanting->device || wanting->device == "*" || slot->device == "*");
    if (!holds_device && !needs_slot) continue;
    Shutdown(slot);
    if (!holds_device) return;
    needs_slot = false;  // its is free then
  }
}

const SubjectInfo* Dispatcher::SubjectOf(const CaseQueue* queue) const {
  for (const SubjectInfo& s : options_.subjects)
    if (queue && s.name == queue->subject) return &s;
  return nullptr;
}

// The plugins a worker loads: those of its queue, one for a case that runs alone, any one for a canary.
WorkerCommand Dispatcher::Command(const CaseQueue* queue, const WorkerSlot& slot) const {
  const bool one_process = options_.isolation == Isolation::kNone;
  WorkerCommand command;
  command.worker_path = options_.worker_path;
  for (const PluginInfo& p : catalog_.plugins)
    if ((one_process || slot.plugins.count(p.name)) && !changed_.count(p.name)) {
      command.plugins.push_back(p.path);
      if (p.third_party) command.third_party.push_back(p.path);
    }
  if (command.plugins.empty() && !catalog_.plugins.empty())
    command.plugins.push_back(PluginOfCanary(catalog_).path);
  // One visible device, by UUID: cuInit takes five times as long with four of them visible.
  const std::vector<std::string> uuids = UuidsOf(slot.device);
  const bool hide = queue && queue->hide_devices && !one_process;
  command.env = WorkerEnvironment(SubjectOf(queue), hide || !uuids.empty() ? &uuids : nullptr);
  if (slot.sharing > 1 && slot.worker->shared()) TuneForSharing(&command.env);
  command.for_debugger = one_process;
  return command;
}

void Dispatcher::Configure(const WorkerSlot& slot) {
  wire::Configure c;
  const SubjectInfo* subject = SubjectOf(slot.queue);
  if (!subject && !options_.subjects.empty()) subject = options_.subjects.data();
  if (subject) {
    c.subject_name = subject->name;
    c.subject_spec = subject->spec;
    c.subject_folders = FoldersOf(*subject);
  }
  const std::vector<std::string> uuids = UuidsOf(slot.device);
  if (slot.device != "*" && !uuids.empty()) c.device_uuid = uuids[0];
  c.scratch_dir = pool_->Scratch(*slot.worker).path();
  const FactMap facts = FactsFor(slot, c.subject_name);
  std::map<std::string, std::string> contract = options_.contract;
  if (const auto lacks = options_.unpromised.find(c.subject_name); lacks != options_.unpromised.end())
    for (const std::string& key : lacks->second)
      if (contract.erase(key) == 0) contract[key] = "true";  // of a part of a promise
  const bool adapters = options_.isolation == Isolation::kNone || slot.plugins.count(kPluginOfAdapters) > 0;
  pool_->Do(slot.worker, [&](int64_t, Effects* out) {
    for (wire::Configure& m : Configuration(c, contract, &facts))
      out->emplace_back(SendPacket{wire::Encode(wire::ToWorker(std::move(m)))});
    for (const std::string& packet : adapters ? known_with_adapters_ : known_packets_)
      out->emplace_back(SendPacket{packet});
  });
}

bool Dispatcher::PluginsUnchanged(const std::set<std::string>& plugins) {
  const bool one_process = options_.isolation == Isolation::kNone;
  bool same = true;
  for (const PluginInfo& p : catalog_.plugins) {
    if (!one_process && !plugins.count(p.name)) continue;
    // One that changed is told of once; its cases end as soon as this turn is over.
    if (!changed_.count(p.name)) {
      const std::string change = ChangeOf(p.file, p.path);
      if (change.empty()) continue;
      changed_[p.name] = change;
    }
    same = false;
  }
  // The one process would load them all.
  if (one_process && !same)
    for (const PluginInfo& p : catalog_.plugins) changed_.emplace(p.name, changed_.begin()->second);
  return same;
}

WorkerSlot* Dispatcher::StartWorker(CaseQueue* queue, const std::string& device,
                                    std::optional<size_t> alone_case, bool prewarmed, Use use) {
  const bool one_process = options_.isolation == Isolation::kNone;
  WorkerSlot slot;
  slot.queue = queue;
  // One process for everything sees one device, too.
  slot.device = one_process && !options_.devices.empty() ? options_.devices[0].name : device;
  if (queue) slot.plugins = queue->plugins;
  if (alone_case) slot.plugins = {plan_.cases[*alone_case].planned.plugin};
  WorkerLimits limits = options_.limits;
  limits.timeouts = limits.timeouts && !one_process;
  const auto declared = [this, one_process, plugins = slot.plugins](const std::string& slug) {
    return FindDeclared(catalog_, one_process ? nullptr : &plugins, slug);
  };
  const bool shared = !alone_case && queue && queue->shared;
  if (shared || use == Use::kShared) slot.sharing = MostWorkersOnDevice(*queue);
  auto owned = std::make_unique<CaseWorker>(shared, limits, declared);
  slot.worker = owned.get();
  WorkerCommand command = Command(queue, slot);
  // cuInit decides whether the driver keeps what it compiles, and the check that this process is
  // prepared for may want to see the compilers work.
  if (prewarmed && alone_case) SetVariable(&command.env, "CUDA_CACHE_DISABLE", "1");
  const Result<Worker*> started = pool_->Start(command, std::move(owned));
  if (!started.ok()) {
    // What only saves time may fail: where processes are short, the ones that are needed come first.
    if (prewarmed)
      may_prewarm_ = false;
    else
      start_failure_ = started.error();
    return nullptr;
  }
  const int64_t id = (*started)->id();
  WorkerSlot* taken = &(slots_[id] = std::move(slot));
  taken->prewarmed = prewarmed;
  if (!prewarmed)
    devices_->Lease(taken->device, id, shared ? UseOf(*queue, false) : use, queue ? queue->group : nullptr);
  emit_(WorkerStarted{id, pool_->Pid(**started), Join({taken->plugins.begin(), taken->plugins.end()}, ","),
                      queue ? queue->subject : "", taken->device, shared, taken->sharing});
  Configure(*taken);
  if (prewarmed) {
    taken->prepared = alone_case;
    BeginPrewarmed(taken);
    return taken;
  }
  if (alone_case) taken->reserved = AssignmentOf(*alone_case, false);
  if (taken->reserved && taken->IsBesideOthers()) taken->reserved->mode = AttemptMode::kConcurrent;
  if (alone_case && opinions_->IsWaiting(*alone_case)) taken->cross_device = alone_case;
  if (devices_->NeedsCanary(taken->device)) {
    BeginWithCanary(taken);
  } else {
    ResumeAfterCanary(taken);
    if (shared) AssignNext(taken);
  }
  return taken;
}

void Dispatcher::ResumeAfterCanary(WorkerSlot* slot) {
  slot->canary_pending = false;
  if (slot->reserved) {
    pool_->Do(slot->worker,
              [&](int64_t now, Effects* out) { slot->worker->Assign(std::move(*slot->reserved), now, out); });
    slot->reserved.reset();
  } else if (!slot->queue) {
    Shutdown(slot);
  }
}

Assignment Dispatcher::AssignmentOf(size_t case_index, bool shared) const {
  return MakeAssignment(case_index, plan_.cases[case_index], cases_->NextOf(case_index), shared);
}

}  // namespace cudnn_ci
