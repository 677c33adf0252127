#include "nccl/link_causes.h"

#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/path.h"

namespace cudnn_ci {
namespace {

// NCCL takes up to 33 MiB for two ranks; engines give containers 64 MiB unless they are told otherwise.
constexpr unsigned long long kLittleSharedMemory = 64ull << 20;

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
    add("there is no /dev/shm");
  }
  int mode = 0;
  if (syscall(SYS_get_mempolicy, &mode, nullptr, 0ul, nullptr, 0ul) != 0 && errno == EPERM)
    add("get_mempolicy is refused (seccomp)");
  return seen;
}

}  // namespace cudnn_ci
