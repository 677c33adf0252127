// What the ranks of a job tell, put together: where each is, and how they ended. Pure: must not know
// processes, sockets or CUDA.
#ifndef CUDNN_CI_PLUGINS_NCCL_RANK_TALLY_H_
#define CUDNN_CI_PLUGINS_NCCL_RANK_TALLY_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "nccl/rank_job.h"

namespace cudnn_ci {

// How ranks ended, the first of these that holds.
enum class RanksEnd {
  kLacking,  // the library or the GPU does not offer it: what it lacks
  kWrong,    // results are wrong
  kMemory,   // there is too little device memory
  kDied,     // a process ended before its time
  kFailed,   // a call failed
  kHung,     // nothing happened for the limit
  kRight
};

// Whether an end may be that of the way between ranks: what was skipped, and a process that ended, often by a
// signal from outside, say nothing of one.
bool MayBeTheWays(RanksEnd end);

struct RanksOutcome {
  RanksEnd end = RanksEnd::kRight;
  // With ranks and calls: "rank 1 waited in ncclCommInitRank; NCCL's last error: '...'".
  std::string text;
  std::string library;  // "NCCL 2.30.7+cuda13.0 (/...)", as rank 0 says
  int judged = 0;       // collectives
  // "all_reduce_algbw" and "all_reduce_busbw", of each timed call: GB/s by the
  // mean time of all ranks, as nccl-tests has them.
  std::map<std::string, double> figures;
};

class RankTally {
 public:
  // `names`: of each rank in texts: "rank 3".
  explicit RankTally(std::vector<std::string> names);

  // Takes a line of a rank: the letter of a RankWord and its words; others tell nothing. True: it went on.
  bool Take(std::size_t rank, const std::string& line);
  bool AllEnded() const;
  bool AnyEndedEarly() const;
  // `hung`: nobody went on for the limit.
  RanksOutcome Outcome(bool hung) const;

 private:
  struct Rank {
    std::string name, step, last_error, wrong, failed, lacks, memory, how_ended;
    bool waits = false, done = false, ended = false;
    std::size_t wrong_calls = 0;
    int judged = 0;
  };
  std::string Said(std::string Rank::*words, bool only_first = false) const;
  std::string Died() const;
  std::string Hung() const;

  struct Timed {
    double bytes = 0, factor = 0, seconds = 0;  // of all ranks together
    std::size_t told = 0;
  };
  void AddTime(const std::string& words);

  std::vector<Rank> ranks_;
  std::map<std::string, Timed> timed_;  // by the call's name
  std::string library_;
};

// "rank 0", "rank 1", ...
std::vector<std::string> RankNames(int ranks);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_RANK_TALLY_H_
