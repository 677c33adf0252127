// What a cuDNN has to refuse: convolutions that cannot be, and calls that break the contract of one that can.
// Arithmetic alone; must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_CONV_REFUSALS_H_
#define CUDNN_CI_PLUGINS_CONV_REFUSALS_H_

#include <cstdint>
#include <string>

#include "common/numeric/data_type.h"
#include "conv/operation.h"

namespace cudnn_ci {

struct Refusal {
  enum class Kind {
    kShape,      // no convolution has this shape
    kElements,   // a tensor of 2^31 elements or more, which some releases compute and others refuse
    kPointer,    // a pointer that is less aligned than its tensor declares
    kWorkspace,  // less workspace than was asked for
  };
  Kind kind = Kind::kShape;
  Problem problem;
  std::string why;  // a phrase: "x has height 0"

  // The library may refuse it before anything is run; else the description is sound, and only the call is
  // not.
  bool InDescription() const { return kind == Kind::kShape || kind == Kind::kElements; }
};

// "zero_dimension", "kernel_too_large", "channel_mismatch", "group_mismatch", "too_many_elements",
// "misaligned_pointer", "small_workspace". Throws std::invalid_argument for others.
Refusal RefusalOf(const std::string& what, Operation operation);

// A small convolution that every cuDNN has in every type and layout.
ConvShape PossibleShape();

// kElements: images from this one on lie behind the first 2^31 elements of x and hold 2, those before it 1;
// the filter is all 1.
std::int64_t FirstFarImage(const ConvShape& shape);
// The 32-bit word of which memory that holds `value` in each element consists; of types of 2 and 4 bytes.
std::uint32_t WordOf(DataType type, double value);
// Judges the result of such a convolution, one pixel an image: empty if all of it is right, else "3 of 16
// results are wrong, first (n=1,k=0): expected 128, got 64".
std::string DescribeWrongFarResults(const ConvShape& shape, DataType type, const unsigned char* y);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_REFUSALS_H_
