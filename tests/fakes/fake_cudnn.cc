// A libcudnn.so.9 without a GPU, for tests. It computes convolutions on the CPU by the descriptors it is
// given, says what it was asked, and errs where it is told to. Must not know the plugins' checks.
//
//   FAKE_CUDNN_VERSION    what cudnnGetVersion gives (91900, or 8907 by the soname)
//   FAKE_CUDNN_CUDART     what cudnnGetCudartVersion gives (13000, or 12000)
//   FAKE_CUDNN_LOG        a file to which each cudnnCreate, cudnnDestroy and cudnnConvolutionForward adds a
//                         line of JSON
//   FAKE_CUDNN_REFUSES    algorithm numbers answered with NOT_SUPPORTED: "2,4"
//   FAKE_CUDNN_PROPOSALS  what cudnnGetConvolutionForwardAlgorithm_v7 answers, best first:
//                         "ALGORITHM/MATH/STATUS,..." ("1/1/0,0/0/0")
//   FAKE_CUDNN_LOADS      a library that cudnnCreate loads, as a real one does its own
//   FAKE_CUDNN_OPENS      a library that cudnnGraphVersionCheck loads, in the same way
//   FAKE_CUDNN_CONVOLVES  a library that cudnnConvolutionForward loads, in the same way
//   FAKE_CUDNN_WORKSPACE  bytes that every algorithm but 0 asks for (100); all are read and written
//   FAKE_CUDNN_HANDLE_KB, FAKE_CUDNN_LEAK_KB, FAKE_CUDNN_NO_MEMORY       see fake_cudnn_memory.cc
//   FAKE_CUDNN_CONFIGURATIONS, FAKE_CUDNN_FINALIZE, FAKE_CUDNN_CHOOSES   see fake_cudnn_backend.cc
//   FAKE_CUDNN_FAULT      one of
//     call:FUNCTION:N:WHAT      see fake_env.h
//     element:PLACE[:DELTA]     that element of y, in the order n, k, sizes, is off by DELTA (1); PLACE is
//                               first, middle, last or a number
//     unwritten:PLACE           it, or all, are left as they were
//     guard:WHERE[:DISTANCE]    writes the byte at that distance (1) before or behind a buffer: before-x,
//                               behind-workspace, ...
//     input:x|w:PLACE           changes that byte of an input
//     read:WHERE                reads beside a buffer, or from the workspace before it is written
//     output-size               cudnnGetConvolutionNdForwardOutputDim is one off in its last axis
#include "fake_cudnn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <sstream>

#include "fake_env.h"

#ifndef FAKE_CUDNN_DEFAULT
#define FAKE_CUDNN_DEFAULT 91900
#define FAKE_CUDNN_CUDART_DEFAULT 13000
#endif
#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL() FAKE_CALL("FAKE_CUDNN_FAULT", cudnnStatus_t)

namespace {

constexpr auto kBadParam = static_cast<cudnnStatus_t>(2000);
constexpr auto kUnsupported = static_cast<cudnnStatus_t>(3000);

std::mutex mutex;
std::set<cudnnHandle_t> handles;

bool IsHandle(cudnnHandle_t handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  return handles.count(handle) > 0;
}

void LogLine(const std::string& line) {
  const char* path = getenv("FAKE_CUDNN_LOG");
  if (!path) return;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) abort();
  close(fd);
}

std::string List(const std::vector<int>& values) {
  std::string text;
  for (const int v : values) text += (text.empty() ? "" : ",") + std::to_string(v);
  return "[" + text + "]";
}

std::string Describe(const fake_cudnn::Convolution& v) {
  const auto offset = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 256; };
  std::ostringstream line;
  line << R"({"call":"cudnnConvolutionForward","pid":)" << getpid() << ",\"algorithm\":" << v.algorithm
       << ",\"math\":" << v.c->math << ",\"compute\":" << v.c->compute << ",\"types\":[" << v.x->type << ","
       << v.w->type << "," << v.y->type << "],\"x\":" << List(v.x->dims)
       << ",\"x_strides\":" << List(v.x->strides) << ",\"w\":" << List(v.w->dims)
       << ",\"w_format\":" << v.w->format << ",\"y\":" << List(v.y->dims)
       << ",\"y_strides\":" << List(v.y->strides) << ",\"pad\":" << List(v.c->pad)
       << ",\"stride\":" << List(v.c->stride) << ",\"dilation\":" << List(v.c->dilation)
       << ",\"groups\":" << v.c->groups << ",\"alpha\":" << v.alpha << ",\"beta\":" << v.beta
       << ",\"workspace_bytes\":" << v.workspace_bytes << ",\"misalignment\":[" << offset(v.px) << ","
       << offset(v.pw) << "," << offset(v.py) << "," << offset(v.workspace) << "]}\n";
  return line.str();
}

