#include "nccl/node_place.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"

namespace cudnn_ci {
namespace {

// -1: no number from 0 to `most`.
int NumberIn(const std::string& text, int most) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  const int number = std::atoi(text.c_str());
  return number <= most ? number : -1;
}

struct Launcher {
  const char *task, *tasks;
  std::array<const char*, 2> job;  // variables that together are the launch's own
};
// A launcher that another one started stands before it: mpirun in a job of Slurm.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", {"TORCHELASTIC_RUN_ID", ""}},
    {"JOB_COMPLETION_INDEX", "WORLD_SIZE", {"", ""}},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"PMIX_NAMESPACE", ""}},
    {"PMI_RANK", "PMI_SIZE", {"PMI_ID", ""}},
    {"SLURM_PROCID", "SLURM_NTASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

const Launcher* LauncherOf(const Setting& setting) {
  for (const Launcher& launcher : kLaunchers)
    if (!setting(launcher.task).empty() && !setting(launcher.tasks).empty()) return &launcher;
  return nullptr;
}

// All ranks of MPI on this host, as several processes of it are tried out.
bool IsOneHost(const Setting& setting, const std::string& tasks) {
  return tasks == setting("OMPI_COMM_WORLD_LOCAL_SIZE") || tasks == setting("MPI_LOCALNRANKS");
}

std::string HostOf(const Setting& setting, const std::string& tasks) {
  if (std::string host = setting("MASTER_ADDR"); !host.empty()) return host;
  for (const char* list : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (const std::string hosts = setting(list); !hosts.empty()) return FirstHost(hosts);
  return IsOneHost(setting, tasks) ? "127.0.0.1" : "";
}

std::string SecretOf(const Setting& setting, const Launcher& launcher) {
  if (std::string token = setting("CUDNN_CI_NODES_TOKEN"); !token.empty()) return token;
  std::string job;
  for (const char* variable : launcher.job) {
    if (*variable == '\0') continue;
    const std::string value = setting(variable);
    if (value.empty()) return "";
    job += std::string(variable) + "=" + value + "\n";
  }
  return job;
}

// Below the ports that systems take for connections of their own accord.
int PortOf(const std::string& text, const std::string& secret) {
  constexpr int kFirst = 12000, kPorts = 20000, kMostPort = 65535;
  if (!text.empty()) return NumberIn(text, kMostPort);
  return kFirst + static_cast<int>(Fnv1a(secret) % kPorts);
}

}  // namespace

std::string FirstHost(const std::string& list) {
  std::string host;
  for (std::size_t at = 0; at < list.size() && list[at] != ','; ++at) {
    if (list[at] != '[') {
      host += list[at];
      continue;
    }
    const std::size_t close = list.find(']', at);
    if (close == std::string::npos) return "";
    const std::size_t end = list.find_first_of("-,]", at);
    host += list.substr(at + 1, end - at - 1);
    at = close;
  }
  return host;
}

NodePlace PlaceOf(const Setting& setting) {
  NodePlace place;
  const Launcher* const launcher = LauncherOf(setting);
  if (!launcher) {
    place.lacks = "tasks on several nodes, by Slurm, Kubernetes, MPI or torchrun";
    return place;
  }
  const std::string tasks = setting(launcher->tasks);
  place.task = NumberIn(setting(launcher->task), kMostTasks - 1);
  place.tasks = NumberIn(tasks, kMostTasks);
  place.host = HostOf(setting, tasks);
  place.secret = SecretOf(setting, *launcher);
  place.port = PortOf(setting("MASTER_PORT"), place.secret);
  if (place.task < 0 || place.tasks < 2 || place.task >= place.tasks)
    place.lacks = std::string(launcher->task) + " and " + launcher->tasks + " of 2 to " +
                  std::to_string(kMostTasks) + " tasks";
  else if (place.host.empty())
    place.lacks = "MASTER_ADDR, the host of task 0";
  else if (place.port < 1)
    place.lacks = "a MASTER_PORT from 1 to 65535";
  else if (place.secret.empty())
    place.lacks = "CUDNN_CI_NODES_TOKEN, a word that only the tasks of this launch know";
  return place;
}

}  // namespace cudnn_ci
