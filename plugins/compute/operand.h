// The tensors that an operation reads and writes, as the memory they take. Knows no operation and no CUDA.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_OPERAND_H_
#define CUDNN_CI_PLUGINS_COMPUTE_OPERAND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/numeric/data_type.h"
#include "common/numeric/integers.h"

namespace cudnn_ci {

struct Operand {
  std::string name;  // for messages: "x"
  DataType type = DataType::kFloat32;
  Extent extent;  // its elements
  Layout layout = Layout::kNchw;
  // Of an input: the seed of its random data (FillNormal). An input without one has the same data in all
  // runs.
  std::optional<std::uint64_t> seed = {};
  std::size_t guard =
      0;  // of an output: bytes that are guarded at either side, where that is more than usual
  // Of an output: the elements, by their index, that no run may write to. Empty: it may write to all.
  std::function<bool(std::int64_t)> padding = {};

  std::size_t Bytes() const { return static_cast<std::size_t>(extent.Count()) * SizeOf(type); }
};

// In the order in which a variant pack has their pointers.
struct Operands {
  std::vector<Operand> inputs, outputs;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_OPERAND_H_
