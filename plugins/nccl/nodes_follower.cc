// Every other task of nodes_together.h.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "nccl/nodes_together.h"
#include "nccl/rank_team.h"
#include "nccl/ranks_together.h"

namespace cudnn_ci {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAnswersWithin = 5;  // seconds
constexpr std::chrono::milliseconds kTriesAgainAfter{200};

}  // namespace

Meeting NodesFollower::Meet(double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::string why, refused;
  for (;;) {
    why = Enter(&refused);
    if (why.empty()) return {};
    if (Clock::now() > end) break;
    std::this_thread::sleep_for(kTriesAgainAfter);
  }
  // Task 0 may have been at the case before, or comes to this one later.
  if (!refused.empty()) return {Meeting::End::kMismatch, refused};
  return {Meeting::End::kMissing, "task 0 of " + std::to_string(place_.tasks) + " could not be reached at " +
                                      place_.host + ":" + std::to_string(place_.port) + " within " +
                                      std::to_string(static_cast<int>(seconds)) + " s: " + why};
}

std::string NodesFollower::Enter(std::string* refused) {
  std::string why, line;
  link_ = ConnectTo(place_.host, place_.port, kAnswersWithin, &why);
  if (!link_) return why;
  if (!link_->Await(kAnswersWithin, &line)) return "it does not answer";
  const std::string nonce0 = NonceOf(line), nonce = FreshNonce();
  if (nonce0.empty()) return "another program listens there";
  if (!link_->Say(Greeting(place_.secret, nonce0, nonce, own_)) || !link_->Await(kAnswersWithin, &line))
    return "it refuses this task, which has another token";
  if (!ReadAnswer(place_.secret, nonce0, nonce, line, refused)) return "the listener has another token";
  link_->Trust();
  return *refused;
}

std::string NodesFollower::Follow(const JobOfRanks& job_of, double patience) {
  std::string line;
  while (link_->Await(patience, &line)) {
    const std::vector<std::string> order = FieldsOf(line);
    if (order[0] == kVerdict) return line.substr(line.find('\t') + 1);
    if (order[0] == kStopOrder) link_->Say(kStopped);
    if (order[0] == kAloneOrder && order.size() == 2) link_->Say(Alone(job_of, order));
    if (order[0] == kRunOrder && order.size() == 4 && !Work(job_of, order, patience)) return "";
  }
  return "";
}

// Until task 0 says that it is enough. False: that is gone.
bool NodesFollower::Work(const JobOfRanks& job_of, const std::vector<std::string>& order, double patience) {
  const RankJob job = job_of(std::atoi(order[2].c_str()), order[3]);
  bool there = true, stop = false;
  {
    RankTeam team(job, std::atoi(order[1].c_str()), own_.gpus);
    auto last = Clock::now();
    while (there && !stop) {
      team.Look(kRankLookMs, [&](int rank, const std::string& line) {
        there = link_->Say(Fields({kOfRank, std::to_string(rank), line})) && there;
        last = Clock::now();
      });
      there = link_->Hear([&](const std::string& line) {
        const std::vector<std::string> said = FieldsOf(line);
        if (said[0] == kIdOrder && said.size() == 2) team.PassOn(said[1]);
        stop = stop || said[0] == kStopOrder;
        last = Clock::now();
      }) && there;
      there = there && Clock::now() - last < std::chrono::duration<double>(patience);
    }
  }
  return there && link_->Say(kStopped);
}

std::string NodesFollower::Alone(const JobOfRanks& job_of, const std::vector<std::string>& order) const {
  return TextOf(RunTogether(job_of(own_.gpus, order[1])));
}

}  // namespace cudnn_ci
