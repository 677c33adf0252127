// Which task of how many Slurm, Kubernetes, MPI or torchrun has made of a process, by the variables that they
// set.
#ifndef CUDNN_CI_BASE_LAUNCHED_TASK_H_
#define CUDNN_CI_BASE_LAUNCHED_TASK_H_

#include <functional>
#include <string>
#include <vector>

namespace cudnn_ci {

// More tasks than are tested together.
inline constexpr int kMostTasks = 128;

// The value of a variable; empty: it is not set.
using VariableOf = std::function<std::string(const std::string& name)>;

struct LaunchedTask {
  int task = -1, tasks = -1;  // counted from 0; -1: the variable holds no such number, up to kMostTasks
  // The variables that say so.
  std::string task_variable, tasks_variable;
  // Those that together are the launch's own, and none of another one's; none: there is no such variable.
  std::vector<std::string> job_variables;

  // Whether one of two tasks or more.
  bool IsOne() const { return task >= 0 && tasks >= 2 && task < tasks; }
};

// By the first of these pairs that is set: RANK and WORLD_SIZE, JOB_COMPLETION_INDEX and WORLD_SIZE,
// OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and PMI_SIZE, SLURM_PROCID and SLURM_NTASKS. Without names of
// variables: none is.
LaunchedTask LaunchedTaskOf(const VariableOf& variable);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_LAUNCHED_TASK_H_
