// The three operations of a convolution: which tensors each reads and writes, and what it sums. Arithmetic
// alone; must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_CONV_OPERATION_H_
#define CUDNN_CI_PLUGINS_CONV_OPERATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "common/numeric/data_type.h"
#include "common/numeric/integers.h"
#include "conv/shape.h"

namespace cudnn_ci {

//                    a    b    y
// forward            x    w    y
// backward data      dy   w    dx, the gradient of x
// backward filter    dy   x    dw, the gradient of w
enum class Operation { kForward, kBackwardData, kBackwardFilter };

// "forward", "backward_data", "backward_filter".
std::string OperationName(Operation operation);
// The operation of that name. Throws std::invalid_argument for others.
Operation OperationFrom(const std::string& name);

// What a forward convolution does to its sums before it stores them.
struct Epilogue {
  bool bias = false;  // adds a number for each output channel
  bool relu = false;  // then gives 0 for what is negative

  bool any() const { return bias || relu; }
};

// The epilogue of that name: "none", "bias", "relu", "bias_relu". Throws std::invalid_argument for others.
Epilogue EpilogueFrom(const std::string& name);

// The type of a bias beside inputs of this one: theirs, and float32 where they have 8 bits, as frameworks
// have it.
DataType BiasTypeOf(DataType inputs);

// A tensor of an operation, as an array [outer][channels][sizes].
struct Tensor {
  const char* name = "";  // "x", "dw"
  std::int64_t outer = 0, channels = 0;
  Axes sizes{};

  Extent AsExtent() const { return {outer, channels, Product(sizes)}; }
  std::int64_t Count() const { return outer * channels * Product(sizes); }
};

// One operation of one shape.
struct Problem {
  Operation operation = Operation::kForward;
  ConvShape shape;
  Epilogue epilogue = {};               // of the forward convolution
  std::optional<DataType> output = {};  // the type of the result, where it is not that of the inputs

  Tensor A() const;
  Tensor B() const;
  Tensor Y() const;  // the result
  // [1][k][1], without elements where the epilogue has none.
  Tensor Bias() const;
  DataType OutputType(DataType inputs) const { return output.value_or(inputs); }
  // Products that one element of the result sums, padding included; at most, where a stride leaves some out.
  std::int64_t Reduction() const;
  // "backward_data x=... w=...", of a forward convolution the shape and what follows it, "x=... + bias +
  // relu": equal for equal problems only, but that the type of the result is not told.
  std::string Text() const;
  // The place of element `index` of the result, in the order n, c, sizes: "(n=0,k=1,p=2,q=3)" of y,
  // "(n=0,c=1,h=2,w=3)" of dx, "(k=0,c=1,r=2,s=3)" of dw, with z, d or t for depth.
  std::string Place(std::int64_t index) const;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_OPERATION_H_
