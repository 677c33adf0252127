// One product as the parameters ask for it: its sizes, types and layout. Must not know CUDA, cuBLASLt or the
// SDK.
#ifndef CUDNN_CI_PLUGINS_GEMM_MATMUL_SPEC_H_
#define CUDNN_CI_PLUGINS_GEMM_MATMUL_SPEC_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "common/numeric/data_type.h"

namespace cudnn_ci {

// A matrix in memory, column by column.
struct MatmulLayout {
  std::int64_t rows = 0, columns = 0, ld = 0, stride = 0;  // stride: from one of the batch to the next

  std::int64_t Index(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return batch * stride + column * ld + row;
  }
};

struct MatmulPlace {
  std::int64_t batch = 0, row = 0, column = 0;
  bool padding = false;  // behind the rows or the columns of its matrix
};

enum class MatmulScales { kNone, kTensor, kRow };

// D = epilogue(alpha op(A) op(B) + beta C).
struct MatmulSpec {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  std::int64_t padding = 0;  // elements by which each leading dimension is larger than needed
  bool transpose_a = false, transpose_b = false;
  DataType type = DataType::kFloat32;  // of A and B
  bool tf32 = false;                   // float32 may be computed as TF32
  double alpha = 1, beta = 0;
  bool bias = false, relu = false, gelu = false;
  MatmulScales scales = MatmulScales::kNone;
  std::int64_t alignment = 1;  // each matrix of a batch begins at a multiple of so many elements
  std::uint64_t data_set = 0;  // products of other data sets have other numbers

  // "136x72x264", of which each is `least` or more; false: it is none.
  bool SetSize(const std::string& text, std::int64_t least = 1);
  // Of C, D and the bias: int32 of int8, bfloat16 of 8 bits.
  DataType OutputType() const;
  MatmulLayout A() const { return transpose_a ? Layout(k, m) : Layout(m, k); }
  MatmulLayout B() const { return transpose_b ? Layout(n, k) : Layout(k, n); }
  MatmulLayout D() const { return Layout(m, n); }
  std::int64_t Elements(const MatmulLayout& layout) const { return batch * layout.stride; }
  // Of the largest of A, B and D; may be more than 64 bits can count.
  double MostElements() const;
  static MatmulPlace PlaceOf(const MatmulLayout& layout, std::int64_t index);
  // That of `index`, by that of the index before it, which most often takes no division.
  static MatmulPlace PlaceBehind(const MatmulLayout& layout, MatmulPlace before, std::int64_t index) {
    if (before.padding || ++before.row >= layout.rows) return PlaceOf(layout, index);
    return before;
  }
  double Flops() const;
  // "float16 tn 136x72x264, padding 8, batch 2, alpha 2, beta 1, bias_relu".
  std::string Text() const;
  std::string EpilogueText() const;
  std::string TypeText() const;

 private:
  MatmulLayout Layout(std::int64_t rows, std::int64_t columns) const {
    // With padding there is one column more than needed as well. A leading dimension is never 0.
    const std::int64_t ld = std::max<std::int64_t>(rows, 1) + padding;
    const std::int64_t elements = ld * (columns + (padding > 0 ? 1 : 0));
    return {rows, columns, ld, (elements + alignment - 1) / alignment * alignment};
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_MATMUL_SPEC_H_
