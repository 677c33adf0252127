// The legacy convolutions of the fake cuDNN: what they offer, propose and compute. Variables: fake_cudnn.cc.
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <sstream>

#include "fake_cudnn.h"
#include "fake_env.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL() FAKE_CALL("FAKE_CUDNN_FAULT", cudnnStatus_t)

namespace {

using fake_cudnn::Convolution;
using fake_cudnn::IsHandle;
using fake_cudnn::List;
using fake_cudnn::Operation;
using fake_cudnn::View;

constexpr auto kBadParam = static_cast<cudnnStatus_t>(2000);

// What a real one was seen to offer: direct and fused Winograd never, transforms not for every type.
enum class Offer { kNever, kAlways, kFft, kWinograd };

Offer OfferOf(Operation operation, int algorithm) {
  constexpr Offer kForward[] = {Offer::kAlways, Offer::kAlways, Offer::kAlways, Offer::kNever,
                                Offer::kFft,    Offer::kFft,    Offer::kNever,  Offer::kWinograd};
  constexpr Offer kData[] = {Offer::kAlways, Offer::kAlways, Offer::kFft,
                             Offer::kFft,    Offer::kNever,  Offer::kWinograd};
  constexpr Offer kFilter[] = {Offer::kAlways, Offer::kAlways,   Offer::kFft,  Offer::kAlways,
                               Offer::kNever,  Offer::kWinograd, Offer::kNever};
  switch (operation) {
    case Operation::kBackwardData:
      return algorithm < 6 ? kData[algorithm] : Offer::kNever;
    case Operation::kBackwardFilter:
      return algorithm < 7 ? kFilter[algorithm] : Offer::kNever;
    case Operation::kForward:
      break;
  }
  return algorithm < 8 ? kForward[algorithm] : Offer::kNever;
}

bool Offered(Operation operation, int algorithm, cudnnDataType_t type, cudnnTensorFormat_t format) {
  if (fake_cudnn::Refused(algorithm)) return false;
  // Integers by one algorithm, forward, channels last.
  if (type == CUDNN_DATA_INT8)
    return operation == Operation::kForward && algorithm == 1 && format == CUDNN_TENSOR_NHWC;
  switch (OfferOf(operation, algorithm)) {
    case Offer::kAlways:
      return true;
    case Offer::kFft:
      return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF;
    case Offer::kWinograd:
      return type != CUDNN_DATA_DOUBLE;
    case Offer::kNever:
      break;
  }
  return false;
}

std::size_t WorkspaceOf(int algorithm) { return algorithm == 0 ? 0 : fake_cudnn::WorkspaceBytes(); }

View ViewOf(cudnnTensorDescriptor_t d, const void* data) {
  return {d->dims,
          {d->strides.begin(), d->strides.end()},
          d->type,
          const_cast<unsigned char*>(static_cast<const unsigned char*>(data))};
}

View ViewOf(cudnnFilterDescriptor_t w, const void* data) {
  std::vector<std::int64_t> strides(w->dims.size());
  const bool last = w->format == CUDNN_TENSOR_NHWC;
  std::int64_t stride = last ? w->dims[1] : 1;
  for (std::size_t a = w->dims.size(); a-- > 2; stride *= w->dims[a]) strides[a] = stride;
  strides[1] = last ? 1 : stride;
  strides[0] = last ? stride : stride * w->dims[1];
  return {w->dims, strides, w->type, const_cast<unsigned char*>(static_cast<const unsigned char*>(data))};
}

// The three descriptors, their memory and what is common to all calls.
struct Call {
  const char* name;
  Operation operation;
  cudnnHandle_t handle;
  cudnnTensorDescriptor_t xd;
  const void* x;
  cudnnFilterDescriptor_t wd;
  const void* w;
  cudnnTensorDescriptor_t yd;
  const void* y;
  cudnnConvolutionDescriptor_t c;
  int algorithm;
  void* workspace;
  std::size_t bytes;
  const void *alpha, *beta;
};

std::string Describe(const Call& call, const Convolution& v) {
  const auto offset = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 256; };
  std::ostringstream line;
  line << R"({"call":")" << call.name << R"(","pid":)" << getpid() << ",\"algorithm\":" << call.algorithm
       << ",\"math\":" << call.c->math << ",\"compute\":" << v.compute << ",\"types\":[" << v.x.type << ","
       << v.w.type << "," << v.y.type << "],\"x\":" << List(v.x.dims)
       << ",\"x_strides\":" << List(call.xd->strides) << ",\"w\":" << List(v.w.dims)
       << ",\"w_format\":" << call.wd->format << ",\"y\":" << List(v.y.dims)
       << ",\"y_strides\":" << List(call.yd->strides) << ",\"pad\":" << List(v.pad)
       << ",\"stride\":" << List(v.stride) << ",\"dilation\":" << List(v.dilation)
       << ",\"groups\":" << v.groups << ",\"alpha\":" << v.alpha << ",\"beta\":" << v.beta
       << ",\"workspace_bytes\":" << v.workspace_bytes << ",\"apart\":" << fake_cudnn::Apart(v)
       << ",\"misalignment\":[" << offset(v.x.data) << "," << offset(v.w.data) << "," << offset(v.y.data)
       << "," << offset(v.workspace) << "]}\n";
  return line.str();
}

