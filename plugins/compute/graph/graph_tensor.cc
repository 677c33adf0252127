// Sizes and strides of a tensor.
#include "compute/graph/graph_tensor.h"

namespace cudnn_ci {
namespace {

// Of every tensor, in bytes. With less declared the best engines are not offered.
constexpr std::int64_t kTensorAlignment = 16;

}  // namespace

// Sizes stay in the order n, c, h, w and k, c, r, s; strides alone say how they lie in memory.
GraphDescriptor MakeGraphTensor(const CudnnApi& api, const char* name, const std::vector<std::int64_t>& dims,
                                const GraphTensor& held) {
  std::vector<std::int64_t> strides(dims.size());
  const bool channels_last = held.layout == Layout::kNhwc;
  std::int64_t stride = channels_last ? dims[1] : 1;
  for (std::size_t axis = dims.size(); axis-- > 2; stride *= dims[axis]) strides[axis] = stride;
  strides[1] = channels_last ? 1 : stride;
  strides[0] = channels_last ? stride : stride * dims[1];
  GraphDescriptor d(api, CUDNN_BACKEND_TENSOR_DESCRIPTOR, name);
  d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector<cudnnDataType_t>{held.type})
      .SetIntegers(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .SetIntegers(CUDNN_ATTR_TENSOR_STRIDES, strides)
      .SetIntegers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {held.uid})
      .SetIntegers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {kTensorAlignment});
  // A vector of bool has no array in it; both are a byte.
  static_assert(sizeof(bool) == sizeof(char));
  if (held.is_virtual) d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, std::vector<char>{1});
  d.Finalize();
  return d;
}

}  // namespace cudnn_ci
