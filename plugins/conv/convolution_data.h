// The tensors and the exact data of a convolution, as a compute case takes them. Must not know CUDA, cuDNN or
// the SDK.
#ifndef CUDNN_CI_PLUGINS_CONV_CONVOLUTION_DATA_H_
#define CUDNN_CI_PLUGINS_CONV_CONVOLUTION_DATA_H_

#include <memory>

#include "compute/operand.h"
#include "compute/reference_data.h"
#include "conv/operation.h"
#include "conv/recipe.h"

namespace cudnn_ci {

// The places of a convolution's operands: a, b and, where there is one, the bias; y.
enum ConvolutionInput : std::size_t { kA, kB, kBias };
enum ConvolutionOutput : std::size_t { kY };

// Inputs are of `type`. The result is guarded by one row of it with all its channels, which is what a kernel
// writes too much that counts one row too many; by as many bytes as a guard is allowed to have.
Operands OperandsOf(const Problem& problem, DataType type, Layout layout);

// The data of a recipe and the reference for them, from this process's cache (ReferenceOf), in the operands'
// types and layout.
std::shared_ptr<const ReferenceSource> ReferenceSourceOf(const Problem& problem, const Operands& operands,
                                                         const Recipe& recipe);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_CONVOLUTION_DATA_H_
