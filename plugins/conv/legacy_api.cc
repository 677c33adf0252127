// Descriptors and calls of the legacy API, the same for cuDNN 8 and 9. Judges nothing.
#include "conv/legacy_api.h"

#include <string>
#include <vector>

namespace cudnn_ci {
namespace {

struct NamedAlgorithm {
  const char* name;
  cudnnConvolutionFwdAlgo_t algorithm;
};
constexpr NamedAlgorithm kAlgorithms[] = {
    {"implicit_gemm", CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM},
    {"implicit_precomp_gemm", CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM},
    {"gemm", CUDNN_CONVOLUTION_FWD_ALGO_GEMM},
    {"direct", CUDNN_CONVOLUTION_FWD_ALGO_DIRECT},
    {"fft", CUDNN_CONVOLUTION_FWD_ALGO_FFT},
    {"fft_tiling", CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING},
    {"winograd", CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD},
    {"winograd_nonfused", CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED},
};

cudnnDataType_t CudnnType(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return CUDNN_DATA_HALF;
    case DataType::kBfloat16:
      return CUDNN_DATA_BFLOAT16;
    case DataType::kFloat64:
      return CUDNN_DATA_DOUBLE;
    case DataType::kFloat32:
      break;
  }
  return CUDNN_DATA_FLOAT;
}

// The last `count` axes, as the ints that descriptors take.
std::vector<int> LastAxes(const Axes& axes, int count) {
  return std::vector<int>(axes.end() - count, axes.end());
}

std::string Spaced(const std::vector<int>& values) {
  std::string text;
  for (const int v : values) text.append(1, ' ').append(std::to_string(v));
  return text;
}

}  // namespace

cudnnConvolutionFwdAlgo_t LegacyAlgorithm(const std::string& name) {
  for (const NamedAlgorithm& a : kAlgorithms)
    if (name == a.name) return a.algorithm;
  throw std::invalid_argument("unknown algorithm '" + name + "'");
}

std::string LegacyAlgorithmName(cudnnConvolutionFwdAlgo_t algorithm) {
  for (const NamedAlgorithm& a : kAlgorithms)
    if (algorithm == a.algorithm) return a.name;
  return "algorithm " + std::to_string(static_cast<int>(algorithm));
}

cudnnMathType_t LegacyMath(const std::string& name) {
  if (name == "default") return CUDNN_DEFAULT_MATH;
  if (name == "fma") return CUDNN_FMA_MATH;
  if (name == "tensor") return CUDNN_TENSOR_OP_MATH;
  throw std::invalid_argument("unknown math type '" + name + "'");
}

LegacyForward::LegacyForward(const CudnnApi& api, cudnnHandle_t handle, const ConvShape& shape, DataType type,
                             Layout layout)
    : api_(api), handle_(handle), shape_(shape), type_(type), layout_(layout) {
  try {
    Require(api_.CreateTensorDescriptor(&x_), "cudnnCreateTensorDescriptor");
    Require(api_.CreateTensorDescriptor(&y_), "cudnnCreateTensorDescriptor");
    Require(api_.CreateFilterDescriptor(&w_), "cudnnCreateFilterDescriptor");
    Require(api_.CreateConvolutionDescriptor(&convolution_), "cudnnCreateConvolutionDescriptor");
    SetTensor(x_, shape_.c, shape_.in);
    SetTensor(y_, shape_.k, shape_.out);
    SetFilterAndConvolution();
    CheckOutputSize();
  } catch (...) {
    Destroy();
    throw;
  }
}

LegacyForward::~LegacyForward() { Destroy(); }

void LegacyForward::Destroy() {
  if (convolution_) api_.DestroyConvolutionDescriptor(convolution_);
  if (w_) api_.DestroyFilterDescriptor(w_);
  if (y_) api_.DestroyTensorDescriptor(y_);
  if (x_) api_.DestroyTensorDescriptor(x_);
}

void LegacyForward::Require(cudnnStatus_t status, const char* call) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const bool unsupported = api_.IsUnsupported(status);
  throw CudnnFailure(std::string(call) + ": " + api_.Describe(status), unsupported);
}