// As FAKE_CUDNN_TAKES_WORKSPACE says.
bool TakesWorkspace(std::size_t bytes, void* workspace) {
  const char* text = getenv("FAKE_CUDNN_TAKES_WORKSPACE");
  std::size_t taken = 0, written = 0;
  const int numbers = text ? sscanf(text, "%zu:%zu", &taken, &written) : 0;
  if (numbers < 1 || !workspace || bytes != taken) return false;
  memset(workspace, 0, numbers == 2 ? written : taken);
  return true;
}

cudnnStatus_t Run(const Call& call) {
  if (!IsHandle(call.handle)) return kBadParam;
  if (const cudnnStatus_t left = fake_cudnn::LeftByRecording()) return left;
  if (TakesWorkspace(call.bytes, call.workspace)) return fake_cudnn::Take();
  if (call.bytes < WorkspaceOf(call.algorithm) || (call.bytes > 0 && !call.workspace))
    return fake_cudnn::Takes() ? fake_cudnn::Take() : kBadParam;
  if (!Offered(call.operation, call.algorithm, call.xd->type, call.wd->format))
    return fake_cudnn::Unsupported();
  const bool wide = call.c->compute == CUDNN_DATA_DOUBLE;
  const auto scale = [wide](const void* p) {
    return wide ? *static_cast<const double*>(p) : static_cast<double>(*static_cast<const float*>(p));
  };
  Convolution v;
  v.operation = call.operation;
  v.x = ViewOf(call.xd, call.x), v.w = ViewOf(call.wd, call.w), v.y = ViewOf(call.yd, call.y);
  v.pad = call.c->pad, v.stride = call.c->stride, v.dilation = call.c->dilation;
  v.groups = call.c->groups, v.compute = call.c->compute;
  v.alpha = scale(call.alpha), v.beta = scale(call.beta);
  v.workspace = static_cast<unsigned char*>(call.workspace), v.workspace_bytes = call.bytes;
  fake_cudnn::LogLine(Describe(call, v));
  if (!v.CanBe(v.pad)) return fake_cudnn::Takes() ? fake_cudnn::Take() : kBadParam;
  fake_cudnn::RunAndSpoil(v, fake_cudnn::Strikes(call.algorithm));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Workspace(cudnnHandle_t handle, Operation operation, cudnnTensorDescriptor_t x,
                        cudnnFilterDescriptor_t w, int algorithm, size_t* bytes) {
  if (!IsHandle(handle)) return kBadParam;
  *bytes = WorkspaceOf(algorithm);
  return Offered(operation, algorithm, x->type, w->format) ? CUDNN_STATUS_SUCCESS : fake_cudnn::Unsupported();
}

template <class Answer>
cudnnStatus_t Propose(cudnnHandle_t handle, int wanted, int* count, Answer* answers,
                      const char* variable = "FAKE_CUDNN_PROPOSALS") {
  if (!IsHandle(handle)) return kBadParam;
  const char* list = getenv(variable);
  std::istringstream proposals(list ? list : "1/1/0,0/0/0");
  *count = 0;
  for (std::string proposal; *count < wanted && std::getline(proposals, proposal, ',');) {
    int algorithm = 0, math = 0, status = 0;
    if (sscanf(proposal.c_str(), "%d/%d/%d", &algorithm, &math, &status) != 3) abort();
    answers[*count] = {};
    answers[*count].algo = static_cast<decltype(answers->algo)>(algorithm);
    answers[*count].mathType = static_cast<cudnnMathType_t>(math);
    answers[*count].status = static_cast<cudnnStatus_t>(status);
    answers[*count].memory = static_cast<size_t>(
        FakeNumber("FAKE_CUDNN_PROPOSED_WORKSPACE", static_cast<long>(WorkspaceOf(algorithm))));
    ++*count;
  }
  return CUDNN_STATUS_SUCCESS;
}

// Runs what it then proposes.
template <class Answer>
cudnnStatus_t Search(Call call, int wanted, int* count, Answer* answers) {
  static const float kOne = 1, kZero = 0;
  static const double kOne64 = 1, kZero64 = 0;
  const bool wide = call.c->compute == CUDNN_DATA_DOUBLE;
  call.alpha = wide ? static_cast<const void*>(&kOne64) : &kOne;
  call.beta = wide ? static_cast<const void*>(&kZero64) : &kZero;
  if (const cudnnStatus_t status = Propose(call.handle, wanted, count, answers, "FAKE_CUDNN_FOUND"))
    return status;
  for (int i = 0; i < *count; ++i) {
    call.algorithm = static_cast<int>(answers[i].algo);
    if (answers[i].status == CUDNN_STATUS_SUCCESS) answers[i].status = Run(call);
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

EXPORT cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t algorithm, size_t* bytes) {
  CALL();
  return Workspace(handle, Operation::kForward, x, w, algorithm, bytes);
}
EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t dy, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, cudnnConvolutionBwdDataAlgo_t algorithm, size_t* bytes) {
  CALL();
  return Workspace(handle, Operation::kBackwardData, dy, w, algorithm, bytes);
}
EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t dw, cudnnConvolutionBwdFilterAlgo_t algorithm, size_t* bytes) {
  CALL();
  return Workspace(handle, Operation::kBackwardFilter, x, dw, algorithm, bytes);
}

