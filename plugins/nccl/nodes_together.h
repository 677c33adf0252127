// A case that tasks on several nodes do together: they meet at task 0, which leads, and end as one. Knows
// nothing of CUDA; must not know the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_NODES_TOGETHER_H_
#define CUDNN_CI_PLUGINS_NCCL_NODES_TOGETHER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nccl/node_link.h"
#include "nccl/node_place.h"
#include "nccl/node_words.h"
#include "nccl/rank_job.h"
#include "nccl/rank_tally.h"

namespace cudnn_ci {

// How tasks met.
struct Meeting {
  enum class End { kAllThere, kMissing, kMismatch, kCannotListen };
  End end = End::kAllThere;
  std::string text;  // who is missing, does not fit the others, or why task 0 cannot listen
};

// The job of so many ranks by the way of this name.
using JobOfRanks = std::function<RankJob(int ranks, const std::string& way)>;

// What came of the tasks, each alone.
struct TasksAlone {
  // The first whose end may be the image's (MayBeTheWays), with its name, else that of task 0.
  RanksOutcome worst;
  std::string unheard;  // "task 2 on b": those that are gone or did not answer
};

// Task 0. One thread, in a process that forks ranks (RankTeam says what that asks for). Who does not know the
// secret is sent away, unheard but for one short line.
class NodesLeader {
 public:
  NodesLeader(const NodePlace& place, const NodeHello& own);
  ~NodesLeader();
  NodesLeader(const NodesLeader&) = delete;
  NodesLeader& operator=(const NodesLeader&) = delete;

  // Listens, and waits so long for all others.
  Meeting Meet(double seconds);
  // Of all tasks. Valid behind a meeting at which all were there.
  int ranks() const { return static_cast<int>(rank_names_.size()); }
  // Runs the job of ranks() ranks over all tasks, whose ranks have ended when it returns.
  RanksOutcome RunTogether(const JobOfRanks& job_of, const std::string& way);
  // Each task runs the job of its own GPUs, all at once.
  TasksAlone RunAlone(const JobOfRanks& job_of, const std::string& way);
  // Tells all others what came of it, in words that they know, and lets them go.
  void Dismiss(const std::string& verdict);

 private:
  struct Task;
  struct Guest;  // a connection that has not shown yet who it is
  using Take = std::function<void(int rank, const std::string& line)>;
  void AcceptGuests();
  // Of those who fit; else the meeting's end.
  void HearGuests(Meeting* meeting);
  void Seat(Guest* guest, const std::string& line, Meeting* meeting);
  std::string Missing(double seconds) const;
  bool AllThere() const;
  void NameRanks();
  void Lose(Task* task, const Take& take) const;
  void HearTask(Task* task, const Take& take) const;
  void SayAll(const std::string& line) const;
  void StopAll();

  const NodePlace place_;
  const NodeHello own_;
  int listener_ = -1;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::vector<Task> tasks_;  // by number; that of this process has no link
  std::vector<std::string> rank_names_;
  int strangers_ = 0;
};

// Every other task.
class NodesFollower {
 public:
  NodesFollower(const NodePlace& place, const NodeHello& own) : place_(place), own_(own) {}

  // Goes to task 0 until it is let in, for so long.
  Meeting Meet(double seconds);
  // Does what task 0 says until it tells the verdict, which is returned; empty: it is gone, or says nothing
  // for `patience` seconds.
  std::string Follow(const JobOfRanks& job_of, double patience);

 private:
  // Empty: it is in; else why not.
  std::string Enter(std::string* refused);
  bool Work(const JobOfRanks& job_of, const std::vector<std::string>& order, double patience);
  std::string Alone(const JobOfRanks& job_of, const std::vector<std::string>& order) const;

  const NodePlace place_;
  const NodeHello own_;
  std::unique_ptr<NodeLink> link_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_NODES_TOGETHER_H_
