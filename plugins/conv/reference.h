// The exact result of a convolution, computed on the CPU in integers. One reference serves every type,
// layout and algorithm of its shape. Must not know CUDA or cuDNN: the library under test may not grade
// itself.
//
// Inputs and filters are small integers, so that every partial sum is exact in any accumulator, in any
// order: a right kernel has no rounding to hide behind before its last step. Which values:
//   reduction (c/groups * kernel size)   input            filter
//   up to 16                             -3 ... 3         -3 ... 3 without 0
//   up to 64                             -1, 0, 1         -1, 1
//   more                                 -1, 0, 1         -1, 0, 1
// Small filters get more values and no zeros, since otherwise two channels would often be equal and a
// swap of them invisible. In no case does |y| exceed kMaxOutput.
#ifndef CUDNN_CI_PLUGINS_CONV_REFERENCE_H_
#define CUDNN_CI_PLUGINS_CONV_REFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "conv/shape.h"

namespace cudnn_ci {

constexpr int kMaxOutput = 32767;
// Products in one output element; with more, hardly a filter's weight could be other than zero.
constexpr std::int64_t kMaxReduction = 64 * std::int64_t{kMaxOutput};
// Inputs and filters lie in [-kMaxValue, kMaxValue].
constexpr int kMaxValue = 3;

struct Reference {
  ConvShape shape;
  std::vector<std::int8_t> x, w;  // NCHW and KCRS order (with depth: NCDHW, KCTRS)
  std::vector<std::int16_t> y;    // NCHW order
  int max_abs = 0;                // of y

  std::size_t Bytes() const { return x.size() + w.size() + 2 * y.size(); }
};

// Host memory that a reference of this shape needs, in bytes.
double ReferenceBytes(const ConvShape& shape);

// Data of the shape, the same for equal shapes in every process and on every machine.
void FillExactData(Reference* reference);
// y from x and w.
void Convolve(Reference* reference);

// Remembers the references last asked for. Safe to use from any thread.
class ReferenceCache {
 public:
  // Holds up to `capacity` bytes, and always the latest.
  explicit ReferenceCache(std::size_t capacity) : capacity_(capacity) {}

  // Made anew if it is not remembered. Throws what FillExactData and Convolve throw.
  std::shared_ptr<const Reference> Get(const ConvShape& shape);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Reference> reference;
  };
  double Bytes() const;

  const std::size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // latest first
};

// From this process's cache, of 512 MiB.
std::shared_ptr<const Reference> ReferenceOf(const ConvShape& shape);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_REFERENCE_H_
