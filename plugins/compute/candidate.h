// One of the ways in which a library can compute a problem: an algorithm of cuDNN's legacy API, an engine
// configuration of its graph API, an algorithm of cuBLASLt. Must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_CANDIDATE_H_
#define CUDNN_CI_PLUGINS_COMPUTE_CANDIDATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/cudnn_failure.h"

namespace cudnn_ci {

// The device memory of one run: its operands in their order (Operands), and the workspace, which is null if
// `workspace_bytes` is 0. An operand without elements is null.
struct VariantPack {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// All functions may throw CudnnFailure. Belongs to the thread of the library's handle it was made with, which
// must outlive it. Candidates of one list are used one after the other: Prepare, then Run as often as wanted.
class Candidate {
 public:
  virtual ~Candidate() = default;
  // "gemm", "engine 17".
  virtual std::string Name() const = 0;
  // Agrees with the library. Returns the bytes of workspace that a run needs.
  virtual std::size_t Prepare() = 0;
  // Whether the library says that the same call gives the same bits; known once it is prepared.
  virtual bool deterministic() const = 0;
  // What the library notes about its numbers (cudnnBackendNumericalNote_t); known once it is prepared.
  virtual std::vector<int> numerical_notes() const { return {}; }
  // Bytes of workspace that the library gave with its proposal, for a run with the same settings. None if it
  // was not proposed, or if other settings are asked for.
  virtual std::optional<std::size_t> proposed_bytes() const { return std::nullopt; }
  // The most bytes of workspace that the library was told to ask for. None if nobody told it.
  virtual std::optional<std::size_t> allowed_bytes() const { return std::nullopt; }
  // The algorithm's number in cudnn.h, the engine's global index.
  virtual std::int64_t number() const = 0;
  // The outputs from the inputs; asynchronous.
  virtual void Run(const VariantPack& pack) = 0;

  // The names of the kernels of a run, once somebody has looked; empty: nobody has, or they cannot be told.
  const std::vector<std::string>& kernels() const { return kernels_; }
  void set_kernels(std::vector<std::string> names) { kernels_ = std::move(names); }

 private:
  std::vector<std::string> kernels_;
};

struct Candidates {
  std::vector<std::unique_ptr<Candidate>> list;  // in the order of preference
  std::string asked;  // the call that named them, empty if they were named by the matrix
  // Puts further ones behind them that the library takes its time to name. Empty: there are none.
  std::function<void(Candidates*)> more;

  // The one of this place, null behind the last one; comes to the further ones only where those before will
  // not do. Throws CudnnFailure.
  Candidate* At(std::size_t place) {
    if (place == list.size() && more) std::exchange(more, nullptr)(this);
    return place < list.size() ? list[place].get() : nullptr;
  }
};

// Device memory with exact inputs and so much workspace, for a search that runs the candidates.
using SearchMemory = std::function<VariantPack(std::size_t workspace_bytes)>;

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_CANDIDATE_H_
