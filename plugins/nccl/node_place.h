// Which task of how many a process is that Slurm, Kubernetes, MPI or torchrun has started on several nodes,
// and where task 0 is to be met, by the variables that they set. Pure; opens nothing.
#ifndef CUDNN_CI_PLUGINS_NCCL_NODE_PLACE_H_
#define CUDNN_CI_PLUGINS_NCCL_NODE_PLACE_H_

#include <string>

#include "nccl/variables.h"

namespace cudnn_ci {

struct NodePlace {
  int task = 0, tasks = 0;
  std::string host;  // where task 0 listens
  int port = 0;
  std::string secret;  // what the tasks of this launch know and others do not: the token, or the job's number
  // Of which of these there is too little, in words; empty: all are there.
  std::string lacks;
};

// Task and number of tasks as base/launched_task.h has them; the host by MASTER_ADDR, else the first of
// Slurm's list of nodes, else this one where MPI has all tasks on it; the port by MASTER_PORT, else made of
// the secret; the secret by CUDNN_CI_NODES_TOKEN, else the job of Slurm, torchrun or Open MPI.
NodePlace PlaceOf(const Setting& setting);

// "n01" of Slurm's "n[01-03,7],m2".
std::string FirstHost(const std::string& list);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_NODE_PLACE_H_