bool Refused(cudnnConvolutionFwdAlgo_t algorithm) {
  const char* list = getenv("FAKE_CUDNN_REFUSES");
  std::istringstream numbers(list ? list : "");
  for (std::string number; std::getline(numbers, number, ',');)
    if (number == std::to_string(static_cast<int>(algorithm))) return true;
  return false;
}

// What a real one was seen to offer: direct and fused Winograd never, transforms not for every type.
bool Offered(cudnnConvolutionFwdAlgo_t algorithm, cudnnDataType_t type) {
  if (Refused(algorithm)) return false;
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM:
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM:
    case CUDNN_CONVOLUTION_FWD_ALGO_GEMM:
      return true;
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT:
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING:
      return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF;
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
      return type != CUDNN_DATA_DOUBLE;
    default:
      return false;
  }
}

std::size_t WorkspaceOf(cudnnConvolutionFwdAlgo_t algorithm) {
  if (algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM) return 0;
  return static_cast<std::size_t>(FakeNumber("FAKE_CUDNN_WORKSPACE", 100));
}

}  // namespace

EXPORT size_t cudnnGetVersion() {
  return static_cast<size_t>(FakeNumber("FAKE_CUDNN_VERSION", FAKE_CUDNN_DEFAULT));
}
EXPORT size_t cudnnGetCudartVersion() {
  return static_cast<size_t>(FakeNumber("FAKE_CUDNN_CUDART", FAKE_CUDNN_CUDART_DEFAULT));
}
EXPORT const char* cudnnGetErrorString(cudnnStatus_t s) {
  return s == kUnsupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_OTHER";
}
EXPORT void cudnnGetLastErrorString(char* text, size_t size) { snprintf(text, size, "words of the library"); }

