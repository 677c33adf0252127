// Which part of a plan this run is of. Counted from 1.
#ifndef CUDNN_CI_CLI_SHARD_H_
#define CUDNN_CI_CLI_SHARD_H_

#include <string>

namespace cudnn_ci {

// "2/4". False, and nothing set, when it is none.
bool ParseShard(const std::string& text, int* index, int* count);

// From the variables of GitLab's parallel jobs (from 1), GoogleTest and Slurm (from 0 or a minimum). False
// when there are none, or when they name no part.
bool ShardFromEnvironment(int* index, int* count);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SHARD_H_
