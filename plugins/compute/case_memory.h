// The memory of one case: which buffers its operands have, and whether device and host have room for them.
// Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_CASE_MEMORY_H_
#define CUDNN_CI_PLUGINS_COMPUTE_CASE_MEMORY_H_

#include <cudnn_ci/plugin.h>

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "common/device_buffers.h"
#include "common/device_session.h"
#include "compute/candidate.h"
#include "compute/operand.h"
#include "compute/reference_data.h"

namespace cudnn_ci {

// Memory that a case lacks; the context is sound, and another choice may need less.
struct NoMemory : std::exception {
  NoMemory(cci_memory m, std::string n, std::string s) : memory(m), need(std::move(n)), seen(std::move(s)) {}
  cci_memory memory;
  std::string need, seen;
  bool shared_device = DeviceSession::IsShared();  // it may be there when nobody else uses the device
};

// Throws NoMemory unless the device has room for these buffers, and beside them for what a library's kernels
// take.
void RequireDevice(const DeviceSession& session, const std::vector<BufferSpec>& buffers);
// The same of the host and a buffer of the session's.
void RequireOnHost(const HostBuffer& buffer, std::size_t bytes);
// Lays them out on the device. Throws NoMemory, too.
void ReserveOnDevice(const std::vector<BufferSpec>& buffers, DeviceSession* session);

// On the device lie, in this order: inputs with a seed, the same with random data, outputs, the workspace,
// all other inputs.
class CaseMemory {
 public:
  explicit CaseMemory(Operands operands);

  const Operands& operands() const { return operands_; }
  // The places of buffers on the device.
  std::size_t InputPlace(std::size_t input) const { return places_[input]; }
  std::size_t RandomPlace(std::size_t input) const { return places_[input] + seeded_; }  // of one with a seed
  std::size_t OutputPlace(std::size_t output) const { return 2 * seeded_ + output; }
  std::size_t WorkspacePlace() const { return OutputPlace(operands_.outputs.size()); }

  // Of all inputs that have a seed.
  std::size_t SeededBytes() const;
  // All outputs in host memory, one behind the other: where each begins, and the bytes of all.
  std::size_t OutputOffset(std::size_t output) const;
  std::size_t OutputBytes() const { return OutputOffset(operands_.outputs.size()); }
  // Of a host buffer that takes any input, or all outputs.
  std::size_t ReadbackBytes() const;
  // Whether random inputs lie beside the exact ones: not where they are very large, or found no room.
  bool has_random() const { return random_; }
  std::vector<BufferSpec> Buffers(std::size_t workspace_bytes) const;
  // The pointers of these buffers once they are laid out: for a run on the exact inputs, or on the random
  // ones; where these have no room, the exact ones.
  VariantPack Pack(const DeviceBuffers& memory, bool random, std::size_t workspace_bytes) const;
  // Throws NoMemory with what is needed and what there is. Random inputs are no need where the device is this
  // process's alone: without room for them the rest of the case has none. Call it before Reserve. What
  // earlier cases left in this process is given back before the host is said to have no room.
  void Require(const ReferenceSource& data, std::size_t workspace_bytes, DeviceSession* session);
  // How often that was done. The session's host buffers are others then.
  int times_given_back() const { return times_given_back_; }
  // Lays the buffers out on the device. Throws NoMemory, too.
  void Reserve(DeviceSession* session, std::size_t workspace_bytes) const;

 private:
  // Of the host: all that the case takes, and what this process takes more than it has.
  struct HostBytes {
    double need = 0, growth = 0;
  };
  // The session's buffers with what the case needs of each.
  std::vector<std::pair<HostBuffer*, std::size_t>> HostBuffers(DeviceSession* session) const;
  HostBytes OnHost(const ReferenceSource& data, DeviceSession* session) const;
  void RequireHost(const ReferenceSource& data, DeviceSession* session);
  void GiveBack(const ReferenceSource& data, DeviceSession* session);

  const Operands operands_;
  std::size_t seeded_ = 0;           // inputs that have a seed
  std::vector<std::size_t> places_;  // of each input
  bool random_;
  int times_given_back_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_CASE_MEMORY_H_
