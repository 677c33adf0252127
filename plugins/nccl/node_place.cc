#include "nccl/node_place.h"

#include <cstdlib>

#include "base/launched_task.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

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

// What torchrun calls a launch to which nobody gave a name: the same word for all of them.
constexpr char kNoRunId[] = "none";

std::string SecretOf(const Setting& setting, const LaunchedTask& launched) {
  if (std::string token = setting("CUDNN_CI_NODES_TOKEN"); !token.empty()) return token;
  std::string job;
  for (const std::string& variable : launched.job_variables) {
    const std::string value = setting(variable);
    if (value.empty() || value == kNoRunId) return "";
    job += variable + "=" + value + "\n";
  }
  return job;
}

// Below the ports that systems take for connections of their own accord.
int PortOf(const std::string& text, const std::string& secret) {
  constexpr int kFirst = 12000, kPorts = 20000, kMostPort = 65535;
  if (!text.empty()) {
    const bool is_number = text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
    const int port = is_number ? std::atoi(text.c_str()) : 0;
    return port <= kMostPort ? port : 0;
  }
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
  const LaunchedTask launched = LaunchedTaskOf(setting);
  if (launched.task_variable.empty()) {
    place.lacks = "tasks on several nodes, started by Slurm, Kubernetes, MPI or torchrun";
    return place;
  }
  place.task = launched.task, place.tasks = launched.tasks;
  place.host = HostOf(setting, setting(launched.tasks_variable));
  place.secret = SecretOf(setting, launched);
  // torchrun's agent listens on that port itself where its workers use its store.
  const bool agents_own = setting("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.port = PortOf(agents_own ? "" : setting("MASTER_PORT"), place.secret);
  if (!launched.IsOne())
    place.lacks = launched.task_variable + " and " + launched.tasks_variable + " of 2 to " +
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
