// What the warm workers are measured against: one process that makes the same cuDNN calls for the same
// convolutions, with nothing around them. No isolation, no oracle, no report. Independent of the
// project's own code on purpose; links CUDA's driver API and cuDNN directly.
//
//   bare_conv CASES    each line: DTYPE LAYOUT ALGO N C H W K R S PAD STRIDE DILATION GROUPS
//
// Prints how many ran and were supported. Exit 1 on any error of a call that must succeed.
#include <cuda.h>
#include <cudnn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

void Cuda(CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", what, r);
  std::exit(1);
}
void Cudnn(cudnnStatus_t s, const char* what) {
  if (s == CUDNN_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, cudnnGetErrorString(s));
  std::exit(1);
}

const std::map<std::string, cudnnDataType_t> kTypes = {{"float32", CUDNN_DATA_FLOAT},
                                                       {"float16", CUDNN_DATA_HALF},
                                                       {"bfloat16", CUDNN_DATA_BFLOAT16},
                                                       {"float64", CUDNN_DATA_DOUBLE}};
const std::map<std::string, int> kAlgos = {{"implicit_gemm", 0}, {"implicit_precomp_gemm", 1},
                                           {"gemm", 2},          {"fft", 4},
                                           {"fft_tiling", 5},    {"winograd_nonfused", 7}};

struct Line {
  std::string dtype, layout, algo;
  int n, c, h, w, k, r, s, pad, stride, dilation, groups;
};

struct Buffer {
  CUdeviceptr p = 0;
  explicit Buffer(size_t bytes) { Cuda(cuMemAlloc(&p, bytes ? bytes : 1), "cuMemAlloc"); }
  ~Buffer() { cuMemFree(p); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
};

bool Convolve(cudnnHandle_t handle, const Line& l) {
  const cudnnDataType_t type = kTypes.at(l.dtype);
  const cudnnTensorFormat_t format = l.layout == "nhwc" ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  const size_t size = type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;
  Cudnn(cudnnCreateTensorDescriptor(&x), "x");
  Cudnn(cudnnCreateTensorDescriptor(&y), "y");
  Cudnn(cudnnCreateFilterDescriptor(&w), "w");
  Cudnn(cudnnCreateConvolutionDescriptor(&conv), "conv");
  Cudnn(cudnnSetTensor4dDescriptor(x, format, type, l.n, l.c, l.h, l.w), "set x");
  Cudnn(cudnnSetFilter4dDescriptor(w, type, format, l.k, l.c / l.groups, l.r, l.s), "set w");
  Cudnn(cudnnSetConvolution2dDescriptor(conv, l.pad, l.pad, l.stride, l.stride, l.dilation, l.dilation,
                                        CUDNN_CROSS_CORRELATION,
                                        type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
        "set conv");
  Cudnn(cudnnSetConvolutionGroupCount(conv, l.groups), "groups");
  int n, k, p, q;
  Cudnn(cudnnGetConvolution2dForwardOutputDim(conv, x, w, &n, &k, &p, &q), "output dim");
  Cudnn(cudnnSetTensor4dDescriptor(y, format, type, n, k, p, q), "set y");
  const auto algo = static_cast<cudnnConvolutionFwdAlgo_t>(kAlgos.at(l.algo));
  size_t workspace = 0;
  bool supported = cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, conv, y, algo, &workspace) ==
                   CUDNN_STATUS_SUCCESS;
  if (supported) {
    const size_t x_bytes = size * l.n * l.c * l.h * l.w, w_bytes = size * l.k * (l.c / l.groups) * l.r * l.s;
    const size_t y_bytes = size * n * k * p * q;
    const Buffer dx(x_bytes), dw(w_bytes), dy(y_bytes), ws(workspace);
    std::vector<char> host(std::max(std::max(x_bytes, w_bytes), y_bytes), 0);
    Cuda(cuMemcpyHtoD(dx.p, host.data(), x_bytes), "upload x");
    Cuda(cuMemcpyHtoD(dw.p, host.data(), w_bytes), "upload w");
    Cuda(cuMemsetD8(dy.p, 0xff, y_bytes), "fill y");
    const float one_f = 1, zero_f = 0;
    const double one_d = 1, zero_d = 0;
    const void* one = type == CUDNN_DATA_DOUBLE ? static_cast<const void*>(&one_d) : &one_f;
    const void* zero = type == CUDNN_DATA_DOUBLE ? static_cast<const void*>(&zero_d) : &zero_f;
    // Once to verify, three times to measure: as often as the check calls it.
    for (int i = 0; i < 4 && supported; ++i)
      supported =
          cudnnConvolutionForward(handle, one, x, reinterpret_cast<void*>(dx.p), w,
                                  reinterpret_cast<void*>(dw.p), conv, algo, reinterpret_cast<void*>(ws.p),
                                  workspace, zero, y, reinterpret_cast<void*>(dy.p)) == CUDNN_STATUS_SUCCESS;
    Cuda(cuCtxSynchronize(), "synchronize");
    Cuda(cuMemcpyDtoH(host.data(), dy.p, y_bytes), "download y");
    Cuda(cuMemcpyDtoH(host.data(), dx.p, x_bytes), "download x");
    Cuda(cuMemcpyDtoH(host.data(), dw.p, w_bytes), "download w");
  }
  cudnnDestroyConvolutionDescriptor(conv);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyTensorDescriptor(y);
  cudnnDestroyTensorDescriptor(x);
  return supported;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1]);
  Cuda(cuInit(0), "cuInit");
  CUcontext context;
  Cuda(cuDevicePrimaryCtxRetain(&context, 0), "context");
  Cuda(cuCtxSetCurrent(context), "context");
  cudnnHandle_t handle;
  Cudnn(cudnnCreate(&handle), "cudnnCreate");
  int ran = 0, supported = 0;
  std::string text;
  while (std::getline(file, text)) {
    std::istringstream in(text);
    Line l;
    if (!(in >> l.dtype >> l.layout >> l.algo >> l.n >> l.c >> l.h >> l.w >> l.k >> l.r >> l.s >> l.pad >>
          l.stride >> l.dilation >> l.groups))
      return 2;
    ++ran;
    supported += Convolve(handle, l) ? 1 : 0;
  }
  std::printf("%d convolutions, %d supported\n", ran, supported);
  return 0;
}
