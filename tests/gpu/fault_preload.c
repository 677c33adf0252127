/* Preloaded into the gate's workers on a machine with GPUs: makes one thing fail that a healthy machine does
 * not. CUDNN_CI_FAULT=facts    the first process that asks for NVML aborts; every later one is served
 *   CUDNN_CI_FAULT=device   on the GPU named by CUDNN_CI_FAULT_DEVICE (a UUID) the first kernel launch aborts
 *                           the process, and every later one is refused: a device that stopped computing
 *   CUDNN_CI_FAULT=product  the lowest byte of every product of cuBLASLt is wrong
 * CUDNN_CI_FAULT_MARK names a file that does not exist yet: whoever creates it is the first.
 * Built by tests/gpu/run: gcc -shared -fPIC fault_preload.c -o fault_preload.so -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLaunchFailed = 719 }; /* CUDA_ERROR_LAUNCH_FAILED */

static int IsFault(const char* name) {
  const char* fault = getenv("CUDNN_CI_FAULT");
  return fault && strcmp(fault, name) == 0;
}

static int IsFirst(void) {
  const char* mark = getenv("CUDNN_CI_FAULT_MARK");
  const int fd = mark ? open(mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
  if (fd < 0) return 0;
  close(fd);
  return 1;
}

static void* Next(const char* symbol) {
  void* p = dlvsym(RTLD_NEXT, symbol, "GLIBC_2.34");
  return p ? p : dlvsym(RTLD_NEXT, symbol, "GLIBC_2.2.5");
}

void* dlopen(const char* file, int mode) {
  void* (*real)(const char*, int);
  *(void**)&real = Next("dlopen");
  if (file && strncmp(file, "libnvidia-ml.so", 15) == 0 && IsFault("facts") && IsFirst()) abort();
  return real(file, mode);
}

static int RefuseLaunch(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, void* stream, void** arguments, void** extra) {
  (void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
  (void)shared, (void)stream, (void)arguments, (void)extra;
  if (IsFirst()) abort();
  return kLaunchFailed;
}

static int (*multiply)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                       void*, void*, size_t, void*);

static int SpoilProduct(void* handle, void* operation, void* alpha, void* a, void* la, void* b, void* lb,
                        void* beta, void* c, void* lc, void* d, void* ld, void* algorithm, void* workspace,
                        size_t bytes, void* stream) {
  const int status = multiply(handle, operation, alpha, a, la, b, lb, beta, c, lc, d, ld, algorithm,
                              workspace, bytes, stream);
  int (*set)(unsigned long long, unsigned char, size_t);
  *(void**)&set = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuMemsetD8_v2");
  return status ? status : set((unsigned long long)(size_t)d, 0x41, 1);
}

void* dlsym(void* handle, const char* symbol) {
  void* (*real)(void*, const char*);
  *(void**)&real = Next("dlsym");
  if (strcmp(symbol, "cublasLtMatmul") == 0 && IsFault("product")) {
    *(void**)&multiply = real(handle, symbol);
    return (void*)SpoilProduct;
  }
  const char* wanted = getenv("CUDNN_CI_FAULT_DEVICE");
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  if (strcmp(symbol, "cuLaunchKernel") == 0 && IsFault("device") && wanted && visible &&
      strcmp(wanted, visible) == 0)
    return (void*)RefuseLaunch;
  return real(handle, symbol);
}
