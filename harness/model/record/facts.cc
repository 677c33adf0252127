#include "model/record/facts.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "model/record/fact_keys.h"

namespace cudnn_ci {

const char kDriverVersionFact[] = CCI_FACT_DRIVER_VERSION;
const char kDriverSourceFact[] = CCI_FACT_DRIVER_SOURCE;
const char kDriverLibraryFact[] = CCI_FACT_DRIVER_LIBRARY;
const char kToolkitVersionFact[] = CCI_FACT_TOOLKIT_VERSION;
const char kToolkitPathFact[] = CCI_FACT_TOOLKIT_PATH;
const char kCudnnVersionFact[] = CCI_FACT_CUDNN_VERSION;
const char kCudnnPathFact[] = CCI_FACT_CUDNN_PATH;
const char kWithoutNvrtc[] = "image.toolkit.without_nvrtc";

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

std::string GpuKey(int64_t number, const char* what) { return CCI_FACT_GPU + std::to_string(number) + what; }

GpuFacts Gpu(const FactMap& facts, const std::string& number) {
  const auto value = [&](const char* what) {
    const auto fact = facts.find(CCI_FACT_GPU + number + what);
    return fact == facts.end() ? std::string() : fact->second;
  };
  GpuFacts gpu;
  gpu.uuid = value(CCI_FACT_GPU_UUID);
  gpu.model = value(CCI_FACT_GPU_NAME);
  gpu.compute_capability = value(CCI_FACT_GPU_COMPUTE_CAPABILITY);
  gpu.compute_mode = value(CCI_FACT_GPU_COMPUTE_MODE);
  gpu.pci_bus_id = value(CCI_FACT_GPU_PCI_BUS_ID);
  gpu.memory_bytes = Number(value(CCI_FACT_GPU_MEMORY_BYTES));
  gpu.slowed_by = value(CCI_FACT_GPU_SLOWED_BY);
  gpu.memory_free_bytes = Number(value(CCI_FACT_GPU_MEMORY_FREE_BYTES));
  return gpu;
}

// The number N of "gpu.N.what"; of other keys there is none.
std::optional<int64_t> GpuOfKey(const std::string& key) {
  constexpr size_t kPrefix = sizeof CCI_FACT_GPU - 1;
  const size_t end = key.find('.', kPrefix);
  if (end == std::string::npos || key.compare(0, kPrefix, CCI_FACT_GPU) != 0) return std::nullopt;
  return Number(key.substr(kPrefix, end - kPrefix));
}

// As CUDA_VISIBLE_DEVICES takes it: another text there would hide every GPU, or show more than one.
bool IsGpuUuid(const std::string& text) {
  const bool known = text.compare(0, 4, "GPU-") == 0 || text.compare(0, 4, "MIG-") == 0;
  return known && text.size() > 4 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '/';
         });
}

// The map in which GPUs were counted, of the first subject that has one; null: none has.
const FactMap* MapOfGpus(const Facts& facts) {
  for (const auto& [subject, map] : facts.by_subject)
    if (map.count(CCI_FACT_GPU_COUNT)) return &map;
  return nullptr;
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

FactsContradiction FindGpuContradiction(const FactMap& facts) {
  int64_t gpus = 0;
  if (const auto told = facts.find(CCI_FACT_GPU_COUNT); told != facts.end()) {
    const std::optional<int64_t> count = Number(told->second);
    if (!count || *count > kMostGpus)
      return {told->first, told->first + " is \"" + told->second + "\", not a number from 0 to " +
                               std::to_string(kMostGpus)};
    gpus = *count;
  }
  std::map<std::string, std::string> seen;  // by UUID: the GPU
  for (int64_t i = 0; i < gpus; ++i) {
    const std::string key = GpuKey(i, CCI_FACT_GPU_UUID);
    const auto uuid = facts.find(key);
    if (uuid == facts.end())
      return {CCI_FACT_GPU_COUNT, std::string(CCI_FACT_GPU_COUNT) + " is " + std::to_string(gpus) + ", but " +
                                      key + " is missing"};
    if (!IsGpuUuid(uuid->second)) return {key, key + " is \"" + uuid->second + "\", not GPU-... or MIG-..."};
    const auto [other, is_new] = seen.emplace(uuid->second, GpuKey(i, ""));
    if (!is_new) return {key, key + " is the uuid of " + other->second + " too"};
  }
  for (const auto& [key, value] : facts)
    if (const std::optional<int64_t> gpu = GpuOfKey(key); gpu && *gpu >= gpus)
      return {key, key + " names a GPU beyond " + CCI_FACT_GPU_COUNT + ", which is " +
                       (facts.count(CCI_FACT_GPU_COUNT) ? std::to_string(gpus) : "not told")};
  return {};
}

HostFacts DecodeHostFacts(const Facts& facts) {
  HostFacts host;
  const FactMap* const map = MapOfGpus(facts);
  host.gpus_known = map != nullptr && FindGpuContradiction(*map).why.empty();
  const int64_t count = host.gpus_known ? Number(map->at(CCI_FACT_GPU_COUNT)).value_or(0) : 0;
  for (int64_t i = 0; i < count; ++i) host.gpus.push_back(Gpu(*map, std::to_string(i)));
  host.gpu_error = facts.Any(CCI_FACT_GPU_ERROR);
  host.driver_version = facts.Any(CCI_FACT_DRIVER_VERSION);
  host.driver_cuda = facts.Any(CCI_FACT_DRIVER_CUDA);
  host.toolkit_version = facts.Any(CCI_FACT_TOOLKIT_VERSION);
  host.cudnn_version = facts.Any(CCI_FACT_CUDNN_VERSION);
  host.cudnn_cudart = facts.Any(CCI_FACT_CUDNN_CUDART);
  return host;
}

GpuFacts FactsOfGpu(const Facts& facts, const std::string& device) {
  const FactMap* const map = MapOfGpus(facts);
  return map != nullptr && device.compare(0, 3, "gpu") == 0 ? Gpu(*map, device.substr(3)) : GpuFacts{};
}

FactMap WithShare(FactMap facts, const MachineShare& share) {
  facts[CCI_FACT_SHARE_PROCESSORS] = std::to_string(share.processors);
  facts[CCI_FACT_SHARE_DEVICE_MEMORY] = std::to_string(share.device_bytes);
  facts[CCI_FACT_SHARE_HOST_MEMORY] = std::to_string(share.host_bytes);
  return facts;
}

FactMap WithoutShare(FactMap facts) {
  facts.erase(CCI_FACT_SHARE_PROCESSORS);
  facts.erase(CCI_FACT_SHARE_DEVICE_MEMORY);
  facts.erase(CCI_FACT_SHARE_HOST_MEMORY);
  return facts;
}

}  // namespace cudnn_ci
