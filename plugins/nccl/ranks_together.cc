#include "nccl/ranks_together.h"

#include <chrono>

#include "nccl/rank_team.h"

namespace cudnn_ci {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLastWords{200};

}  // namespace

RanksOutcome Watch(const RankTally& tally, double limit_s, const std::function<bool()>& look) {
  bool hung = false;
  for (auto last = Clock::now(); !tally.AllEnded() && !hung;) {
    if (look()) last = Clock::now();
    if (tally.AnyEndedEarly()) break;
    hung = std::chrono::duration<double>(Clock::now() - last).count() > limit_s;
  }
  // What others say of it, or that they ended before, is heard too.
  const auto until = Clock::now() + kLastWords;
  while (tally.AnyEndedEarly() && !tally.AllEnded() && Clock::now() < until) look();
  return tally.Outcome(hung);
}

RanksOutcome RunTogether(const RankJob& job) {
  RankTally tally(RankNames(job.ranks));
  RankTeam team(job, 0, job.ranks);
  return Watch(tally, job.limit_s, [&] {
    bool went_on = false;
    team.Look(kRankLookMs, [&](int rank, const std::string& line) {
      went_on = tally.Take(static_cast<std::size_t>(rank), line) || went_on;
      if (line[0] == static_cast<char>(RankWord::kId)) team.PassOn(line.substr(1));
    });
    return went_on;
  });
}

}  // namespace cudnn_ci
