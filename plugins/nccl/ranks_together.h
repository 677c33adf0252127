// The ranks of a job, led by the process that forks them: they come, work and end as one. Knows nothing of
// CUDA; must not know the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_RANKS_TOGETHER_H_
#define CUDNN_CI_PLUGINS_NCCL_RANKS_TOGETHER_H_

#include <string>

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

struct RanksOutcome {
  RanksEnd end = RanksEnd::kRight;
  // With ranks and calls: "rank 1 waited in ncclCommInitRank; NCCL's last error: '...'".
  std::string text;
  std::string library;  // "NCCL 2.30.7+cuda13.0 (/...)", as rank 0 says
  int judged = 0;       // collectives
};

// Forks the ranks, waits for them, and ends them all as soon as one is at its end before its time or nothing
// happens: when this returns there is none. They die with this process. To be called where nothing of CUDA is
// loaded and no thread runs beside the caller's. Throws std::runtime_error where no process can be had.
RanksOutcome RunTogether(const RankJob& job);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_RANKS_TOGETHER_H_
