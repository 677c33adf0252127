// The CUDA driver API, bound at run time: a plugin that linked libcuda could not be loaded where the
// driver is missing, and could then not say so. Only types come from cuda.h. Judges nothing and
// reports nothing; must not know the SDK's Context or any check.
#ifndef CUDNN_CI_PLUGINS_COMMON_DRIVER_API_H_
#define CUDNN_CI_PLUGINS_COMMON_DRIVER_API_H_

#include <cuda.h>

#include <stdexcept>
#include <string>

#include "common/late_function.h"

namespace cudnn_ci {

// A call of the driver that failed, with its name and the driver's words.
class DriverError : public std::runtime_error {
 public:
  DriverError(CUresult result, const std::string& what) : std::runtime_error(what), result_(result) {}
  CUresult result() const { return result_; }

 private:
  CUresult result_;
};

// The type of a function that cuda.h declares, by the name a caller writes; never a reference to it.
#define CUDNN_CI_DRIVER_FUNCTION(member, function) LateFunction<decltype(::function)> member

// CUDA_KERNEL_NODE_PARAMS_v2 of CUDA 12 and later, by hand: older headers do not declare it. The driver fills
// all of it.
struct KernelNodeParams {
  CUfunction function;
  unsigned grid[3], block[3], shared_bytes;
  void **arguments, **extra;
  void* kernel;  // CUkernel; counts where there is no function
  CUcontext context;
};

// A table of the driver's functions. Members are called like functions, cuMemAlloc as
// `api.MemAlloc(...)`; one that the library lacks throws MissingSymbol. As thread-safe as the driver.
class DriverApi {
 public:
  // Loads "libcuda.so.1" as ld.so would and binds all functions. False: error() has the loader's text, or
  // says that the file is truncated, with which loading would end the process. Calls no function of the
  // driver. Loading twice is harmless.
  bool Load();
  bool loaded() const { return library_.loaded(); }
  const std::string& error() const { return error_; }
  // The file that was loaded, as the loader recorded it (links not followed); empty if none was.
  std::string path() const { return library_.Path(); }

  // "100 CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected". Asks the driver for names only
  // where that is safe: on the stub library (code 34) cuGetErrorString is known to crash.
  std::string Describe(CUresult result) const;
  // Throws DriverError "cuMemAlloc: 2 CUDA_ERROR_OUT_OF_MEMORY: ..." unless `result` is success.
  void Require(CUresult result, const char* call) const;

