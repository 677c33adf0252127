// A libcudnn.so.9 without a GPU, for tests. It computes convolutions on the CPU by the descriptors it is
// given, says what it was asked, and errs where it is told to. Must not know the plugins' checks.
//
//   FAKE_CUDNN_VERSION    what cudnnGetVersion gives (91900, or 8907 by the soname)
//   FAKE_CUDNN_CUDART     what cudnnGetCudartVersion gives (13000, or 12000)
//   FAKE_CUDNN_LOG        a file to which each cudnnCreate, cudnnDestroy and convolution adds a line of JSON
//   FAKE_CUDNN_REFUSES    algorithm numbers answered with NOT_SUPPORTED: "2,4"
//   FAKE_CUDNN_PROPOSALS  what cudnnGetConvolution...Algorithm_v7 answers, best first:
//                         "ALGORITHM/MATH/STATUS,..." ("1/1/0,0/0/0")
//   FAKE_CUDNN_FOUND      what cudnnFindConvolution...AlgorithmEx answers, in the same form;
//                         those with status 0 are run
//   FAKE_CUDNN_PROPOSED_WORKSPACE   the bytes of workspace that go with each proposal (what it asks for)
//   FAKE_CUDNN_LOADS      a library that cudnnCreate loads, as a real one does its own
//   FAKE_CUDNN_OPENS      a library that cudnnGraphVersionCheck loads, in the same way
//   FAKE_CUDNN_CONVOLVES  a library that cudnnConvolutionForward loads, in the same way
//   FAKE_CUDNN_LEAVES     cudnnConvolutionForward answers 5000 and leaves this error of CUDA, which the
//   driver's
//                         next synchronisation answers, once
//   FAKE_CUDNN_WORKSPACE  bytes that every algorithm but 0 asks for (100); all are read and written
//   FAKE_CUDNN_TAKES      convolutions that cannot be are described like others, and running one answers
//                         success without computing ("success"), aborts ("abort") or hangs ("hang")
//   FAKE_CUDNN_TAKES_WORKSPACE  "BYTES[:WRITTEN]": the legacy API takes a workspace of so many bytes for
//                         whole, and writes so many of it (BYTES)
//   FAKE_CUDNN_HANDLE_KB, FAKE_CUDNN_LEAK_KB, FAKE_CUDNN_NO_MEMORY       see fake_cudnn_memory.cc
//   FAKE_CUDNN_KERNELS, FAKE_CUDNN_RECORDS       see fake_cudnn_recording.cc
//   FAKE_CUDNN_GRAPH_...  and more of the graph API: see fake_cudnn_graph.cc
//   FAKE_CUDNN_FAULT_...  which convolutions a fault strikes: Strikes in fake_cudnn_convolution.cc
//   FAKE_CUDNN_FAULT      one of
//     call:FUNCTION:N:WHAT      see fake_env.h
//     element:PLACE[:DELTA]     that element of the result is off by DELTA (1); PLACE in the order n, k,
//                               sizes: first, middle, last or a number
//     fractions:PLACE[:DELTA]   the same, of data that are no integers alone
//     flip:PLACE:BIT            that bit of it is the other one
//     lost:PLACE                one product is missing in it
//     varies:PLACE              its lowest bits change each time the same is asked on the same data
//     unsteady                  the first element is left as it was, and the last one is another
//     swap:channels|images      the first two of them change places in the result
//     inputs:tf32, sums:TYPE    inputs, or each partial sum, are rounded to that type
//     bias:lost|next|twice      the bias of an epilogue is left out, is the next channel's, is added twice
//     relu:lost|first           its rectifier is left out, or comes before the bias
//     saturated                 results are held to what 8 bits hold
//     unwritten:PLACE           it, or all, are left as they were
//     guard:WHERE[:DISTANCE]    writes the byte at that distance (1) before or behind a buffer: before-x,
//                               behind-workspace, ...
//     input:x|w|y|bias:PLACE         changes that byte of an input
//     read:WHERE                reads beside a buffer, or from the workspace before it is written
//     output-size               cudnnGetConvolutionNdForwardOutputDim is one off in its last axis
#include "fake_cudnn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "fake_env.h"

#ifndef FAKE_CUDNN_DEFAULT
#define FAKE_CUDNN_DEFAULT 91900
#define FAKE_CUDNN_CUDART_DEFAULT 13000
#endif
#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL() FAKE_CALL("FAKE_CUDNN_FAULT", cudnnStatus_t)

namespace {

constexpr auto kBadParam = static_cast<cudnnStatus_t>(2000);

std::mutex mutex;
std::set<cudnnHandle_t> handles;

}  // namespace

namespace fake_cudnn {

cudnnStatus_t Unsupported() {
  return static_cast<cudnnStatus_t>(FakeNumber("FAKE_CUDNN_VERSION", FAKE_CUDNN_DEFAULT) < 90000 ? 9 : 3000);
}

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

}  // namespace fake_cudnn

using fake_cudnn::LogLine;
using fake_cudnn::Unsupported;

EXPORT size_t cudnnGetVersion() {
  return static_cast<size_t>(FakeNumber("FAKE_CUDNN_VERSION", FAKE_CUDNN_DEFAULT));
}
EXPORT size_t cudnnGetCudartVersion() {
  return static_cast<size_t>(FakeNumber("FAKE_CUDNN_CUDART", FAKE_CUDNN_CUDART_DEFAULT));
}
EXPORT const char* cudnnGetErrorString(cudnnStatus_t s) {
  return s == Unsupported() ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_OTHER";
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
  if (!fake_cudnn::Countable(d->dims) && !fake_cudnn::Takes()) return kBadParam;
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
  if (!fake_cudnn::Countable(d->dims) && !fake_cudnn::Takes()) return kBadParam;
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
  if (mode != CUDNN_CROSS_CORRELATION) return Unsupported();
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
