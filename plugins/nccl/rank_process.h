// One rank, in a process that its leader forked before anything of CUDA was loaded.
#ifndef CUDNN_CI_PLUGINS_NCCL_RANK_PROCESS_H_
#define CUDNN_CI_PLUGINS_NCCL_RANK_PROCESS_H_

#include "nccl/rank_job.h"

namespace cudnn_ci {

// Joins the communicator on the device of that number, and makes the calls, as RankWord tells the leader on
// `channel`, from which the unique id comes. Does not return. The process's own ways to talk to the harness
// are closed.
[[noreturn]] void RunRank(const RankJob& job, int rank, int device, int channel);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_RANK_PROCESS_H_
