#include "base/launched_task.h"

#include <cstdlib>

namespace cudnn_ci {
namespace {

// A launcher that another one started stands before it: mpirun in a job of Slurm.
const std::vector<LaunchedTask>& Launchers() {
  static const std::vector<LaunchedTask> kLaunchers = {
      {-1, -1, "RANK", "WORLD_SIZE", {"TORCHELASTIC_RUN_ID"}},
      {-1, -1, "JOB_COMPLETION_INDEX", "WORLD_SIZE", {}},
      {-1, -1, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"PMIX_NAMESPACE"}},
      {-1, -1, "PMI_RANK", "PMI_SIZE", {}},
      {-1, -1, "SLURM_PROCID", "SLURM_NTASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
  };
  return kLaunchers;
}

int NumberIn(const std::string& text) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  const int number = std::atoi(text.c_str());
  return number <= kMostTasks ? number : -1;
}

}  // namespace

LaunchedTask LaunchedTaskOf(const VariableOf& variable) {
  for (LaunchedTask launched : Launchers()) {
    const std::string task = variable(launched.task_variable), tasks = variable(launched.tasks_variable);
    if (task.empty() || tasks.empty()) continue;
    launched.task = NumberIn(task), launched.tasks = NumberIn(tasks);
    return launched;
  }
  return {};
}

}  // namespace cudnn_ci
