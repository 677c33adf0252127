// One kernel, for libraries that hold it for different GPUs: whether it can be launched here is what
// image.device_code is held against.
#include <cuda_runtime.h>

__global__ void Write(int* out) { *out = 42; }

// 0, or the error of CUDA's that says why the kernel does not run.
extern "C" int RunKernel() {
  int *out = nullptr, value = 0;
  if (const cudaError_t error = cudaMalloc(&out, sizeof *out); error != cudaSuccess) return error;
  Write<<<1, 1>>>(out);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  if (const cudaError_t error = cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
      error != cudaSuccess)
    return error;
  return value == 42 ? 0 : -1;
}
