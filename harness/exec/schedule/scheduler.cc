#include "exec/schedule/scheduler.h"

#include <algorithm>

namespace cudnn_ci {
namespace {

std::string QueueDevice(const Case& c) {
  if (c.devices == Devices::kOne) return c.planned.ref.device;
  return c.devices == Devices::kAll ? "*" : "";
}

// Cases that may share warm workers.
bool IsShared(const Case& c) { return c.shareable && c.devices == Devices::kOne && !IsCoScheduled(c); }

bool MayShareProcess(const Case& a, const Case& b) {
  return a.planned.plugin == b.planned.plugin || (!a.third_party && !b.third_party);
}

constexpr const char* kPool = "\tpool";
constexpr const char* kConcurrent = "\tconcurrent";

// The cases that go together. A queue for the concurrent checks of each plugin would leave workers idle at
// its end and cost a context for each worker of the next.
std::string GroupOf(const Case& c) {
  if (c.third_party) return c.planned.plugin;
  if (c.pooled) return kPool;
  return IsShared(c) && c.concurrent ? kConcurrent : c.planned.plugin;
}

}  // namespace

bool IsCoScheduled(const Case& c) {
  return c.shareable && c.devices == Devices::kOne && c.planned.layer == Layer::kFramework;
}

Scheduler::Scheduler(const Plan& plan, Isolation isolation)
    : plan_(plan),
      state_(plan.cases.size(), State::kWaiting),
      leads_(plan.cases.size(), false),
      alone_(plan.cases.size(), false),
      reported_(plan.cases.size(), false),
      waiting_for_(plan.cases.size(), 0),
      blocker_(plan.cases.size(), kNobody),
      dependents_(plan.cases.size()),
      queue_of_(plan.cases.size()),
      open_(plan.cases.size()) {
  // A pooled case that looks at no library joins the pool of the first subject.
  std::string pool_subject;
  for (const Case& c : plan.cases)
    if (c.pooled && pool_subject.empty()) pool_subject = c.planned.subject;
  const std::vector<size_t> followers = Followers();
  for (size_t i = 0; i < plan.cases.size(); ++i) {
    const Case& c = plan.cases[i];
    const size_t like = isolation == Isolation::kShared ? followers[i] : i;
    const Case& kind = plan.cases[like];
    const std::string group = isolation == Isolation::kShared ? GroupOf(kind) : kind.planned.plugin;
    queue_of_[i] = &QueueFor(i, like, isolation, group, pool_subject);
    open_on_devices_ += !queue_of_[i]->device.empty();
    queue_of_[i]->concurrent += c.concurrent;
    queue_of_[i]->slow += c.concurrent && c.slow;
    queue_of_[i]->single += !c.concurrent;
    leads_[i] = like != i;
    queue_of_[i]->leading += leads_[i];
    for (const size_t p : c.prerequisites) dependents_[p].push_back(static_cast<uint32_t>(i));
    waiting_for_[i] = static_cast<uint32_t>(c.prerequisites.size());
  }
  for (size_t i = 0; i < plan.cases.size(); ++i) {
    open_prerequisites_ += !dependents_[i].empty();
    if (!queue_of_[i]->shared && !queue_of_[i]->device.empty()) exclusive_.push_back(i);
    for (const size_t p : plan.cases[i].prerequisites)
      if (!queue_of_[p]->shared && queue_of_[p]->device == queue_of_[i]->device)
        queue_of_[i]->exclusive_prerequisites.insert(p);
    if (plan.cases[i].prerequisites.empty() && !plan.cases[i].predetermined) MakeReady(i);
  }
}

// A context costs up to 400 ms, and the driver makes them one after the other. So a check that others need
// has none, unless it loads libraries: they would be given its copies, and not those that they
// find themselves.
std::vector<size_t> Scheduler::Followers() const {
  std::vector<size_t> out(plan_.cases.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = i;
  for (size_t i = 0; i < out.size(); ++i) {
    const Case& c = plan_.cases[i];
    if (!c.shareable || c.devices != Devices::kOne || IsCoScheduled(c)) continue;
    for (const size_t p : c.prerequisites) {
      const Case& before = plan_.cases[p];
      if (before.leading && out[p] == p && QueueDevice(before) == QueueDevice(c) &&
          MayShareProcess(before, c))
        out[p] = i;
    }
  }
  return out;
}

CaseQueue& Scheduler::QueueFor(size_t i, size_t like, Isolation isolation, const std::string& group,
                               const std::string& pool_subject) {
  const Case& c = plan_.cases[like];
  const bool pooled = isolation == Isolation::kShared && c.pooled;
  const bool shared =
      isolation == Isolation::kNone || pooled || (isolation == Isolation::kShared && c.shareable);
  const std::string device = QueueDevice(c);
  const std::string subject = pooled && c.planned.subject.empty() ? pool_subject : c.planned.subject;
  const bool hide = c.devices == Devices::kNone;
  const bool co_scheduled = isolation == Isolation::kShared && IsCoScheduled(c);
  const std::string kind = group + '\n' + device + '\n' + (shared ? 's' : 'a') + (hide ? 'h' : '-') +
                           (co_scheduled ? 'b' : '-') + (c.concurrent && !shared ? 'c' : '-');
  CaseQueue& queue = queues_[kind + '\n' + subject];
  if (!queue.group) {
    queue.first = i;
    queue.group = &groups_[kind];
    queue.group->queues.push_back(&queue);
  }
  queue.plugins.insert(plan_.cases[i].planned.plugin);
  queue.plugins.insert(c.planned.plugin);
  queue.subject = subject;
  queue.device = device;
  queue.shared = shared;
  queue.hide_devices = hide;
  queue.co_scheduled = co_scheduled;
  return queue;
}

void Scheduler::Insert(size_t i, std::deque<size_t>* queue) const {
  const auto before = [this](size_t a, size_t b) { return PlaceOf(a) < PlaceOf(b); };
  queue->insert(std::upper_bound(queue->begin(), queue->end(), i, before), i);
}

void Scheduler::MakeReady(size_t i) {
  state_[i] = State::kReady;
  Insert(i, alone_[i] ? &queue_of_[i]->alone : &queue_of_[i]->ready);
}

void Scheduler::Close(size_t i) {
  state_[i] = State::kFinished;
  --open_;
  open_on_devices_ -= !queue_of_[i]->device.empty();
  open_prerequisites_ -= !dependents_[i].empty();
  queue_of_[i]->single -= !plan_.cases[i].concurrent;
  queue_of_[i]->leading -= leads_[i];
}

void Scheduler::Reopen(size_t i) {
  state_[i] = State::kRunning;
  ++open_;
  open_on_devices_ += !queue_of_[i]->device.empty();
  open_prerequisites_ += !dependents_[i].empty();
  queue_of_[i]->single += !plan_.cases[i].concurrent;
  queue_of_[i]->leading += leads_[i];
}

std::vector<Scheduler::Ended> Scheduler::FinishPredetermined() {
  std::vector<Ended> out;
  for (size_t i = 0; i < plan_.cases.size(); ++i) {
    if (!plan_.cases[i].predetermined || state_[i] == State::kFinished) continue;
    out.push_back({i, *plan_.cases[i].predetermined});
    const std::vector<Ended> blocked = Finish(i, *plan_.cases[i].predetermined);
    out.insert(out.end(), blocked.begin(), blocked.end());
  }
  return out;
}

// The root of the chain is named, not the link: that is what must be fixed.
Scheduler::Ended Scheduler::Block(uint32_t i) {
  Close(i);
  uint32_t root = blocker_[i];
  while (blocker_[root] != kNobody) root = blocker_[root];
  return {i, Blocked{plan_.cases[root].planned.ref}};
}

std::vector<Scheduler::Ended> Scheduler::Finish(size_t first, const Outcome& outcome) {
  std::vector<Ended> out;
  if (state_[first] == State::kFinished) return out;
  Close(first);
  std::vector<uint32_t> ended = {static_cast<uint32_t>(first)};
  while (!ended.empty()) {
    const uint32_t i = ended.back();
    ended.pop_back();
    if (reported_[i])
      continue;  // a second look (a shared worker's end changed it): what it released runs already
    reported_[i] = true;
    const bool passed = i == first && std::holds_alternative<Passed>(outcome);
    for (const uint32_t d : dependents_[i]) {
      --waiting_for_[d];
      if (state_[d] != State::kWaiting || plan_.cases[d].predetermined) continue;
      if (!passed) blocker_[d] = std::min(blocker_[d], i);
      if (waiting_for_[d] > 0) continue;
      if (blocker_[d] == kNobody) {
        MakeReady(d);
      } else {
        out.push_back(Block(d));
        ended.push_back(d);
      }
    }
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.case_index < b.case_index; });
  return out;
}

std::vector<Scheduler::Ended> Scheduler::FinishBlocked() {
  std::vector<Ended> out;
  // Prerequisites come first in a plan: one pass finds chains, too.
  for (uint32_t i = 0; i < plan_.cases.size(); ++i) {
    if (state_[i] != State::kWaiting || blocker_[i] == kNobody) continue;
    out.push_back(Block(i));
    for (const uint32_t d : dependents_[i])
      if (state_[d] == State::kWaiting && !plan_.cases[d].predetermined)
        blocker_[d] = std::min(blocker_[d], i);
  }
  return out;
}

void Scheduler::Requeue(size_t i, bool alone) {
  if (state_[i] == State::kFinished) Reopen(i);  // a second look at a case that had passed
  if (alone) {
    state_[i] = State::kReady;
    Insert(i, &queue_of_[i]->alone);
  } else {
    MakeReady(i);
  }
}

std::vector<CaseQueue*> Scheduler::ReadyQueues() {
  std::vector<CaseQueue*> out;
  for (auto& [key, queue] : queues_)
    if (!queue.empty()) out.push_back(&queue);
  const auto front = [](const std::deque<size_t>& of) { return of.empty() ? SIZE_MAX : of.front(); };
  const auto next = [&](const CaseQueue* q) { return std::min(front(q->ready), front(q->alone)); };
  std::sort(out.begin(), out.end(), [&](const auto* a, const auto* b) { return next(a) < next(b); });
  return out;
}

bool Scheduler::IsAwaitedBy(const CaseQueue& queue, bool in_use) const {
  const size_t next = queue.ready.empty() ? 0 : queue.ready.front();
  for (const size_t i : exclusive_) {
    if (i >= next) break;
    if (state_[i] == State::kFinished || (in_use && !IsAwaited(i))) continue;
    if (queue_of_[i]->device == queue.device || queue_of_[i]->device == "*") return true;
  }
  return false;
}

bool Scheduler::IsHeldBack(const CaseQueue& queue) const {
  return std::any_of(queue.exclusive_prerequisites.begin(), queue.exclusive_prerequisites.end(),
                     [this](size_t i) { return state_[i] == State::kRunning || IsNext(i); });
}

size_t Scheduler::Take(CaseQueue* queue, bool alone) {
  std::deque<size_t>& from = alone ? queue->alone : queue->ready;
  const size_t i = from.front();
  from.pop_front();
  state_[i] = State::kRunning;
  return i;
}

void Scheduler::TakeReady(CaseQueue* queue, size_t i) {
  std::erase(queue->ready, i);
  state_[i] = State::kRunning;
}

bool Scheduler::IsNext(size_t i) const {
  if (blocker_[i] != kNobody || (state_[i] != State::kWaiting && state_[i] != State::kReady)) return false;
  return std::all_of(plan_.cases[i].prerequisites.begin(), plan_.cases[i].prerequisites.end(),
                     [&](size_t p) { return state_[p] == State::kRunning || state_[p] == State::kFinished; });
}

void Scheduler::LeaveQueue(size_t i) {
  std::erase(queue_of_[i]->ready, i);
  std::erase(queue_of_[i]->alone, i);
}

std::vector<size_t> Scheduler::WithdrawFrom(const std::string& device) {
  std::vector<size_t> out;
  for (auto& [key, queue] : queues_)
    if (queue.device == device || queue.device == "*") {
      queue.ready.clear();
      queue.alone.clear();
    }
  for (size_t i = 0; i < plan_.cases.size(); ++i) {
    const std::string on = QueueDevice(plan_.cases[i]);
    if (state_[i] != State::kFinished && blocker_[i] == kNobody && (on == device || on == "*"))
      out.push_back(i);
  }
  return out;
}

std::vector<size_t> Scheduler::WithdrawPlugin(const std::string& plugin) {
  std::vector<size_t> out;
  for (auto& [key, queue] : queues_) queue.plugins.erase(plugin);
  for (size_t i = 0; i < plan_.cases.size(); ++i) {
    if (plan_.cases[i].planned.plugin != plugin || blocker_[i] != kNobody) continue;
    if (state_[i] != State::kWaiting && state_[i] != State::kReady) continue;
    if (state_[i] == State::kReady) LeaveQueue(i);
    out.push_back(i);
  }
  return out;
}

}  // namespace cudnn_ci
