// The memory of one case: which buffers it has, and whether device and host have room for them. Must not know
// the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CONV_CASE_MEMORY_H_
#define CUDNN_CI_PLUGINS_CONV_CASE_MEMORY_H_

#include <cudnn_ci/plugin.h>

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "common/device_buffers.h"
#include "common/session.h"
#include "conv/operation.h"
#include "conv/recipe.h"
#include "conv/reference_ahead.h"

namespace cudnn_ci {

// The places of the buffers.
enum Buffer : std::size_t { kA, kB, kRandomA, kRandomB, kY, kWorkspace, kBias };  // kBias where there is one

// Memory that a case lacks; the context is sound, and another choice may need less.
struct NoMemory : std::exception {
  NoMemory(cci_memory m, std::string n, std::string s) : memory(m), need(std::move(n)), seen(std::move(s)) {}
  cci_memory memory;
  std::string need, seen;
  bool in_company = Session::InCompany();  // it may be there when nobody else uses the device
};

// Throws NoMemory unless the device has room for these buffers, and beside them for what cuDNN's kernels
// take.
void RequireDevice(const Session& session, const std::vector<BufferSpec>& buffers);
// The same of the host and a buffer of the session's.
void RequireOnHost(const HostBuffer& buffer, std::size_t bytes);
// Lays them out on the device. Throws NoMemory, too.
void ReserveOnDevice(const std::vector<BufferSpec>& buffers, Session* session);

class CaseMemory {
 public:
  CaseMemory(const Problem& problem, DataType type);

  const Problem& problem() const { return problem_; }
  // Of the inputs, and of the result.
  DataType type() const { return type_; }
  DataType output_type() const { return problem_.OutputType(type_); }
  // Of an input.
  std::size_t Bytes(const Tensor& tensor) const;
  std::size_t OutputBytes() const;
  // Of one row of the result with all its channels, which is what a kernel writes too much that counts one
  // row too many; as many as a guard is allowed to have.
  std::size_t RowBytes() const;
  // 0 without a bias.
  std::size_t BiasBytes() const;
  // Whether random inputs lie beside the exact ones: not where they are very large, or found no room.
  bool has_random() const { return random_; }
  std::vector<BufferSpec> Buffers(std::size_t workspace_bytes) const;
  // Starts to make this reference, if the host has room for it.
  ReferenceAhead Begin(const Recipe& recipe) const;
  // Of a host buffer that takes any of the tensors.
  std::size_t ReadbackBytes() const;
  // Throws NoMemory with what is needed and what there is. Random inputs are no need where the device is this
  // process's alone: without room for them the rest of the case has none. Call it before Reserve. What
  // earlier cases left in this process is given back before the host is said to have no room.
  void Require(const Recipe& recipe, std::size_t workspace_bytes, Session* session);
  // How often that was done. The session's host buffers are others then.
  int times_given_back() const { return times_given_back_; }
  // Lays the buffers out on the device. Throws NoMemory, too.
  void Reserve(Session* session, std::size_t workspace_bytes) const;

 private:
  // Of the host: all that the case takes, and what this process takes more than it has.
  struct HostBytes {
    double need = 0, growth = 0;
  };
  // The session's buffers with what the case needs of each.
  std::vector<std::pair<HostBuffer*, std::size_t>> HostBuffers(Session* session) const;
  HostBytes OnHost(const Recipe& recipe, Session* session) const;
  void RequireHost(const Recipe& recipe, Session* session);
  void GiveBack(const Recipe& recipe, Session* session);

  const Problem problem_;
  const DataType type_;
  bool random_;
  int times_given_back_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_CASE_MEMORY_H_
