// Task 0 of nodes_together.h.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "base/text.h"
#include "nccl/node_words.h"
#include "nccl/nodes_together.h"
#include "nccl/rank_team.h"
#include "nccl/ranks_together.h"

namespace cudnn_ci {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostGuests = 64;
constexpr double kGreetsWithin = 5, kStopsWithin = 10;  // seconds
constexpr int kMeetingLookMs = 50;

}  // namespace

struct NodesLeader::Task {
  NodeHello hello;
  std::unique_ptr<NodeLink> link;  // null: it has not come, or is gone
  int first = 0;                   // of its ranks
};

struct NodesLeader::Guest {
  std::unique_ptr<NodeLink> link;
  std::string nonce;
  Clock::time_point since = Clock::now();
};

NodesLeader::NodesLeader(const NodePlace& place, const NodeHello& own)
    : place_(place), own_(own), tasks_(static_cast<std::size_t>(place.tasks)) {
  tasks_[0].hello = own;
}

NodesLeader::~NodesLeader() {
  if (listener_ >= 0) close(listener_);
}

bool NodesLeader::AllThere() const {
  return std::all_of(tasks_.begin() + 1, tasks_.end(), [](const Task& task) { return task.link != nullptr; });
}

Meeting NodesLeader::Meet(double seconds) {
  Meeting meeting;
  try {
    listener_ = ListenOn(place_.port);
  } catch (const std::runtime_error& e) {
    return {Meeting::End::kCannotListen, e.what()};
  }
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!AllThere() && meeting.end == Meeting::End::kAllThere) {
    if (Clock::now() > end) return {Meeting::End::kMissing, Missing(seconds)};
    std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
    for (const auto& guest : guests_) polled.push_back({guest->link->fd(), POLLIN, 0});
    poll(polled.data(), polled.size(), kMeetingLookMs);
    AcceptGuests();
    HearGuests(&meeting);
    // Whoever leaves before all are there may come again.
    for (Task& task : tasks_)
      if (task.link && !task.link->Hear([](const std::string&) {})) task.link.reset();
  }
  if (meeting.end == Meeting::End::kAllThere) NameRanks();
  return meeting;
}

void NodesLeader::AcceptGuests() {
  while (guests_.size() < kMostGuests) {
    std::unique_ptr<NodeLink> link = Accept(listener_);
    if (!link) return;
    auto guest = std::make_unique<Guest>();
    guest->nonce = FreshNonce();
    if (!link->Say(Challenge(guest->nonce))) continue;
    guest->link = std::move(link);
    guests_.push_back(std::move(guest));
  }
}

void NodesLeader::HearGuests(Meeting* meeting) {
  for (auto& guest : guests_) {
    bool heard = false;
    const bool there = guest->link->Hear([&](const std::string& line) {
      if (!heard) Seat(guest.get(), line, meeting);
      heard = true;
    });
    const bool late = Clock::now() - guest->since > std::chrono::duration<double>(kGreetsWithin);
    if (!heard && (!there || late)) ++strangers_;
    if (heard || !there || late) guest.reset();
  }
  guests_.erase(std::remove(guests_.begin(), guests_.end(), nullptr), guests_.end());
}

// A guest that has shown that it knows the secret gets its seat, or is told why not.
void NodesLeader::Seat(Guest* guest, const std::string& line, Meeting* meeting) {
  NodeHello hello;
  std::string nonce;
  if (!ReadGreeting(place_.secret, guest->nonce, line, &nonce, &hello))
    return static_cast<void>(++strangers_);
  std::vector<NodeHello> there;
  for (const Task& task : tasks_)
    if (task.link || &task == tasks_.data()) there.push_back(task.hello);
  const std::string misfit = Misfit(there, hello);
  guest->link->Say(Answer(place_.secret, guest->nonce, nonce, misfit));
  if (!misfit.empty()) {
    *meeting = {Meeting::End::kMismatch, misfit};
    return;
  }
  Task& task = tasks_[static_cast<std::size_t>(hello.task)];
  task.hello = hello;
  task.link = std::move(guest->link);
  task.link->Trust();
  guest->link = nullptr;
}

