// The exact result of a convolution or of one of its gradients, computed on the CPU in integers. One
// reference serves every type, layout and algorithm that its data suit. Must not know CUDA or cuDNN: the
// library under test may not grade itself.
#ifndef CUDNN_CI_PLUGINS_CONV_REFERENCE_H_
#define CUDNN_CI_PLUGINS_CONV_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/numeric/compare.h"
#include "common/numeric/integers.h"
#include "conv/operation.h"
#include "conv/recipe.h"

namespace cudnn_ci {

// No result exceeds it.
constexpr int kMaxOutput = 32767;
// Products in one output element; with more, hardly a filter's weight could be other than zero.
constexpr std::int64_t kMaxReduction = 64 * std::int64_t{kMaxOutput};

// Tensors as the problem has them, in the order n, c, sizes. The convolution is linear: the result of two
// scales is the results of either scale, each in 16 bits.
struct Reference {
  Problem problem;
  Recipe recipe;
  Inputs inputs;
  std::vector<std::int16_t> y, y_high;  // y_high is empty without two scales
  int max_abs = 0;                      // of y

  TwoScale<std::int8_t> A() const {
    return {inputs.a.data(), inputs.a_high.empty() ? nullptr : inputs.a_high.data(), recipe.shift};
  }
  TwoScale<std::int8_t> B() const { return {inputs.b.data()}; }
  Expected Y() const { return {{y.data(), y_high.empty() ? nullptr : y_high.data(), recipe.shift}, max_abs}; }
  std::size_t Bytes() const;
};

// Host memory that a reference needs, in bytes.
double ReferenceBytes(const Problem& problem, const Recipe& recipe);
// The same with what the threads take that make it, which may be more by far: each has its images at hand.
double MakingBytes(const Problem& problem, const Recipe& recipe);

// The results from problem and inputs, epilogue included. Throws std::logic_error where they might not fit 16
// bits.
void ComputeReference(Reference* reference);

// y of one operation from a and b, each its own algorithm. The sums are kept modulo 2^16: a true result
// within 16 bits is exact however far partial sums wander.
std::vector<std::int16_t> ConvolveForward(const ConvShape& shape, const std::vector<std::int8_t>& x,
                                          const std::vector<std::int8_t>& w);
std::vector<std::int16_t> ConvolveBackwardData(const ConvShape& shape, const std::vector<std::int8_t>& dy,
                                               const std::vector<std::int8_t>& w);
std::vector<std::int16_t> ConvolveBackwardFilter(const ConvShape& shape, const std::vector<std::int8_t>& dy,
                                                 const std::vector<std::int8_t>& x);

// What they take beside operands and result, at most, in bytes.
double ForwardWorkBytes(const ConvShape& shape);
double BackwardDataWorkBytes(const ConvShape& shape);
double BackwardFilterWorkBytes(const ConvShape& shape);

// Remembers the references last asked for. Safe to use from any thread.
class ReferenceCache {
 public:
  // Holds up to `capacity` bytes, and always the latest.
  explicit ReferenceCache(std::size_t capacity) : capacity_(capacity) {}

  // Made anew if it is not remembered. Throws what MakeInputs and ComputeReference throw.
  std::shared_ptr<const Reference> Get(const Problem& problem, const Recipe& recipe);
  // How many bytes more Get takes at its worst, less those of the others that it forgets; 0 for one that is
  // remembered. Waits for one that is being made.
  double Growth(const Problem& problem, const Recipe& recipe);
  // Forgets all but this one. Waits for one that is being made.
  void ForgetOthers(const Problem& problem, const Recipe& recipe);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Reference> reference;
  };
  std::list<Entry>::iterator Find(const Problem& problem, const Recipe& recipe);
  // How many of the latest can stay beside one that is made.
  std::size_t Stay(const Problem& problem, const Recipe& recipe) const;

  const std::size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // latest first
};

// From this process's cache, of 512 MiB.
std::shared_ptr<const Reference> ReferenceOf(const Problem& problem, const Recipe& recipe);
// Calls that, for PrecomputedReference; the result is kept there. Empty for a reference that is too large to
// be kept or takes more than `most_bytes` of host memory to make.
std::function<void()> MakingOfReference(const Problem& problem, const Recipe& recipe, double most_bytes);
// The same of Growth.
double ReferenceGrowth(const Problem& problem, const Recipe& recipe);
// The same of ForgetOthers.
void ForgetOtherReferences(const Problem& problem, const Recipe& recipe);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_REFERENCE_H_
