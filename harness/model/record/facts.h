// Facts: what host and image are, as plugins report them, and the typed view of those that the harness itself
// reads. Their keys, units and formats are the SDK's (cudnn_ci/facts.h). What was not reported is unknown,
// and stays so: empty, or without a value.
#ifndef CUDNN_CI_MODEL_RECORD_FACTS_H_
#define CUDNN_CI_MODEL_RECORD_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/record/outcome.h"

namespace cudnn_ci {

using FactMap = std::map<std::string, std::string>;

// Why facts of a plugin are missing or incomplete.
struct FactsProblem {
  std::string plugin, subject;
  std::string slug;  // of a finding of the harness: "crashed", "timed-out", "worker-not-started", ...
  Errored error;     // how the plugin's process ended
};

// By subject name, then key ("driver.version"). What does not depend on a subject stands under each.
struct Facts {
  std::map<std::string, FactMap> by_subject;
  std::vector<FactsProblem> problems;
  const std::string* Find(const std::string& subject, const std::string& key) const;
  // Of the first subject, by name, that has it; empty: none has.
  std::string Any(const std::string& key) const;
};

struct GpuFacts {
  std::string uuid, model, compute_capability;
  std::string compute_mode;  // "default", "exclusive_process", ...
  std::string pci_bus_id;
  std::optional<int64_t> memory_bytes, memory_free_bytes;
  std::string
      slowed_by;  // what held its clocks down before the run began, in words; empty: nothing, or unknown
};

struct HostFacts {
  std::vector<GpuFacts> gpus;  // the visible ones, in PCI order
  bool gpus_known = false;     // they were counted
  std::string gpu_error;       // why none can be used
  std::string driver_version, driver_cuda;
  std::string toolkit_version, cudnn_version, cudnn_cudart;
};

// Why the facts about GPUs in one map cannot be true, and the key of a fact that says so.
struct FactsContradiction {
  std::string key, why;
};
// A count that is no number or more than any machine has, a GPU without a UUID that CUDA_VISIBLE_DEVICES
// takes, one UUID twice, a GPU beyond the count. Both empty: nothing contradicts; what is not told at all is
// unknown.
FactsContradiction FindGpuContradiction(const FactMap& facts);

// The GPUs are those of the first subject, by name, that tells how many there are. Of a contradiction none is
// taken: they are not known then.
HostFacts DecodeHostFacts(const Facts& facts);
// Of the device "gpuN"; all unknown when there is no such device.
GpuFacts FactsOfGpu(const Facts& facts, const std::string& device);

// Of the processors and the memory of GPU and host.
struct MachineShare {
  int64_t processors = 1, device_bytes = 0, host_bytes = 0;
};
// What a process is told of its share (CCI_FACT_SHARE_*), instead of what plugins may have reported under
// these keys; and the facts for a process that shares nothing.
FactMap WithShare(FactMap facts, const MachineShare& share);
FactMap WithoutShare(FactMap facts);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_FACTS_H_