  CUDNN_CI_DRIVER_FUNCTION(Init, cuInit);
  CUDNN_CI_DRIVER_FUNCTION(DriverGetVersion, cuDriverGetVersion);
  CUDNN_CI_DRIVER_FUNCTION(DeviceGetCount, cuDeviceGetCount);
  CUDNN_CI_DRIVER_FUNCTION(DeviceGet, cuDeviceGet);
  CUDNN_CI_DRIVER_FUNCTION(DeviceGetName, cuDeviceGetName);
  CUDNN_CI_DRIVER_FUNCTION(DeviceGetUuid, cuDeviceGetUuid);
  CUDNN_CI_DRIVER_FUNCTION(DeviceGetAttribute, cuDeviceGetAttribute);
  CUDNN_CI_DRIVER_FUNCTION(DeviceTotalMem, cuDeviceTotalMem);
  CUDNN_CI_DRIVER_FUNCTION(DeviceGetPciBusId, cuDeviceGetPCIBusId);
  CUDNN_CI_DRIVER_FUNCTION(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain);
  CUDNN_CI_DRIVER_FUNCTION(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease);
  CUDNN_CI_DRIVER_FUNCTION(DevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState);
  CUDNN_CI_DRIVER_FUNCTION(CtxSetCurrent, cuCtxSetCurrent);
  CUDNN_CI_DRIVER_FUNCTION(CtxGetCurrent, cuCtxGetCurrent);
  CUDNN_CI_DRIVER_FUNCTION(CtxGetDevice, cuCtxGetDevice);
  // Not taken from cuda.h: the symbol kept its plain name and signature in every driver.
  LateFunction<CUresult()> CtxSynchronize;
  CUDNN_CI_DRIVER_FUNCTION(MemAlloc, cuMemAlloc);
  CUDNN_CI_DRIVER_FUNCTION(MemFree, cuMemFree);
  CUDNN_CI_DRIVER_FUNCTION(MemAllocHost, cuMemAllocHost);
  CUDNN_CI_DRIVER_FUNCTION(MemFreeHost, cuMemFreeHost);
  CUDNN_CI_DRIVER_FUNCTION(MemcpyHtoD, cuMemcpyHtoD);
  CUDNN_CI_DRIVER_FUNCTION(MemcpyDtoH, cuMemcpyDtoH);
  CUDNN_CI_DRIVER_FUNCTION(MemcpyHtoDAsync, cuMemcpyHtoDAsync);
  CUDNN_CI_DRIVER_FUNCTION(Memcpy2DAsync, cuMemcpy2DAsync);
  CUDNN_CI_DRIVER_FUNCTION(MemsetD8, cuMemsetD8);
  CUDNN_CI_DRIVER_FUNCTION(MemsetD8Async, cuMemsetD8Async);
  CUDNN_CI_DRIVER_FUNCTION(MemsetD32, cuMemsetD32);
  CUDNN_CI_DRIVER_FUNCTION(MemGetInfo, cuMemGetInfo);
  CUDNN_CI_DRIVER_FUNCTION(ModuleLoadData, cuModuleLoadData);
  CUDNN_CI_DRIVER_FUNCTION(ModuleGetFunction, cuModuleGetFunction);
  CUDNN_CI_DRIVER_FUNCTION(ModuleUnload, cuModuleUnload);
  CUDNN_CI_DRIVER_FUNCTION(LaunchKernel, cuLaunchKernel);
  CUDNN_CI_DRIVER_FUNCTION(EventCreate, cuEventCreate);
  CUDNN_CI_DRIVER_FUNCTION(EventRecord, cuEventRecord);
  CUDNN_CI_DRIVER_FUNCTION(EventSynchronize, cuEventSynchronize);
  LateFunction<CUresult(float*, CUevent, CUevent)> EventElapsedTime;
  CUDNN_CI_DRIVER_FUNCTION(EventDestroy, cuEventDestroy);
  CUDNN_CI_DRIVER_FUNCTION(StreamCreate, cuStreamCreate);
  CUDNN_CI_DRIVER_FUNCTION(StreamQuery, cuStreamQuery);
  CUDNN_CI_DRIVER_FUNCTION(StreamBeginCapture, cuStreamBeginCapture);
  CUDNN_CI_DRIVER_FUNCTION(StreamEndCapture, cuStreamEndCapture);
  CUDNN_CI_DRIVER_FUNCTION(GraphGetNodes, cuGraphGetNodes);
  CUDNN_CI_DRIVER_FUNCTION(GraphNodeGetType, cuGraphNodeGetType);
  CUDNN_CI_DRIVER_FUNCTION(GraphDestroy, cuGraphDestroy);
  // By hand: not every cuda.h declares them. Drivers have them from 12.0 and 12.3 on.
  LateFunction<CUresult(CUgraphNode, KernelNodeParams*)> GraphKernelNodeGetParams;
  LateFunction<CUresult(const char**, CUfunction)> FuncGetName;
  LateFunction<CUresult(const char**, void*)> KernelGetName;
  CUDNN_CI_DRIVER_FUNCTION(GetErrorName, cuGetErrorName);
  CUDNN_CI_DRIVER_FUNCTION(GetErrorString, cuGetErrorString);

 private:
  void Bind();
  LateLibrary library_;
  std::string error_;
};

#undef CUDNN_CI_DRIVER_FUNCTION

// "100 CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected" from a built-in table of the common
// codes (names and texts of cuda.h); "CUresult 12345" for others. Needs no driver.
std::string Describe(CUresult result);

// Keeps the primary context of one device alive and current on the thread that created it. The
// context is released, not destroyed, at the end: the runtime and cuDNN share it.
class PrimaryContext {
 public:
  explicit PrimaryContext(const DriverApi& api) : api_(api) {}
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

  // cuInit, retain, set current. Not success: failed_call() names the call that returned it.
  CUresult Create(int ordinal = 0);
  const char* failed_call() const { return failed_call_; }
  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }

 private:
  CUresult Fail(CUresult result, const char* call);
  const DriverApi& api_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  const char* failed_call_ = "";
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_DRIVER_API_H_