EXPORT cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, const int wanted, int* count, cudnnConvolutionFwdAlgoPerf_t* answers) {
  CALL();
  return Propose(handle, wanted, count, answers);
}
EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnTensorDescriptor_t, const int wanted, int* count, cudnnConvolutionBwdDataAlgoPerf_t* answers) {
  CALL();
  return Propose(handle, wanted, count, answers);
}
EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnConvolutionDescriptor_t,
    cudnnFilterDescriptor_t, const int wanted, int* count, cudnnConvolutionBwdFilterAlgoPerf_t* answers) {
  CALL();
  return Propose(handle, wanted, count, answers);
}

EXPORT cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t handle, cudnnTensorDescriptor_t xd, const void* x, cudnnFilterDescriptor_t wd,
    const void* w, cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t yd, void* y, const int wanted,
    int* count, cudnnConvolutionFwdAlgoPerf_t* answers, void* workspace, size_t bytes) {
  CALL();
  return Search({"cudnnFindConvolutionForwardAlgorithmEx", Operation::kForward, handle, xd, x, wd, w, yd, y,
                 c, 0, workspace, bytes, nullptr, nullptr},
                wanted, count, answers);
}
EXPORT cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t handle, cudnnFilterDescriptor_t wd, const void* w, cudnnTensorDescriptor_t dyd,
    const void* dy, cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t dxd, void* dx, const int wanted,
    int* count, cudnnConvolutionBwdDataAlgoPerf_t* answers, void* workspace, size_t bytes) {
  CALL();
  return Search({"cudnnFindConvolutionBackwardDataAlgorithmEx", Operation::kBackwardData, handle, dxd, dx, wd,
                 w, dyd, dy, c, 0, workspace, bytes, nullptr, nullptr},
                wanted, count, answers);
}
EXPORT cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t handle, cudnnTensorDescriptor_t xd, const void* x, cudnnTensorDescriptor_t dyd,
    const void* dy, cudnnConvolutionDescriptor_t c, cudnnFilterDescriptor_t dwd, void* dw, const int wanted,
    int* count, cudnnConvolutionBwdFilterAlgoPerf_t* answers, void* workspace, size_t bytes) {
  CALL();
  return Search({"cudnnFindConvolutionBackwardFilterAlgorithmEx", Operation::kBackwardFilter, handle, xd, x,
                 dwd, dw, dyd, dy, c, 0, workspace, bytes, nullptr, nullptr},
                wanted, count, answers);
}

EXPORT cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                             cudnnTensorDescriptor_t xd, const void* x,
                                             cudnnFilterDescriptor_t wd, const void* w,
                                             cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                             size_t bytes, const void* beta, cudnnTensorDescriptor_t yd,
                                             void* y) {
  if (fake_cudnn::Recording(handle)) return fake_cudnn::Record(handle, algorithm);
  if (const char* library = getenv("FAKE_CUDNN_CONVOLVES")) dlopen(library, RTLD_NOW);
  if (const long error = FakeNumber("FAKE_CUDNN_LEAVES", 0); error != 0) {
    fake_cudnn::LeaveError(static_cast<int>(error));
    return static_cast<cudnnStatus_t>(5000);
  }
  CALL();
  return Run({"cudnnConvolutionForward", Operation::kForward, handle, xd, x, wd, w, yd, y, c, algorithm,
              workspace, bytes, alpha, beta});
}
EXPORT cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                                  cudnnFilterDescriptor_t wd, const void* w,
                                                  cudnnTensorDescriptor_t dyd, const void* dy,
                                                  cudnnConvolutionDescriptor_t c,
                                                  cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                                  size_t bytes, const void* beta, cudnnTensorDescriptor_t dxd,
                                                  void* dx) {
  if (fake_cudnn::Recording(handle)) return fake_cudnn::Record(handle, algorithm);
  CALL();
  return Run({"cudnnConvolutionBackwardData", Operation::kBackwardData, handle, dxd, dx, wd, w, dyd, dy, c,
              algorithm, workspace, bytes, alpha, beta});
}
EXPORT cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                                    cudnnTensorDescriptor_t xd, const void* x,
                                                    cudnnTensorDescriptor_t dyd, const void* dy,
                                                    cudnnConvolutionDescriptor_t c,
                                                    cudnnConvolutionBwdFilterAlgo_t algorithm,
                                                    void* workspace, size_t bytes, const void* beta,
                                                    cudnnFilterDescriptor_t dwd, void* dw) {
  if (fake_cudnn::Recording(handle)) return fake_cudnn::Record(handle, algorithm);
  CALL();
  return Run({"cudnnConvolutionBackwardFilter", Operation::kBackwardFilter, handle, xd, x, dwd, dw, dyd, dy,
              c, algorithm, workspace, bytes, alpha, beta});
}
