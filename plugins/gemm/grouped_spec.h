// The products of one grouped call, as the parameters ask for them, and where each one's matrices lie. Must
// not know CUDA, cuBLAS or the SDK.
#ifndef CUDNN_CI_PLUGINS_GEMM_GROUPED_SPEC_H_
#define CUDNN_CI_PLUGINS_GEMM_GROUPED_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/numeric/data_type.h"
#include "gemm/matmul_spec.h"

namespace cudnn_ci {

// An element of the memory that holds a matrix of every product, one behind the other.
struct GroupedPlace {
  std::size_t group = 0;
  std::int64_t index = 0;  // among the elements of the group
};

// C = alpha op(A) op(B) + beta C, for each product of each group. Groups may differ in all but the types.
struct GroupedSpec {
  DataType type = DataType::kFloat32;
  bool tf32 = false;
  bool transpose_a = false, transpose_b = false;  // of the groups that do not say
  // Each is one product, or a batch of as many as the group has. A group of none, or whose m, n or k is 0, is
  // empty.
  std::vector<MatmulSpec> groups = {};

  // "17x19x23", "64x48x32*2 nt alpha=2 beta=-1 padding=3": adds the group. Empty, or what is wrong with it,
  // in words; then nothing is added. Type and transposes have to be set before.
  std::string Add(const std::string& text);
  // What is wrong with the groups together; empty: nothing.
  std::string Problem() const;

  std::int64_t Products() const;
  bool HasEmptyGroup() const;
  // Where each group's matrices begin, in elements; at the end the elements of all.
  std::vector<std::int64_t> Starts(MatmulLayout (MatmulSpec::*layout)() const) const;
  // "float16, groups 17x19x23 tn; 64x48x32*2 nt alpha=2".
  std::string Text() const;
};

bool IsEmpty(const MatmulSpec& group);

// The group of an element, by what Starts gives.
GroupedPlace PlaceIn(const std::vector<std::int64_t>& starts, std::int64_t index);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_GROUPED_SPEC_H_
