// A libcuda.so.1 whose device memory is the host's: just what the convolution plugin calls. A variable
// FAKE_FREE_BYTES makes the device small. Linked to the test, so that a dlopen by name finds it first.
#include <cuda.h>

#include <cstdlib>
#include <cstring>

// Newer headers name another signature so; the plugin calls the function of old.
#undef cuEventElapsedTime

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
void* Memory(CUdeviceptr p) { return reinterpret_cast<void*>(p); }
size_t held = 0;  // the plugin holds one allocation at a time
}  // namespace

EXPORT CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGet(CUdevice* device, int) { return *device = 0, CUDA_SUCCESS; }
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(8);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* p, size_t bytes) {
  *p = reinterpret_cast<CUdeviceptr>(aligned_alloc(256, (bytes + 255) / 256 * 256));
  held = bytes;
  return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr p) {
  free(Memory(p));
  held = 0;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return memcpy(Memory(to), from, bytes), CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return memcpy(to, Memory(from), bytes), CUDA_SUCCESS;
}
EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes) {
  return memset(Memory(to), value, bytes), CUDA_SUCCESS;
}
EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  for (size_t i = 0; i < count; ++i) static_cast<unsigned*>(Memory(to))[i] = value;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  const char* text = getenv("FAKE_FREE_BYTES");
  *total = text ? strtoull(text, nullptr, 10) : size_t{1} << 36;
  *free_bytes = *total - held;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(8);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
EXPORT CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
EXPORT CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) { return *ms = 1, CUDA_SUCCESS; }
EXPORT CUresult cuGetErrorName(CUresult, const char** name) {
  return *name = "CUDA_ERROR_FAKE", CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult, const char** text) { return *text = "made up", CUDA_SUCCESS; }