void LegacyForward::SetTensor(cudnnTensorDescriptor_t descriptor, std::int64_t channels, const Axes& sizes) {
  const int rank = 2 + shape_.spatial;
  std::vector<int> dims = {static_cast<int>(shape_.n), static_cast<int>(channels)};
  for (const int size : LastAxes(sizes, shape_.spatial)) dims.push_back(size);
  // Strides in the order of dims, whatever the order in memory. NHWC puts channels innermost. A shape has
  // fewer than 2^31 elements, so that every stride is an int.
  std::vector<int> strides(static_cast<std::size_t>(rank));
  const bool channels_last = layout_ == Layout::kNhwc;
  int stride = channels_last ? dims[1] : 1;
  for (int axis = rank - 1; axis >= 2; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= dims[static_cast<std::size_t>(axis)];
  }
  strides[1] = channels_last ? 1 : stride;
  strides[0] = channels_last ? stride : stride * dims[1];
  Require(api_.SetTensorNdDescriptor(descriptor, CudnnType(type_), rank, dims.data(), strides.data()),
          "cudnnSetTensorNdDescriptor");
}

void LegacyForward::SetFilterAndConvolution() {
  const int spatial = shape_.spatial;
  std::vector<int> dims = {static_cast<int>(shape_.k), static_cast<int>(shape_.ChannelsPerGroup())};
  for (const int size : LastAxes(shape_.kernel, spatial)) dims.push_back(size);
  // Sizes stay in the order k, c, r, s; the format alone says how they lie in memory.
  const cudnnTensorFormat_t format = layout_ == Layout::kNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  Require(api_.SetFilterNdDescriptor(w_, CudnnType(type_), format, 2 + spatial, dims.data()),
          "cudnnSetFilterNdDescriptor");
  const cudnnDataType_t compute = type_ == DataType::kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  Require(api_.SetConvolutionNdDescriptor(convolution_, spatial, LastAxes(shape_.pad, spatial).data(),
                                          LastAxes(shape_.stride, spatial).data(),
                                          LastAxes(shape_.dilation, spatial).data(), CUDNN_CROSS_CORRELATION,
                                          compute),
          "cudnnSetConvolutionNdDescriptor");
  Require(api_.SetConvolutionGroupCount(convolution_, static_cast<int>(shape_.groups)),
          "cudnnSetConvolutionGroupCount");
}

void LegacyForward::CheckOutputSize() const {
  std::vector<int> got(static_cast<std::size_t>(2 + shape_.spatial));
  Require(api_.GetConvolutionNdForwardOutputDim(convolution_, x_, w_, 2 + shape_.spatial, got.data()),
          "cudnnGetConvolutionNdForwardOutputDim");
  std::vector<int> wanted = {static_cast<int>(shape_.n), static_cast<int>(shape_.k)};
  for (const int size : LastAxes(shape_.out, shape_.spatial)) wanted.push_back(size);
  if (got == wanted) return;
  throw CudnnFailure(
      "cudnnGetConvolutionNdForwardOutputDim: answered" + Spaced(got) + ", expected" + Spaced(wanted), false);
}

void LegacyForward::SetMath(cudnnMathType_t math) {
  Require(api_.SetConvolutionMathType(convolution_, math), "cudnnSetConvolutionMathType");
}

std::vector<LegacyProposal> LegacyForward::Proposals() const {
  cudnnConvolutionFwdAlgoPerf_t answers[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  Require(api_.GetConvolutionForwardAlgorithm_v7(handle_, x_, w_, convolution_, y_,
                                                 CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, answers),
          "cudnnGetConvolutionForwardAlgorithm_v7");
  std::vector<LegacyProposal> proposals;
  for (int i = 0; i < count; ++i)
    if (answers[i].status == CUDNN_STATUS_SUCCESS)
      proposals.push_back({answers[i].algo, answers[i].mathType});
  return proposals;
}

std::size_t LegacyForward::WorkspaceBytes(cudnnConvolutionFwdAlgo_t algorithm) const {
  std::size_t bytes = 0;
  Require(api_.GetConvolutionForwardWorkspaceSize(handle_, x_, w_, convolution_, y_, algorithm, &bytes),
          "cudnnGetConvolutionForwardWorkspaceSize");
  return bytes;
}

void LegacyForward::Run(cudnnConvolutionFwdAlgo_t algorithm, const void* x, const void* w, void* y,
                        void* workspace, std::size_t workspace_bytes) const {
  // Scaling factors are read as the compute type.
  const float one = 1, zero = 0;
  const double one64 = 1, zero64 = 0;
  const bool wide = type_ == DataType::kFloat64;
  const void* alpha = wide ? static_cast<const void*>(&one64) : &one;
  const void* beta = wide ? static_cast<const void*>(&zero64) : &zero;
  Require(api_.ConvolutionForward(handle_, alpha, x_, x, w_, w, convolution_, algorithm, workspace,
                                  workspace_bytes, beta, y_, y),
          "cudnnConvolutionForward");
}

}  // namespace cudnn_ci
