#include "nccl/variables.h"

#include <cstring>
#include <sstream>

namespace cudnn_ci {
namespace {

// https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; values that begin with one of
// `harmless` are the default.
struct Known {
  const char *name, *harmless, *effect;
};
constexpr Known kKnown[] = {
    {"NCCL_P2P_DISABLE", "0", "GPUs do not read each other's memory"},
    {"NCCL_P2P_LEVEL", "", "GPUs read each other's memory only up to this distance"},
    {"NCCL_SHM_DISABLE", "0", "GPUs of one host communicate by sockets"},
    {"NCCL_IB_DISABLE", "0", "hosts communicate by TCP"},
    {"NCCL_NET", "", "hosts communicate only by this network"},
    {"NCCL_SOCKET_IFNAME", "", "a host without an interface of that name fails"},
    {"NCCL_IB_HCA", "", "a host without an adapter of that name communicates by TCP"},
    {"NCCL_ALGO", "", "one algorithm for all sizes, and an error where it is unavailable"},
    {"NCCL_PROTO", "", "one protocol for all sizes; LL128 corrupts data where the hardware does not have it"},
    {"NCCL_NVLS_ENABLE", "2", "NVLink's reductions are off, or requested where they are unavailable (MIG)"},
    {"NCCL_CUMEM_ENABLE", "", "memory is shared in another way than the release chooses"},
    {"NCCL_CUMEM_HOST_ENABLE", "", "host memory is shared in another way than the release chooses"},
    {"NCCL_TOPO_FILE", "", "the topology of one host is used for all hosts"},
    {"NCCL_GRAPH_FILE", "", "the rings of one host are used for all hosts"},
    {"NCCL_CHECKS_DISABLE", "0", "arguments are not checked"},
    {"NCCL_LAUNCH_MODE", "", "kernels are launched in another way than the release chooses"},
};

}  // namespace

std::string SettingsThatRemain(const Setting& setting) {
  std::string all;
  for (const Known& known : kKnown) {
    const std::string value = setting(known.name);
    if (value.empty() || (*known.harmless != '\0' && std::strchr(known.harmless, value.front()))) continue;
    all += (all.empty() ? "" : ", ") + std::string(known.name) + "=" + value + " (" + known.effect + ")";
  }
  return all;
}

std::string ValueIn(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string value;
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, name.size() + 1, name + "=") == 0) value = line.substr(name.size() + 1);
  return value;
}

}  // namespace cudnn_ci
