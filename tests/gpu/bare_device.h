// What all bare programs need of the driver: a context, memory and a clock. Independent of the project's own
// code on purpose.
#ifndef CUDNN_CI_TESTS_GPU_BARE_DEVICE_H_
#define CUDNN_CI_TESTS_GPU_BARE_DEVICE_H_

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Ends the program unless the driver's answer is success.
inline void Cuda(CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", what, r);
  std::exit(1);
}

// Makes the primary context of the first GPU the current one.
inline void OpenContext() {
  Cuda(cuInit(0), "cuInit");
  CUcontext context;
  Cuda(cuDevicePrimaryCtxRetain(&context, 0), "context");
  Cuda(cuCtxSetCurrent(context), "context");
}

// Device memory; one byte where none is asked for.
struct Buffer {
  CUdeviceptr p = 0;
  size_t bytes;
  explicit Buffer(size_t size) : bytes(size) { Cuda(cuMemAlloc(&p, size ? size : 1), "cuMemAlloc"); }
  ~Buffer() { cuMemFree(p); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* get() const { return reinterpret_cast<void*>(p); }
  void Fill(unsigned char byte) const { Cuda(cuMemsetD8(p, byte, bytes), "fill"); }
  void Upload(const void* from) const { Cuda(cuMemcpyHtoD(p, from, bytes), "upload"); }
  void Download(void* to) const { Cuda(cuMemcpyDtoH(to, p, bytes), "download"); }
};

// Seconds since it was made.
class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

#endif  // CUDNN_CI_TESTS_GPU_BARE_DEVICE_H_
