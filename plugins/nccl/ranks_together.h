// The ranks of a job, led by the process that forks them: they come, work and end as one. Knows nothing of
// CUDA; must not know the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_RANKS_TOGETHER_H_
#define CUDNN_CI_PLUGINS_NCCL_RANKS_TOGETHER_H_

#include <functional>
#include <string>

#include "nccl/rank_job.h"
#include "nccl/rank_tally.h"

namespace cudnn_ci {

// Forks the ranks, waits for them, and ends them all as soon as one is at its end before its time or nothing
// happens: when this returns there is none. They die with this process. To be called where nothing of CUDA is
// loaded and no thread runs beside the caller's. Throws std::runtime_error where no process can be had.
RanksOutcome RunTogether(const RankJob& job);

// The same of ranks that are there already, wherever they are. `look` waits up to some 20 ms, gives the tally
// what they said, and answers whether one went on.
RanksOutcome Watch(const RankTally& tally, double limit_s, const std::function<bool()>& look);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_RANKS_TOGETHER_H_
