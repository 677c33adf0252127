// A libcudnn.so.9 that convolves float32 on the CPU, by the descriptors it is given: it takes strides and
// formats at their word, so a plugin that describes its buffers wrongly gets wrong numbers. The variable
// FAKE_CUDNN names a fault: each is one that a check must find.
#include <cudnn.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

struct cudnnTensorStruct {
  std::vector<int> dims, strides;
  cudnnDataType_t type;
};
struct cudnnFilterStruct {
  std::vector<int> dims;
  cudnnDataType_t type;
  cudnnTensorFormat_t format;
};
struct cudnnConvolutionStruct {
  std::vector<int> pad, stride, dilation;
  int groups = 1;
};

namespace {

bool Fault(const char* name) {
  const char* fault = getenv("FAKE_CUDNN");
  return fault && std::strcmp(fault, name) == 0;
}

constexpr auto kUnsupported = static_cast<cudnnStatus_t>(3000);
constexpr auto kExecutionFailed = static_cast<cudnnStatus_t>(5000);

// The convolution by strides, of 2 spatial axes.
struct Problem {
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t c;

  long FilterOffset(int k, int ch, int r, int s) const {
    const int cg = w->dims[1], kr = w->dims[2], ks = w->dims[3];
    if (w->format == CUDNN_TENSOR_NHWC) return ((static_cast<long>(k) * kr + r) * ks + s) * cg + ch;
    return ((static_cast<long>(k) * cg + ch) * kr + r) * ks + s;
  }
  static long Offset(cudnnTensorDescriptor_t t, int a, int b, int h, int q) {
    return static_cast<long>(a) * t->strides[0] + static_cast<long>(b) * t->strides[1] +
           static_cast<long>(h) * t->strides[2] + static_cast<long>(q) * t->strides[3];
  }
  float Element(const float* px, const float* pw, int n, int k, int p, int q) const {
    float sum = 0;
    const int cg = w->dims[1];
    for (int ch = 0; ch < cg; ++ch)
      for (int r = 0; r < w->dims[2]; ++r)
        for (int s = 0; s < w->dims[3]; ++s) {
          const int h = p * c->stride[0] + r * c->dilation[0] - c->pad[0];
          const int v = q * c->stride[1] + s * c->dilation[1] - c->pad[1];
          if (h < 0 || v < 0 || h >= x->dims[2] || v >= x->dims[3]) continue;
          const int group = k / (w->dims[0] / c->groups);
          sum += px[Offset(x, n, group * cg + ch, h, v)] * pw[FilterOffset(k, ch, r, s)];
        }
    return sum;
  }
  void Run(const float* px, const float* pw, float* py) const {
    for (int n = 0; n < y->dims[0]; ++n)
      for (int k = 0; k < y->dims[1]; ++k)
        for (int p = 0; p < y->dims[2]; ++p)
          for (int q = 0; q < y->dims[3]; ++q) py[Offset(y, n, k, p, q)] = Element(px, pw, n, k, p, q);
  }
};

}  // namespace

EXPORT size_t cudnnGetVersion() { return 91900; }
EXPORT const char* cudnnGetErrorString(cudnnStatus_t s) {
  return s == kUnsupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_OTHER";
}
EXPORT void cudnnGetLastErrorString(char* text, size_t size) {
  std::strncpy(text, "words of the library", size);
}
EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = reinterpret_cast<cudnnHandle_t>(8);
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* d) {
  return *d = new cudnnTensorStruct, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank,
                                                const int* dims, const int* strides) {
  d->type = type;
  d->dims.assign(dims, dims + rank);
  d->strides.assign(strides, strides + rank);
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t d) {
  delete d;
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* d) {
  return *d = new cudnnFilterStruct, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type,
                                                cudnnTensorFormat_t format, int rank, const int* dims) {
  d->type = type;
  d->format = format;
  d->dims.assign(dims, dims + rank);
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t d) {
  delete d;
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* d) {
  return *d = new cudnnConvolutionStruct, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t d, int axes, const int* pad,
                                                     const int* stride, const int* dilation,
                                                     cudnnConvolutionMode_t, cudnnDataType_t) {
  d->pad.assign(pad, pad + axes);
  d->stride.assign(stride, stride + axes);
  d->dilation.assign(dilation, dilation + axes);
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups) {
  return d->groups = groups, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t) {
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t d) {
  delete d;
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t c,
                                                           const cudnnTensorDescriptor_t x,
                                                           const cudnnFilterDescriptor_t w, int rank,
                                                           int* out) {
  out[0] = x->dims[0];
  out[1] = w->dims[0];
  for (int a = 0; a < rank - 2; ++a) {
    const int axis = a + 2;
    const int reach = (w->dims[axis] - 1) * c->dilation[a] + 1;
    out[axis] = (x->dims[axis] + 2 * c->pad[a] - reach) / c->stride[a] + 1;
  }
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                             const cudnnFilterDescriptor_t,
                                                             const cudnnConvolutionDescriptor_t,
                                                             const cudnnTensorDescriptor_t,
                                                             cudnnConvolutionFwdAlgo_t algorithm,
                                                             size_t* bytes) {
  *bytes = 100;
  const bool offered = x->type == CUDNN_DATA_FLOAT && algorithm != CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
  return offered ? CUDNN_STATUS_SUCCESS : kUnsupported;
}
EXPORT cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                            const cudnnFilterDescriptor_t,
                                                            const cudnnConvolutionDescriptor_t,
                                                            const cudnnTensorDescriptor_t, const int,
                                                            int* count,
                                                            cudnnConvolutionFwdAlgoPerf_t* answers) {
  *count = 2;
  answers[0] = {};
  answers[0].algo = CUDNN_CONVOLUTION_FWD_ALGO_GEMM;  // which it then does not offer
  answers[1] = {};
  answers[1].algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void*, const cudnnTensorDescriptor_t xd,
                                             const void* x, const cudnnFilterDescriptor_t wd, const void* w,
                                             const cudnnConvolutionDescriptor_t c, cudnnConvolutionFwdAlgo_t,
                                             void* workspace, size_t bytes, const void*,
                                             const cudnnTensorDescriptor_t yd, void* y) {
  if (Fault("unsupported")) return kUnsupported;
  if (Fault("fails")) return kExecutionFailed;
  if (Fault("nothing written")) return CUDNN_STATUS_SUCCESS;
  auto* out = static_cast<float*>(y);
  Problem{xd, yd, wd, c}.Run(static_cast<const float*>(x), static_cast<const float*>(w), out);
  const long count = static_cast<long>(yd->dims[0]) * yd->dims[1] * yd->dims[2] * yd->dims[3];
  std::memset(workspace, 0, bytes);
  if (Fault("one wrong")) out[count / 2] += 1;
  if (Fault("slightly off")) out[count / 2] += 1e-5f;
  if (Fault("far off")) out[count / 2] += 1e-2f;
  if (Fault("writes behind y")) out[count] = 0;
  if (Fault("writes before y")) out[-1] = 0;
  if (Fault("writes behind workspace")) static_cast<char*>(workspace)[bytes] = 0;
  if (Fault("reads behind x")) {
    const long inputs = static_cast<long>(xd->dims[0]) * xd->dims[1] * xd->dims[2] * xd->dims[3];
    out[0] += 0 * static_cast<const float*>(x)[inputs];
  }
  if (Fault("changes x")) const_cast<float*>(static_cast<const float*>(x))[3] = 9;
  if (Fault("changes w")) const_cast<float*>(static_cast<const float*>(w))[1] = 9;
  return CUDNN_STATUS_SUCCESS;
}