EXPORT cudnnStatus_t cudnnGraphVersionCheck() {
  CALL();
  if (const char* library = getenv("FAKE_CUDNN_OPENS")) dlopen(library, RTLD_NOW);
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnOpsVersionCheck() {
  CALL();
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnCnnVersionCheck() {
  CALL();
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnAdvVersionCheck() {
  CALL();
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  CALL();
  if (const char* library = getenv("FAKE_CUDNN_LOADS")) dlopen(library, RTLD_NOW);
  const std::lock_guard<std::mutex> lock(mutex);
  *handle = reinterpret_cast<cudnnHandle_t>(new char);
  if (const cudnnStatus_t status = fake_cudnn::TakeMemory(*handle)) {
    delete reinterpret_cast<char*>(*handle);
    *handle = nullptr;
    return status;
  }
  handles.insert(*handle);
  LogLine("{\"call\":\"cudnnCreate\",\"pid\":" + std::to_string(getpid()) + "}\n");
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  if (handles.erase(handle) == 0) return kBadParam;
  fake_cudnn::GiveMemory(handle);
  delete reinterpret_cast<char*>(handle);
  LogLine("{\"call\":\"cudnnDestroy\",\"pid\":" + std::to_string(getpid()) + "}\n");
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* d) {
  CALL();
  return *d = new cudnnTensorStruct, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank,
                                                const int* dims, const int* strides) {
  CALL();
  d->type = type;
  d->dims.assign(dims, dims + rank);
  d->strides.assign(strides, strides + rank);
  return rank == 4 || rank == 5 ? CUDNN_STATUS_SUCCESS : kBadParam;
}
EXPORT cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t d) {
  CALL();
  delete d;
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* d) {
  CALL();
  return *d = new cudnnFilterStruct, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type,
                                                cudnnTensorFormat_t format, int rank, const int* dims) {
  CALL();
  d->type = type;
  d->format = format;
  d->dims.assign(dims, dims + rank);
  return rank == 4 || rank == 5 ? CUDNN_STATUS_SUCCESS : kBadParam;
}
EXPORT cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t d) {
  CALL();
  delete d;
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* d) {
  CALL();
  return *d = new cudnnConvolutionStruct, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t d, int axes, const int* pad,
                                                     const int* stride, const int* dilation,
                                                     cudnnConvolutionMode_t mode, cudnnDataType_t compute) {
  CALL();
  if (mode != CUDNN_CROSS_CORRELATION) return kUnsupported;
  d->pad.assign(pad, pad + axes);
  d->stride.assign(stride, stride + axes);
  d->dilation.assign(dilation, dilation + axes);
  d->compute = compute;
  return CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups) {
  CALL();
  return d->groups = groups, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t math) {
  CALL();
  return d->math = math, CUDNN_STATUS_SUCCESS;
}
EXPORT cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t d) {
  CALL();
  delete d;
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(cudnnConvolutionDescriptor_t c,
                                                           cudnnTensorDescriptor_t x,
                                                           cudnnFilterDescriptor_t w, int rank, int* out) {
  CALL();
  out[0] = x->dims[0];
  out[1] = w->dims[0];
  for (int a = 0; a < rank - 2; ++a) {
    const auto i = static_cast<std::size_t>(a), axis = i + 2;
    const int reach = (w->dims[axis] - 1) * c->dilation[i] + 1;
    out[axis] = (x->dims[axis] + 2 * c->pad[i] - reach) / c->stride[i] + 1;
  }
  if (FakeIs("FAKE_CUDNN_FAULT", "output-size")) ++out[rank - 1];
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t algorithm, size_t* bytes) {
  CALL();
  if (!IsHandle(handle)) return kBadParam;
  *bytes = WorkspaceOf(algorithm);
  return Offered(algorithm, x->type) ? CUDNN_STATUS_SUCCESS : kUnsupported;
}

EXPORT cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, const int wanted, int* count, cudnnConvolutionFwdAlgoPerf_t* answers) {
  CALL();
  if (!IsHandle(handle)) return kBadParam;
  const char* list = getenv("FAKE_CUDNN_PROPOSALS");
  std::istringstream proposals(list ? list : "1/1/0,0/0/0");
  *count = 0;
  for (std::string proposal; *count < wanted && std::getline(proposals, proposal, ',');) {
    int algorithm = 0, math = 0, status = 0;
    if (sscanf(proposal.c_str(), "%d/%d/%d", &algorithm, &math, &status) != 3) abort();
    answers[*count] = {};
    answers[*count].algo = static_cast<cudnnConvolutionFwdAlgo_t>(algorithm);
    answers[*count].mathType = static_cast<cudnnMathType_t>(math);
    answers[*count].status = static_cast<cudnnStatus_t>(status);
    ++*count;
  }
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                             cudnnTensorDescriptor_t xd, const void* x,
                                             cudnnFilterDescriptor_t wd, const void* w,
                                             cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                             size_t bytes, const void* beta, cudnnTensorDescriptor_t yd,
                                             void* y) {
  if (const char* library = getenv("FAKE_CUDNN_CONVOLVES")) dlopen(library, RTLD_NOW);
  CALL();
  const bool wide = c->compute == CUDNN_DATA_DOUBLE;
  const auto scale = [wide](const void* p) {
    return wide ? *static_cast<const double*>(p) : static_cast<double>(*static_cast<const float*>(p));
  };
  const fake_cudnn::Convolution convolution = {xd,
                                               yd,
                                               wd,
                                               c,
                                               algorithm,
                                               scale(alpha),
                                               scale(beta),
                                               static_cast<const unsigned char*>(x),
                                               static_cast<const unsigned char*>(w),
                                               static_cast<unsigned char*>(y),
                                               static_cast<unsigned char*>(workspace),
                                               bytes};
  if (!IsHandle(handle) || bytes < WorkspaceOf(algorithm) || (bytes > 0 && !workspace)) return kBadParam;
  if (!Offered(algorithm, xd->type)) return kUnsupported;
  LogLine(Describe(convolution));
  const std::vector<unsigned char> before(convolution.py, convolution.py + convolution.YBytes());
  convolution.Run();
  fake_cudnn::Spoil(convolution, before);
  if (bytes > 0) memset(workspace, 0, bytes);
  return CUDNN_STATUS_SUCCESS;
}
