// One of the ways in which cuDNN can compute a problem: an algorithm of the legacy API, an engine of the
// graph API. What a case runs; must not know the SDK's Context or the oracle's data.
#ifndef CUDNN_CI_PLUGINS_CONV_CANDIDATE_H_
#define CUDNN_CI_PLUGINS_CONV_CANDIDATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/cudnn_failure.h"
#include "conv/recipe.h"

namespace cudnn_ci {

// Device memory of one problem (Problem::A, B, Y, Bias). `workspace` is null if `bytes` is 0, `bias` without
// one.
struct DevicePointers {
  const void *a, *b;
  void *y, *workspace;
  std::size_t workspace_bytes;
  const void* bias = nullptr;
};

// All functions may throw CudnnFailure. Belongs to the thread of the cuDNN handle it was made with, which
// must outlive it. Candidates of one list are used one after the other: Prepare, then Run as often as wanted.
class Candidate {
 public:
  virtual ~Candidate() = default;
  // "gemm", "engine 17".
  virtual std::string Name() const = 0;
  // Agrees with the library. Returns the bytes of workspace that a run needs.
  virtual std::size_t Prepare() = 0;
  // What notes and tables say that the result is to be judged by; known once it is prepared. The kernels may
  // know better (kernel_class.h).
  virtual Arithmetic arithmetic() const = 0;
  // Whether the library says that the same call gives the same bits; known once it is prepared.
  virtual bool deterministic() const = 0;
  // Whether the library notes that inputs or sums are rounded to a 16-bit type; known once it is prepared.
  virtual bool rounds_to_half() const { return false; }
  // Bytes of workspace that the library gave with its proposal, for a run with the same settings. None if it
  // was not proposed, or if other settings are asked for.
  virtual std::optional<std::size_t> proposed_bytes() const { return std::nullopt; }
  // The algorithm's number in cudnn.h, the engine's global index.
  virtual std::int64_t number() const = 0;
  // y from a and b; asynchronous.
  virtual void Run(const DevicePointers& memory) = 0;

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

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_CANDIDATE_H_
