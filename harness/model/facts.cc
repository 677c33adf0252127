#include "model/facts.h"

#include <cudnn_ci/facts.h>

#include <charconv>

namespace cudnn_ci {
namespace {

constexpr int64_t kMostGpus = 256;

// A whole decimal number; anything else is unknown.
std::optional<int64_t> Number(const std::string& text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0) return std::nullopt;
  return value;
}

GpuFacts Gpu(const Facts& facts, const std::string& number) {
  const auto any = [&](const char* key) { return facts.Any(CCI_FACT_GPU + number + key); };
  GpuFacts gpu;
  gpu.uuid = any(CCI_FACT_GPU_UUID);
  gpu.model = any(CCI_FACT_GPU_NAME);
  gpu.compute_capability = any(CCI_FACT_GPU_COMPUTE_CAPABILITY);
  gpu.compute_mode = any(CCI_FACT_GPU_COMPUTE_MODE);
  gpu.memory_bytes = Number(any(CCI_FACT_GPU_MEMORY_BYTES));
  gpu.memory_free_bytes = Number(any(CCI_FACT_GPU_MEMORY_FREE_BYTES));
  return gpu;
}

}  // namespace

const std::string* Facts::Find(const std::string& subject, const std::string& key) const {
  const auto facts = by_subject.find(subject);
  if (facts == by_subject.end()) return nullptr;
  const auto fact = facts->second.find(key);
  return fact == facts->second.end() ? nullptr : &fact->second;
}

std::string Facts::Any(const std::string& key) const {
  for (const auto& [subject, facts] : by_subject)
    if (const auto fact = facts.find(key); fact != facts.end()) return fact->second;
  return {};
}

HostFacts DecodeHostFacts(const Facts& facts) {
  HostFacts host;
  const std::optional<int64_t> count = Number(facts.Any(CCI_FACT_GPU_COUNT));
  host.gpus_known = count.has_value();
  for (int64_t i = 0; i < count.value_or(0) && i < kMostGpus; ++i)
    host.gpus.push_back(Gpu(facts, std::to_string(i)));
  host.gpu_error = facts.Any(CCI_FACT_GPU_ERROR);
  host.driver_version = facts.Any(CCI_FACT_DRIVER_VERSION);
  host.driver_cuda = facts.Any(CCI_FACT_DRIVER_CUDA);
  host.toolkit_version = facts.Any(CCI_FACT_TOOLKIT_VERSION);
  host.cudnn_version = facts.Any(CCI_FACT_CUDNN_VERSION);
  host.cudnn_cudart = facts.Any(CCI_FACT_CUDNN_CUDART);
  return host;
}

GpuFacts FactsOfGpu(const Facts& facts, const std::string& device) {
  return device.compare(0, 3, "gpu") == 0 ? Gpu(facts, device.substr(3)) : GpuFacts{};
}

}  // namespace cudnn_ci
