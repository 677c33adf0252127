// Several processes on one GPU: how many, who is started when, and who gets which cases.
//
// cuDNN answers what it offers and builds plans on one core, and a case waits for its own runs: in one
// process most of a GPU and of its host is idle. What a second process costs is a context.
#include "exec/schedule/sharing.h"

#include <algorithm>
#include <utility>

#include "exec/schedule/dispatcher.h"
#include "model/record/facts.h"
#include "model/record/run_subjects.h"

namespace cudnn_ci {
namespace {

constexpr size_t kRunsAhead = 16;  // hides the round trip; more would only lengthen what a crash gives back
// Of what is handed to one of several: cases that stand together in the plan often share a shape, and so a
// reference; and at the end none shall have many left while others have none.
constexpr size_t kMostAtOnce = 8;

// The default number. Building a plan keeps a processor busy; contexts are made one after the other.
constexpr int kMostByItself = 10;
constexpr int64_t kDeviceBytesEach = int64_t{7} << 30;
// Of processes with one case each: a framework, its compilers, and the processes that it starts.
constexpr int kMostCases = 4;
constexpr int64_t kDeviceBytesOfCase = int64_t{12} << 30;
constexpr size_t kCasesEach = 48;      // in the plan, not slow; fewer are done before a context stands
constexpr size_t kWorthAContext = 32;  // that are still to be done

// That many of these there are; at most a thousand, as of all that is said by the command line.
int Times(int64_t all, int64_t each) {
  return each <= 0 ? 1000 : static_cast<int>(std::clamp<int64_t>(all / each, 0, 1000));
}

// That have enough to do: one for each slow case, which takes longer than a context, and those for the
// others.
size_t WorkersWorthStarting(const SharingRoom& room) {
  if (room.process_each) return room.cases;
  const size_t others = room.cases - room.slow;
  return std::max(room.queues, room.slow + (others > 0 ? std::max<size_t>(1, others / kCasesEach) : 0));
}

}  // namespace

int ProcessesThatFit(const SharingRoom& room) {
  const int64_t device_bytes_each = room.process_each ? kDeviceBytesOfCase : kDeviceBytesEach;
  int most = std::min((room.jobs - 1) / room.devices, Times(static_cast<int64_t>(room.cases), 1));
  if (room.asked > 0) return std::clamp(room.asked, 1, std::max(1, most));
  for (const int limit : {room.process_each ? kMostCases : kMostByItself, room.processors / room.devices,
                          Times(room.device_bytes, device_bytes_each) - 1,
                          Times(room.host_bytes, room.host_bytes_each) / room.devices - 1,
                          Times(static_cast<int64_t>(WorkersWorthStarting(room)), 1)})
    most = std::min(most, limit);
  return std::max(1, most);
}

bool AreWorthTheirContexts(size_t workers, size_t work) { return work >= workers * workers; }

int ThreadsEach(int processors, bool quota, int sharers) {
  return std::clamp((quota ? 1 : 2) * processors / sharers, 1, std::max(1, processors));
}

// By what is known when the run begins, so that every worker can be told how many they may be. What NVML does
// not tell (inside MIG) cannot be shared out.
int Dispatcher::WorkersThatFit(const CaseQueue& queue, SharingRoom room) const {
  if (options_.isolation != Isolation::kShared || queue.co_scheduled || queue.concurrent == 0) return 1;
  if (!HasRoom(options_.facts, queue.device, 0, false)) return 1;
  room.asked = options_.workers_per_gpu;
  room.jobs = options_.jobs;
  room.devices = std::max(1, static_cast<int>(options_.devices.size()));
  room.processors = options_.processors;
  room.device_bytes = FactsOfGpu(options_.facts, queue.device).memory_free_bytes.value_or(0);
  room.host_bytes = host_room_;
  room.process_each = !queue.shared;
  room.host_bytes_each = options_.co_scheduled_host_bytes / (queue.shared ? 2 : 1);
  return ProcessesThatFit(room);
}

int Dispatcher::MostWorkersOf(const CaseQueue& queue) const {
  SharingRoom room;
  room.cases = queue.concurrent;
  room.slow = queue.slow;
  return WorkersThatFit(queue, room);
}

int Dispatcher::MostWorkersOnDevice(const CaseQueue& queue) const {
  SharingRoom room;
  room.queues = 0;
  for (const CaseQueue* of_group : queue.group->queues) {
    room.queues += of_group->concurrent > 0;
    room.cases += of_group->concurrent;
    room.slow += of_group->slow;
  }
  return WorkersThatFit(queue, room);
}

std::vector<WorkerSlot*> Dispatcher::WarmWorkersOf(const CaseQueue* queue) {
  std::vector<WorkerSlot*> out;
  for (auto& [id, slot] : slots_)
    if ((slot.queue == queue || options_.isolation == Isolation::kNone) && slot.worker->shared() &&
        slot.worker->accepting())
      out.push_back(&slot);
  return out;
}

// No worker joins while a warm one is about to end or under suspicion: the canary that decides has the device
// for itself, and so has what comes after it.
const SharingGroup* Dispatcher::Joinable(const CaseQueue* queue) const {
  if (!queue || queue->single > 0 || devices_->NeedsCanary(queue->device)) return nullptr;
  int workers = 0;
  for (const auto& [id, slot] : slots_) {
    if (!slot.queue || slot.queue->group != queue->group || slot.prewarmed) continue;
    if (!slot.worker->shared() && slot.sharing == 1) continue;  // alone
    if (slot.queue->single > 0 || slot.canary_pending) return nullptr;
    if (slot.worker->shared() && !slot.worker->accepting()) return nullptr;
    ++workers;
  }
  return workers < MostWorkersOnDevice(*queue) ? queue->group : nullptr;
}

// 1 for each case that no worker has yet, kSlowCase for a slow one.
size_t Dispatcher::ReadyWork(const CaseQueue& queue) const {
  size_t work = 0;
  for (const size_t i : queue.ready) work += plan_.cases[i].slow ? kSlowCase : 1;
  return work;
}

// The workers have about as much again as is ready, so that twice that counts.
bool Dispatcher::EndsEarly(const WorkerSlot& slot, size_t workers) const {
  if (AreWorthTheirContexts(workers, 2 * slot.queue->ready.size())) return false;  // without counting
  return options_.workers_per_gpu == 0 && slot.sharing > 1 && workers > 1 && !slot.prewarmed &&
         !slot.canary_pending && !AreWorthTheirContexts(workers, 2 * ReadyWork(*slot.queue));
}

void Dispatcher::AssignTo(CaseQueue* queue, const std::vector<WorkerSlot*>& workers) {
  bool serving = false;
  size_t left = workers.size();
  for (WorkerSlot* slot : workers) {
    if (!TakeLease(slot)) continue;
    // One after the other: contexts end as slowly as they begin, and the other workers compute meanwhile.
    if (EndsEarly(*slot, left)) {
      if (slot->worker->idle()) Shutdown(slot);
      --left;
      continue;
    }
    serving = true;
    if (!slot->canary_pending) AssignNext(slot);
  }
  if (!serving) return MakeRoom(queue);
  if (static_cast<int>(workers.size()) < MostWorkersOf(*queue)) StartAnother(queue);
}

// It only saves time: not in the last free slot, and without ending a worker.
void Dispatcher::StartAnother(CaseQueue* queue) {
  const size_t work = ReadyWork(*queue);
  const bool worth =
      options_.workers_per_gpu > 0
          ? work > 0
          : work >= kWorthAContext && AreWorthTheirContexts(WarmWorkersOf(queue).size() + 1, work);
  if (!worth || pool_->live() + 1 >= options_.jobs || !may_prewarm_) return;
  if (!start_failure_.empty() || !Joinable(queue) || !PluginsUnchanged(queue->plugins)) return;
  // Those that wait for their turn have a place as well.
  const auto of_group = [queue](const auto& s) {
    return s.second.queue && s.second.queue->group == queue->group && s.second.worker->shared();
  };
  if (std::count_if(slots_.begin(), slots_.end(), of_group) >= MostWorkersOnDevice(*queue)) return;
  WorkerSlot* slot = StartWorker(queue, queue->device, std::nullopt, true);
  if (slot && TakeLease(slot)) AssignNext(slot);
}

// The further workers of the queue that comes next on a device, and the first ones of the other queues of its
// group: they start the driver, which takes as long as a context, while the check before them still runs.
void Dispatcher::PrepareOthers() {
  for (WorkerSlot* slot : Slots()) {
    CaseQueue* queue = slot->queue;
    if (!slot->prewarmed || slot->prepared || slot->sharing == 1 || queue->single > queue->leading) continue;
    if (!scheduler_->IsNext(queue->first) && !MayWarmBeside(queue->device)) continue;
    if (!helped_.insert(queue->group).second) continue;
    std::vector<CaseQueue*> wanting;
    for (CaseQueue* other : queue->group->queues)
      if (other->concurrent > 0 && !scheduler_->IsFinished(other->first) && WarmWorkersOf(other).empty())
        wanting.push_back(other);
    wanting.insert(wanting.end(), static_cast<size_t>(MostWorkersOf(*queue) - 1), queue);
    wanting.resize(std::min(wanting.size(), static_cast<size_t>(slot->sharing - 1)));
    for (CaseQueue* of : wanting)
      if (pool_->live() + 1 < options_.jobs && may_prewarm_ && PluginsUnchanged(of->plugins))
        StartWorker(of, of->device, std::nullopt, true);
  }
}

// Of several warm workers those that the others' last cases leave nothing to do: a context ends as slowly as
// it begins, and one after the other. And those that wait for their turn, if all of their cases are blocked.
void Dispatcher::EndNeedless() {
  std::map<const CaseQueue*, size_t> given;  // cases that a process has, by queue
  for (const auto& [id, slot] : slots_) given[slot.queue] += slot.worker->queued();
  for (WorkerSlot* slot : Slots()) {
    const CaseQueue* queue = slot->queue;
    if (!slot->worker->shared() || !queue || !queue->empty()) continue;
    if (!slot->prewarmed && (slot->sharing == 1 || given[queue] == 0)) continue;
    if (!slot->worker->idle() || slot->worker->ending() || slot->canary_pending) continue;
    size_t open = 0;
    for (size_t i = queue->first; i < plan_.cases.size() && open <= given[queue]; ++i)
      open += scheduler_->QueueOf(i) == queue && !scheduler_->IsFinished(i);
    if (open == given[queue]) Shutdown(slot);
  }
}

// What it has prepared comes first.
size_t Dispatcher::NextOf(WorkerSlot* slot, const CaseQueue& from, const Portions::IsSlow& comes_first) {
  const std::optional<size_t> prepared = std::exchange(slot->ahead, std::nullopt);
  if (prepared && std::count(from.ready.begin(), from.ready.end(), *prepared) > 0) return *prepared;
  if (slot->sharing == 1) return from.ready.front();
  return portions_[&from].Next(slot->worker->id(), from.ready, comes_first);
}

void Dispatcher::AssignNext(WorkerSlot* slot) {
  CaseWorker* worker = slot->worker;
  // What others wait for comes first, and then what takes long.
  const auto comes_first = [this](size_t i) { return plan_.cases[i].slow || scheduler_->IsAwaited(i); };
  size_t ahead = kRunsAhead;
  if (slot->sharing > 1) {
    if (worker->queued() > 1) return;
    const std::deque<size_t>& ready = slot->queue->ready;
    const size_t left = ready.size() / (2 * static_cast<size_t>(slot->sharing));
    ahead = worker->queued() + std::clamp<size_t>(left, 1, kMostAtOnce);
    // Whoever is free first shall have it.
    if (std::any_of(ready.begin(), ready.end(), comes_first)) ahead = 1;
  }
  pool_->Do(worker, [&](int64_t now, Effects* out) {
    const auto take = [&](CaseQueue* from) {
      while (!from->ready.empty() && worker->queued() < ahead && worker->accepting()) {
        const size_t next = NextOf(slot, *from, comes_first);
        scheduler_->TakeReady(from, next);
        worker->Assign(AssignmentOf(next, true), now, out);
      }
    };
    if (options_.isolation != Isolation::kNone) return take(slot->queue);
    for (CaseQueue* queue : scheduler_->ReadyQueues()) take(queue);
  });
}

// The subject's, and what is the process's own. One more share of memory is for what runs concurrently.
FactMap Dispatcher::FactsFor(const WorkerSlot& slot, const std::string& subject) const {
  const auto found = options_.facts.by_subject.find(subject);
  FactMap facts = found == options_.facts.by_subject.end() ? FactMap{} : found->second;
  facts = WithRunSubjects(std::move(facts), options_.subjects);
  if (slot.sharing == 1) return WithoutShare(std::move(facts));
  const int sharers = slot.sharing * std::max(1, static_cast<int>(options_.devices.size()));
  const int64_t free_bytes = FactsOfGpu(options_.facts, slot.device).memory_free_bytes.value_or(0);
  return WithShare(std::move(facts),
                   {.processors = ThreadsEach(options_.processors, options_.processor_quota, sharers),
                    .device_bytes = free_bytes / (slot.sharing + 1),
                    .host_bytes = host_room_ / (sharers + 1)});
}

}  // namespace cudnn_ci
