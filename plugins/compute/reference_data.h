// The inputs of a run and the outputs that are right for them, in host memory. Knows no operation and no
// CUDA: the library under test may not grade itself.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_REFERENCE_DATA_H_
#define CUDNN_CI_PLUGINS_COMPUTE_REFERENCE_DATA_H_

#include <cstddef>
#include <memory>

#include "common/numeric/compare.h"

namespace cudnn_ci {

// Never changes; may be used from any thread.
class ReferenceData {
 public:
  virtual ~ReferenceData() = default;
  // Writes an input in its operand's type and layout; `to` has room for it and is aligned for the type.
  virtual void Encode(std::size_t input, unsigned char* to) const = 0;
  // Judges every element of an output, which lies in memory as its operand says. `bound` is the largest error
  // before the last rounding, 0 for exact arithmetic, or kAnyNumber.
  virtual Judgement Judge(std::size_t output, double bound, const unsigned char* got) const = 0;
  // What holds the inputs: data with the same owner have the same inputs, and need not be uploaded again.
  virtual std::shared_ptr<const void> owner() const = 0;
};

// Says which reference data a run gets, before they are made. Cheap to make; the data are not.
class ReferenceSource {
 public:
  virtual ~ReferenceSource() = default;
  // Makes them, or takes them from a cache.
  virtual std::shared_ptr<const ReferenceData> Get() const = 0;
  // Bytes of host memory that Get takes in a fresh process, and in this one, which may have them already.
  virtual double MakingBytes() const = 0;
  virtual double Growth() const = 0;
  // Empties the caches of all other data.
  virtual void ForgetOthers() const = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_REFERENCE_DATA_H_
