#include "exec/schedule/gpu_state.h"

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kDriversOwnMemory = int64_t{2} << 30;  // an idle device shows up to about 1 GiB in use

}  // namespace

std::string MemoryOfOthers(const Facts& facts, const std::string& device) {
  const GpuFacts gpu = FactsOfGpu(facts, device);
  const int64_t foreign = gpu.memory_bytes.value_or(0) - gpu.memory_free_bytes.value_or(0);
  if (!gpu.memory_free_bytes || foreign < kDriversOwnMemory) return "";
  return std::to_string(foreign >> 20) + " MiB were in use before the run began";
}

Finding BlameForMemory(const Facts& facts, const Case& c, Finding finding, const Skipped& skipped) {
  if (skipped.resource != Resource::kDeviceMemory || c.planned.ref.device.empty()) return finding;
  const std::string others = MemoryOfOthers(facts, c.planned.ref.device);
  if (others.empty()) return finding;
  return HarnessFinding("out-of-device-memory-shared",
                        "needs " + skipped.need + ", saw " + skipped.seen + "; " + others);
}

std::string SlowdownCause(const Facts& facts, const std::string& device) {
  const std::string slowed = SingleLine(FactsOfGpu(facts, device).slowed_by, 200);
  if (!slowed.empty()) return "its clocks were held down before the run began: " + slowed;
  const std::string others = MemoryOfOthers(facts, device);
  return others.empty() ? "" : "others use it: " + others;
}

}  // namespace cudnn_ci
