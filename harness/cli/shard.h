// Which part of a plan this run is of. Counted from 1.
#ifndef CUDNN_CI_CLI_SHARD_H_
#define CUDNN_CI_CLI_SHARD_H_

#include <string>

#include "base/result.h"

namespace cudnn_ci {

// What --shard says: "2/4"; "auto", from the variables of GitLab's parallel jobs (from 1), GoogleTest and
// Slurm (from 0 or a minimum); "auto/4" where the number of parts is in no variable, from the same and from
// that of a Kubernetes Indexed Job (from 0). Sets both. An error says why it is no part.
Status ReadShard(const std::string& text, int* index, int* count);
// What --nodes says: "2/4"; "auto", from the variables of Slurm, Kubernetes, MPI or torchrun
// (base/launched_task.h).
Status ReadNodes(const std::string& text, int* index, int* count);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SHARD_H_
