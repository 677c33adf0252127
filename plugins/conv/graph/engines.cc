// Seen with cuDNN 9.14, 9.19 and 9.28 on an H200, by comparing every output of every engine on data of
// {-1,0,1}, and by the names of the kernels that ran: the indexes are the same in all three.
#include "conv/graph/engines.h"

#include <cudnn.h>

namespace cudnn_ci {
namespace {

struct KnownEngine {
  Operation operation;
  std::int64_t index;
  Arithmetic arithmetic;
};
// Among them are some without a note: the backward filter pass's engine 17, which is heuristics A's first
// choice for plain 3x3 layers, its engine 4, which is off by 3e-7 in float32 where the image is one pixel
// (9.14, H200) and exact elsewhere, and FFTs of volumes.
constexpr KnownEngine kTransforms[] = {{Operation::kForward, 3, Arithmetic::kFft},
                                       {Operation::kForward, 4, Arithmetic::kFft},
                                       {Operation::kForward, 6, Arithmetic::kWinograd},
                                       {Operation::kForward, 12, Arithmetic::kWinograd},
                                       {Operation::kBackwardData, 4, Arithmetic::kFft},
                                       {Operation::kBackwardData, 5, Arithmetic::kFft},
                                       {Operation::kBackwardData, 50, Arithmetic::kFft},
                                       {Operation::kBackwardData, 7, Arithmetic::kWinograd},
                                       {Operation::kBackwardData, 19, Arithmetic::kWinograd},
                                       {Operation::kBackwardFilter, 4, Arithmetic::kFft},
                                       {Operation::kBackwardFilter, 18, Arithmetic::kFft},
                                       {Operation::kBackwardFilter, 17, Arithmetic::kWinograd}};

}  // namespace

Arithmetic ArithmeticOfEngine(const Problem& problem, DataType type, const EngineFacts& engine) {
  if (engine.Has(CUDNN_NUMERICAL_NOTE_WINOGRAD) || engine.Has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4) ||
      engine.Has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) ||
      engine.Has(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13))
    return Arithmetic::kWinograd;
  if (engine.Has(CUDNN_NUMERICAL_NOTE_FFT)) return Arithmetic::kFft;
  // The table is of the wider types: fp8 numbers its engines anew, as graphs with pointwise operations do (11
  // engines, where a convolution alone has 81), and int8 has no transforms.
  if (SizeOf(type) == 1 || problem.epilogue.any()) return Arithmetic::kExact;
  for (const KnownEngine& known : kTransforms)
    if (known.operation == problem.operation && known.index == engine.index) return known.arithmetic;
  return Arithmetic::kExact;
}

}  // namespace cudnn_ci
