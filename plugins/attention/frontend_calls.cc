#include "attention/frontend_calls.h"

#include <cuda_runtime_api.h>

#include <exception>

namespace cudnn_ci {
namespace {

struct Tables {
  const CudnnApi* cudnn = nullptr;
  const DriverApi* driver = nullptr;
  int failure = 0;
};
thread_local Tables t_tables;

// What a function of the library answers; one that it lacks, or that throws, is not supported.
template <class Call>
cudnnStatus_t Answer(Call call) noexcept {
  try {
    if (!t_tables.cudnn) return CUDNN_STATUS_NOT_SUPPORTED;
    const cudnnStatus_t status = call(*t_tables.cudnn);
    if (status != CUDNN_STATUS_SUCCESS) t_tables.failure = static_cast<int>(status);
    return status;
  } catch (const std::exception&) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
}

template <class Call>
cudaError_t Driver(Call call) noexcept {
  try {
    if (!t_tables.driver) return cudaErrorNotSupported;
    return call(*t_tables.driver) == CUDA_SUCCESS ? cudaSuccess : cudaErrorUnknown;
  } catch (const std::exception&) {
    return cudaErrorNotSupported;
  }
}

}  // namespace

FrontendCalls::FrontendCalls(const CudnnApi& cudnn, const DriverApi& driver)
    : before_cudnn_(t_tables.cudnn), before_driver_(t_tables.driver) {
  t_tables = {&cudnn, &driver, 0};
}
FrontendCalls::~FrontendCalls() { t_tables = {before_cudnn_, before_driver_, 0}; }
int FrontendCalls::failure() const { return t_tables.failure; }

}  // namespace cudnn_ci

using cudnn_ci::Answer;
using cudnn_ci::Driver;
using cudnn_ci::t_tables;

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* out) {
  return Answer([&](const auto& api) { return api.BackendCreateDescriptor(type, out); });
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return Answer([&](const auto& api) { return api.BackendDestroyDescriptor(descriptor); });
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return Answer([&](const auto& api) { return api.BackendFinalize(descriptor); });
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  return Answer([&](const auto& api) { return api.BackendExecute(handle, plan, pack); });
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t most, int64_t* count,
                                       void* values) {
  return Answer(
      [&](const auto& api) { return api.BackendGetAttribute(descriptor, name, type, most, count, values); });
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  return Answer(
      [&](const auto& api) { return api.BackendSetAttribute(descriptor, name, type, count, values); });
}
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  return Answer([&](const auto& api) { return api.GetStream(handle, stream); });
}
size_t cudnnGetVersion() { return t_tables.cudnn ? t_tables.cudnn->version() : 0; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  try {
    return t_tables.cudnn ? t_tables.cudnn->GetErrorString(status) : "";
  } catch (const std::exception&) {
    return "";
  }
}
// CudnnApi::Describe has the library's words.
void cudnnGetLastErrorString(char* text, size_t size) {
  if (size > 0) *text = '\0';
}

cudaError_t cudaGetDevice(int* device) {
  return Driver([&](const auto& api) { return api.CtxGetDevice(device); });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  // The numbers are the driver's (CUdevice_attribute).
  return Driver([&](const auto& api) {
    return api.DeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device);
  });
}
cudaError_t cudaDeviceSynchronize() {
  return Driver([&](const auto& api) { return api.CtxSynchronize(); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
// No graph has to keep a plan: whoever records one here ends before the plan does. Nothing is written: the
// frontend's variables say "not capturing".
cudaError_t NotCapturing() __asm__("cudaStreamGetCaptureInfo");
cudaError_t NotCapturing() { return cudaSuccess; }
cudaError_t NotCapturing2() __asm__("cudaStreamGetCaptureInfo_v2");
cudaError_t NotCapturing2() { return cudaSuccess; }
cudaError_t cudaMemsetAsync(void* at, int value, size_t count, cudaStream_t stream) {
  return Driver([&](const auto& api) {
    return api.MemsetD8Async(reinterpret_cast<CUdeviceptr>(at), static_cast<unsigned char>(value), count,
                             stream);
  });
}
// The frontend copies from the host alone: lengths of its own into the workspace.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (kind != cudaMemcpyHostToDevice) return cudaErrorNotSupported;
  return Driver([&](const auto& api) {
    return api.MemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(to), from, count, stream);
  });
}
const char* cudaGetErrorString(cudaError_t) { return "the driver did not answer with success"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

// Of engines of its own, of timing and of recording, which are never asked for.
#define CUDNN_CI_NEVER_CALLED(name)     \
  cudaError_t name##_() __asm__(#name); \
  cudaError_t name##_() { return cudaErrorNotSupported; }
CUDNN_CI_NEVER_CALLED(cudaGetDriverEntryPoint)
CUDNN_CI_NEVER_CALLED(cudaGetDriverEntryPointByVersion)
CUDNN_CI_NEVER_CALLED(cudaPointerGetAttributes)
CUDNN_CI_NEVER_CALLED(nvrtcCompileProgram)
CUDNN_CI_NEVER_CALLED(nvrtcCreateProgram)
CUDNN_CI_NEVER_CALLED(nvrtcDestroyProgram)
CUDNN_CI_NEVER_CALLED(nvrtcGetCUBIN)
CUDNN_CI_NEVER_CALLED(nvrtcGetCUBINSize)
CUDNN_CI_NEVER_CALLED(nvrtcGetProgramLog)
CUDNN_CI_NEVER_CALLED(nvrtcGetProgramLogSize)
CUDNN_CI_NEVER_CALLED(cudaEventCreate)
CUDNN_CI_NEVER_CALLED(cudaEventDestroy)
CUDNN_CI_NEVER_CALLED(cudaEventElapsedTime)
CUDNN_CI_NEVER_CALLED(cudaEventRecord)
CUDNN_CI_NEVER_CALLED(cudaEventSynchronize)
CUDNN_CI_NEVER_CALLED(cudaGraphRetainUserObject)
CUDNN_CI_NEVER_CALLED(cudaKernelSetAttributeForDevice)
CUDNN_CI_NEVER_CALLED(cudaLaunchKernel)
CUDNN_CI_NEVER_CALLED(cudaLibraryGetKernel)
CUDNN_CI_NEVER_CALLED(cudaLibraryLoadData)
CUDNN_CI_NEVER_CALLED(cudaLibraryUnload)
CUDNN_CI_NEVER_CALLED(cudaThreadExchangeStreamCaptureMode)
CUDNN_CI_NEVER_CALLED(cudaUserObjectCreate)
CUDNN_CI_NEVER_CALLED(cudaUserObjectRelease)
#undef CUDNN_CI_NEVER_CALLED

}  // extern "C"
