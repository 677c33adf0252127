// The binding of the CUDA driver API and its error texts. Knows symbol names and nothing of checks.
#include "common/driver_api.h"

#include "common/loader_path.h"

namespace cudnn_ci {
namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

// The codes that occur before a context works, where the driver itself may be unable to name them.
// Texts follow the documentation of CUresult:
// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html
constexpr ErrorText kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain"},
    {300, "CUDA_ERROR_INVALID_SOURCE", "device kernel image is invalid"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "forward compatibility was attempted on non supported HW"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED",
     "MPS client failed to connect to the MPS control daemon or the MPS server"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE",
     "the remote procedural call between the MPS server and client failed"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "MPS server is not ready to accept new MPS client requests"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
     "hardware resources required to create MPS client have been exhausted"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
     "hardware resources required to support device connections have been exhausted"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* FindError(CUresult result) {
  for (const ErrorText& e : kErrors)
    if (e.code == static_cast<int>(result)) return &e;
  return nullptr;
}

}  // namespace

bool DriverApi::Load() {
  if (!LoadChecked("libcuda.so.1", &library_, &error_)) return false;
  Bind();
  return true;
}

void DriverApi::Bind() {
  Init.Bind(library_, "cuInit");
  DriverGetVersion.Bind(library_, "cuDriverGetVersion");
  DeviceGetCount.Bind(library_, "cuDeviceGetCount");
  DeviceGet.Bind(library_, "cuDeviceGet");
  DeviceGetName.Bind(library_, "cuDeviceGetName");
  // _v2 gives the MIG instance's own UUID; drivers before 11.4 have the plain one only.
  DeviceGetUuid.Bind(library_, "cuDeviceGetUuid_v2", "cuDeviceGetUuid");
  DeviceGetAttribute.Bind(library_, "cuDeviceGetAttribute");
  DeviceTotalMem.Bind(library_, "cuDeviceTotalMem_v2");
  DeviceGetPciBusId.Bind(library_, "cuDeviceGetPCIBusId");
  DevicePrimaryCtxRetain.Bind(library_, "cuDevicePrimaryCtxRetain");
  DevicePrimaryCtxRelease.Bind(library_, "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease");
  DevicePrimaryCtxGetState.Bind(library_, "cuDevicePrimaryCtxGetState");
  CtxSetCurrent.Bind(library_, "cuCtxSetCurrent");
  CtxGetCurrent.Bind(library_, "cuCtxGetCurrent");
  CtxGetDevice.Bind(library_, "cuCtxGetDevice");
  CtxSynchronize.Bind(library_, "cuCtxSynchronize");
  MemAlloc.Bind(library_, "cuMemAlloc_v2");
  MemFree.Bind(library_, "cuMemFree_v2");
  MemAllocHost.Bind(library_, "cuMemAllocHost_v2");
  MemFreeHost.Bind(library_, "cuMemFreeHost");
  MemcpyHtoD.Bind(library_, "cuMemcpyHtoD_v2");
  MemcpyDtoH.Bind(library_, "cuMemcpyDtoH_v2");
  MemcpyHtoDAsync.Bind(library_, "cuMemcpyHtoDAsync_v2");
  Memcpy2DAsync.Bind(library_, "cuMemcpy2DAsync_v2");
  MemsetD8.Bind(library_, "cuMemsetD8_v2");
  MemsetD8Async.Bind(library_, "cuMemsetD8Async");
  MemsetD32.Bind(library_, "cuMemsetD32_v2");
  MemGetInfo.Bind(library_, "cuMemGetInfo_v2");
  ModuleLoadData.Bind(library_, "cuModuleLoadData");
  ModuleGetFunction.Bind(library_, "cuModuleGetFunction");
  ModuleUnload.Bind(library_, "cuModuleUnload");
  LaunchKernel.Bind(library_, "cuLaunchKernel");
  EventCreate.Bind(library_, "cuEventCreate");
  EventRecord.Bind(library_, "cuEventRecord");
  EventSynchronize.Bind(library_, "cuEventSynchronize");
  EventElapsedTime.Bind(library_, "cuEventElapsedTime");
  EventDestroy.Bind(library_, "cuEventDestroy_v2");
  StreamCreate.Bind(library_, "cuStreamCreate");
  StreamQuery.Bind(library_, "cuStreamQuery");
  // By _v2 a mode is given; the first one has none.
  StreamBeginCapture.Bind(library_, "cuStreamBeginCapture_v2");
  StreamEndCapture.Bind(library_, "cuStreamEndCapture");
  GraphGetNodes.Bind(library_, "cuGraphGetNodes");
  GraphNodeGetType.Bind(library_, "cuGraphNodeGetType");
  GraphDestroy.Bind(library_, "cuGraphDestroy");
  GraphKernelNodeGetParams.Bind(library_, "cuGraphKernelNodeGetParams_v2");
  FuncGetName.Bind(library_, "cuFuncGetName");
  KernelGetName.Bind(library_, "cuKernelGetName");
  GetErrorName.Bind(library_, "cuGetErrorName");
  GetErrorString.Bind(library_, "cuGetErrorString");
}

std::string Describe(CUresult result) {
  const ErrorText* e = FindError(result);
  if (!e) return "CUresult " + std::to_string(static_cast<int>(result));
  return std::to_string(e->code) + " " + e->name + ": " + e->text;
}

std::string DriverApi::Describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  const bool stub = static_cast<int>(result) == 34;
  if (stub || !GetErrorName || !GetErrorString || GetErrorName(result, &name) != CUDA_SUCCESS || !name ||
      GetErrorString(result, &text) != CUDA_SUCCESS || !text) {
    return cudnn_ci::Describe(result);
  }
  return std::to_string(static_cast<int>(result)) + " " + name + ": " + text;
}

void DriverApi::Require(CUresult result, const char* call) const {
  if (result != CUDA_SUCCESS) throw DriverError(result, std::string(call) + ": " + Describe(result));
}

PrimaryContext::~PrimaryContext() {
  // A MissingSymbol cannot occur here: the context exists only if the driver bound its functions.
  if (context_ && api_.DevicePrimaryCtxRelease) api_.DevicePrimaryCtxRelease(device_);
}

CUresult PrimaryContext::Fail(CUresult result, const char* call) {
  failed_call_ = call;
  return result;
}

CUresult PrimaryContext::Create(int ordinal) {
  if (CUresult r = api_.Init(0); r != CUDA_SUCCESS) return Fail(r, "cuInit");
  if (CUresult r = api_.DeviceGet(&device_, ordinal); r != CUDA_SUCCESS) return Fail(r, "cuDeviceGet");
  CUcontext retained = nullptr;
  if (CUresult r = api_.DevicePrimaryCtxRetain(&retained, device_); r != CUDA_SUCCESS)
    return Fail(r, "cuDevicePrimaryCtxRetain");
  context_ = retained;
  if (CUresult r = api_.CtxSetCurrent(context_); r != CUDA_SUCCESS) return Fail(r, "cuCtxSetCurrent");
  return CUDA_SUCCESS;
}

}  // namespace cudnn_ci
