#include "nccl/link_causes.h"

#include <poll.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "base/path.h"
#include "common/nvml_api.h"
#include "nccl/forked.h"

namespace cudnn_ci {
namespace {

// NCCL takes up to 33 MiB for two ranks; engines give containers 64 MiB unless they are told otherwise.
constexpr unsigned long long kLittleSharedMemory = 64ull << 20;

// How long NVML may take. It waits for the driver, which waits for a GPU that is wedged.
constexpr std::chrono::seconds kNvmlAnswers{5};
constexpr std::size_t kMostWords = 4 << 10;  // bytes

// Causes as NVML sees them, each behind ", ". Some of a GPU's NVLinks may lead nowhere by the host's make:
// down are those that it has fewer of than another GPU of its model.
std::string CausesByNvml() {
  NvmlApi nvml;
  if (!nvml.Load()) return "";
  std::vector<std::pair<NvmlDevice, NvmlLinks>> gpus;
  std::map<std::string, unsigned> most_of;  // NVLinks up, by model
  for (const NvmlDevice& gpu : nvml.Devices()) {
    gpus.emplace_back(gpu, nvml.Links(gpu));
    unsigned& most = most_of[gpu.name];
    most = std::max(most, gpus.back().second.up);
  }
  std::string words, outside;
  for (const auto& [gpu, links] : gpus) {
    const std::string name = "GPU " + std::to_string(gpu.index);
    const unsigned most = most_of[gpu.name];
    if (!links.out_of_order.empty())
      words += ", " + name + " " + links.out_of_order;
    else if (links.up < most)
      words += ", " + name + " has " + std::to_string(links.up) + " NVLinks up, but another GPU has " +
               std::to_string(most);
    if (links.in_fabric == false) outside += (outside.empty() ? "" : ", ") + name;
  }
  if (!outside.empty()) words += ", not in the NVLink fabric of the fabric manager: " + outside;
  return words;
}

// In a process of its own: whoever waits for a wedged GPU cannot be told to stop.
std::string CausesByNvmlInTime() {
  int ends[2];
  if (pipe(ends) != 0) return "";
  const pid_t child = ForkWith(ends[1]);
  if (child == 0) {
    const std::string words = CausesByNvml().substr(0, kMostWords) + '\n';
    [[maybe_unused]] const ssize_t n = write(ends[1], words.data(), words.size());
    _exit(0);
  }
  close(ends[1]);
  std::string words;
  const auto until = std::chrono::steady_clock::now() + kNvmlAnswers;
  bool answered = child < 0;
  while (!answered) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd channel{ends[0], POLLIN, 0};
    if (left.count() <= 0) break;
    if (poll(&channel, 1, static_cast<int>(left.count())) <= 0) continue;
    char buffer[1024];
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    answered = n <= 0;
    if (n > 0) words.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (child > 0 && !answered) kill(child, SIGKILL);
  if (child > 0) waitpid(child, nullptr, answered ? 0 : WNOHANG);
  if (!answered) return ", NVML does not answer, so a GPU may be wedged";
  return words.substr(0, words.find('\n'));
}

}  // namespace

std::string LinkCausesSeen() {
  std::string seen;
  const auto add = [&seen](const std::string& cause) { seen += (seen.empty() ? "; seen: " : ", ") + cause; };
  // GPUs that write to each other through an IOMMU or ACS hang or lose data
  // (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#pci-access-control-services-acs).
  if (const auto groups = NamesIn("/sys/kernel/iommu_groups").size(); groups > 0)
    add("an IOMMU is on (" + std::to_string(groups) + " groups)");
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) == 0) {
    const unsigned long long bytes = static_cast<unsigned long long>(shm.f_blocks) * shm.f_frsize;
    if (bytes <= kLittleSharedMemory) add("/dev/shm has " + std::to_string(bytes >> 20) + " MiB");
  } else {
    add("/dev/shm is missing");
  }
  int mode = 0;
  if (syscall(SYS_get_mempolicy, &mode, nullptr, 0ul, nullptr, 0ul) != 0 && errno == EPERM)
    add("get_mempolicy is refused (seccomp)");
  if (const std::string by_nvml = CausesByNvmlInTime(); !by_nvml.empty()) add(by_nvml.substr(2));
  return seen;
}

}  // namespace cudnn_ci