std::string NodesLeader::Missing(double seconds) const {
  std::string missing, there = NameOf(own_);
  for (std::size_t i = 1; i < tasks_.size(); ++i)
    if (tasks_[i].link)
      there += ", " + NameOf(tasks_[i].hello);
    else
      missing += (missing.empty() ? "task " : ", task ") + std::to_string(i) +
                 (tasks_[i].hello.gpus > 0 ? " (it had joined, on " + tasks_[i].hello.host + ")" : "");
  return missing + " of " + std::to_string(tasks_.size()) + " did not join at " + place_.host + ":" +
         std::to_string(place_.port) + " within " + std::to_string(std::lround(seconds)) +
         " s; joined: " + there +
         (strangers_ > 0 ? "; " + std::to_string(strangers_) + " others did not know the token" : "");
}

void NodesLeader::NameRanks() {
  for (Task& task : tasks_) {
    task.first = ranks();
    for (int i = 0; i < task.hello.gpus; ++i)
      rank_names_.push_back("rank " + std::to_string(ranks()) + " (" + NameOf(task.hello) + ")");
  }
}

void NodesLeader::SayAll(const std::string& line) const {
  // Whoever is gone is seen when it is heard.
  for (const Task& task : tasks_)
    if (task.link) task.link->Say(line);
}

void NodesLeader::Lose(Task* task, const Take& take) const {
  task->link.reset();
  for (int i = 0; i < task->hello.gpus; ++i)
    take(task->first + i, static_cast<char>(RankWord::kEnded) + std::string("ended with its task"));
}

// Takes what a task tells of its own ranks, and of none else's.
void NodesLeader::HearTask(Task* task, const Take& take) const {
  const bool there = task->link->Hear([&](const std::string& line) {
    const std::vector<std::string> fields = FieldsOf(line);
    if (fields.size() != 3 || fields[0] != kOfRank) return;
    const int rank = std::atoi(fields[1].c_str());
    if (rank >= task->first && rank < task->first + task->hello.gpus) take(rank, fields[2]);
  });
  if (!there) Lose(task, take);
}

RanksOutcome NodesLeader::RunTogether(const JobOfRanks& job_of, const std::string& way) {
  const RankJob job = job_of(ranks(), way);
  RankTally tally(rank_names_);
  bool went_on = false;
  const Take take = [&](int rank, const std::string& line) {
    went_on = tally.Take(static_cast<std::size_t>(rank), line) || went_on;
  };
  for (std::size_t i = 1; i < tasks_.size(); ++i)
    if (tasks_[i].link)
      tasks_[i].link->Say(
          Fields({kRunOrder, std::to_string(tasks_[i].first), std::to_string(job.ranks), way}));
    else
      Lose(&tasks_[i], take);
  RankTeam team(job, 0, own_.gpus);
  RanksOutcome outcome = Watch(tally, job.limit_s, [&] {
    went_on = false;
    team.Look(kRankLookMs, [&](int rank, const std::string& line) {
      take(rank, line);
      if (rank != 0 || line[0] != static_cast<char>(RankWord::kId)) return;
      team.PassOn(line.substr(1));
      SayAll(Fields({kIdOrder, line.substr(1)}));
    });
    for (Task& task : tasks_)
      if (task.link) HearTask(&task, take);
    return went_on;
  });
  StopAll();
  return outcome;
}

// Until each has ended its ranks: their memory is needed for what comes next.
void NodesLeader::StopAll() {
  SayAll(kStopOrder);
  for (Task& task : tasks_)
    for (std::string line; task.link && line != kStopped;)
      if (!task.link->Await(kStopsWithin, &line)) task.link.reset();
}

TasksAlone NodesLeader::RunAlone(const JobOfRanks& job_of, const std::string& way) {
  const RankJob own = job_of(own_.gpus, way);
  SayAll(Fields({kAloneOrder, way}));
  TasksAlone alone;
  RanksOutcome& worst = alone.worst;
  worst = cudnn_ci::RunTogether(own);
  worst.text = NameOf(own_) + " alone: " + worst.text;
  // Each has one limit for a hang and the time of its calls.
  const double patience = 3 * own.limit_s + kStopsWithin;
  for (std::size_t i = 1; i < tasks_.size(); ++i) {
    const Task& task = tasks_[i];
    std::string line;
    RanksOutcome other;
    if (!task.link || !task.link->Await(patience, &line) || !ReadOutcome(line, &other)) {
      alone.unheard += (alone.unheard.empty() ? "" : ", ") + NameOf(task.hello);
      continue;
    }
    if (!MayBeTheWays(other.end) || MayBeTheWays(worst.end)) continue;
    worst = other;
    worst.text = NameOf(task.hello) + " alone: " + worst.text;
  }
  return alone;
}

void NodesLeader::Dismiss(const std::string& verdict) { SayAll(Fields({kVerdict}) + "\t" + verdict); }

}  // namespace cudnn_ci
