#include "worker/cuda_device.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <vector>

namespace cudnn_ci::worker {
namespace {

// Writes out[i] = i * 2654435761 + seed (mod 2^32; the factor is spread over all bits). PTX 6.0 for sm_50 is
// understood by every driver since CUDA 9, which compiles it for the device it has.
constexpr char kCanaryPtx[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry cudnn_ci_canary(.param .u64 out, .param .u32 seed)
{
  .reg .b32 %r<7>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [seed];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mad.lo.s32 %r6, %r5, -1640531535, %r1;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r6;
  ret;
}
)";
constexpr unsigned kBlocks = 32, kThreads = 128;

template <class F>
F* Symbol(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

struct Driver {
  void* library = nullptr;
  explicit Driver(int extra_flags) : library(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | extra_flags)) {}

  std::string Text(CUresult r) const {
    std::string out = std::to_string(static_cast<int>(r));
    if (r == CUDA_ERROR_STUB_LIBRARY)
      return out + " CUDA_ERROR_STUB_LIBRARY";  // its functions must not be called
    const char* name = nullptr;
    if (auto* f = Symbol<decltype(cuGetErrorName)>(library, "cuGetErrorName");
        f && f(r, &name) == CUDA_SUCCESS && name)
      out += std::string(" ") + name;
    return out;
  }
};

// How many objects this process has ever loaded. While it stands still, so does what was found among them;
// asking the loader by name costs a search of its path each time.
unsigned long long LoadedObjects() {
  unsigned long long adds = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &adds);
  return adds;
}

// Whether a driver library is among the loaded objects. dlopen(RTLD_NOLOAD) would search the whole loader
// path for one that is not: a hundred system calls in a process that lives for a single case.
bool DriverIsLoaded() {
  bool found = false;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        const char* slash = strrchr(info->dlpi_name, '/');
        const char* file = slash ? slash + 1 : info->dlpi_name;
        if (strncmp(file, "libcuda.so", strlen("libcuda.so")) != 0) return 0;
        *static_cast<bool*>(out) = true;
        return 1;
      },
      &found);
  return found;
}

// cudart remembers an error until somebody asks: one left behind is the check's own. Statically linked copies
// (cuDNN's) cannot be asked and do not matter here.
constexpr const char* kRuntimes[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};

std::string RuntimeError() {
  for (const char* name : kRuntimes) {
    void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    auto* last = Symbol<int()>(library, "cudaGetLastError");
    auto* text = Symbol<const char*(int)>(library, "cudaGetErrorString");
    const int error = last ? last() : 0;
    if (error != 0)
      return "cudaGetLastError: " + std::to_string(error) +
             (text ? std::string(" ") + text(error) : std::string());
  }
  return {};
}

}  // namespace

std::string ContextError() {
  static unsigned long long known_without_cuda = 0;
  const unsigned long long objects = LoadedObjects();
  if (objects == known_without_cuda) return {};
  if (!DriverIsLoaded()) {
    known_without_cuda = objects;
    return {};  // no driver, so no context; cudart's "no driver" is not the check's error
  }
  const Driver driver(RTLD_NOLOAD);
  if (!driver.library) return {};
  auto* count_devices = Symbol<decltype(cuDeviceGetCount)>(driver.library, "cuDeviceGetCount");
  auto* state = Symbol<decltype(cuDevicePrimaryCtxGetState)>(driver.library, "cuDevicePrimaryCtxGetState");
  auto* retain = Symbol<decltype(cuDevicePrimaryCtxRetain)>(driver.library, "cuDevicePrimaryCtxRetain");
  auto* release = Symbol<CUresult(CUdevice)>(driver.library, "cuDevicePrimaryCtxRelease_v2");
  auto* set = Symbol<decltype(cuCtxSetCurrent)>(driver.library, "cuCtxSetCurrent");
  auto* get = Symbol<decltype(cuCtxGetCurrent)>(driver.library, "cuCtxGetCurrent");
  auto* synchronize = Symbol<CUresult()>(driver.library, "cuCtxSynchronize");
  int devices = 0;
  // Before cuInit this fails: no context then.
  if (!count_devices || !state || !retain || !release || !set || !get || !synchronize ||
      count_devices(&devices) != CUDA_SUCCESS)
    return {};
  CUcontext before = nullptr;
  get(&before);
  std::string error;
  bool any_active = false;
  for (int device = 0; device < devices && error.empty(); ++device) {
    unsigned flags = 0;
    int active = 0;
    CUcontext context = nullptr;
    if (state(device, &flags, &active) != CUDA_SUCCESS || !active) continue;
    any_active = true;
    if (retain(&context, device) != CUDA_SUCCESS) continue;
    set(context);
    if (const CUresult r = synchronize(); r != CUDA_SUCCESS) error = "cuCtxSynchronize: " + driver.Text(r);
    release(device);
  }
  set(before);
  return error.empty() && any_active ? RuntimeError() : error;
}

std::string Canary(bool* tested) {
  *tested = false;
  const Driver driver(0);
  if (!driver.library) return {};
  auto* init = Symbol<decltype(cuInit)>(driver.library, "cuInit");
  auto* retain = Symbol<decltype(cuDevicePrimaryCtxRetain)>(driver.library, "cuDevicePrimaryCtxRetain");
  auto* set = Symbol<decltype(cuCtxSetCurrent)>(driver.library, "cuCtxSetCurrent");
  auto* load = Symbol<decltype(cuModuleLoadData)>(driver.library, "cuModuleLoadData");
  auto* function = Symbol<decltype(cuModuleGetFunction)>(driver.library, "cuModuleGetFunction");
  auto* allocate = Symbol<CUresult(CUdeviceptr*, size_t)>(driver.library, "cuMemAlloc_v2");
  auto* free_memory = Symbol<CUresult(CUdeviceptr)>(driver.library, "cuMemFree_v2");
  auto* launch = Symbol<decltype(cuLaunchKernel)>(driver.library, "cuLaunchKernel");
  auto* copy = Symbol<CUresult(void*, CUdeviceptr, size_t)>(driver.library, "cuMemcpyDtoH_v2");
  if (!init || !retain || !set || !load || !function || !allocate || !free_memory || !launch || !copy)
    return {};
  *tested = true;
  const auto failed = [&](const char* call, CUresult r) { return std::string(call) + ": " + driver.Text(r); };
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr out = 0;
  unsigned seed = 0x5eed;
  std::vector<unsigned> host(static_cast<size_t>(kBlocks) * kThreads, 0);
  const size_t bytes = host.size() * sizeof(unsigned);
  if (CUresult r = init(0); r != CUDA_SUCCESS) return failed("cuInit", r);
  if (CUresult r = retain(&context, 0); r != CUDA_SUCCESS) return failed("cuDevicePrimaryCtxRetain", r);
  if (CUresult r = set(context); r != CUDA_SUCCESS) return failed("cuCtxSetCurrent", r);
  if (CUresult r = load(&module, kCanaryPtx); r != CUDA_SUCCESS) return failed("cuModuleLoadData", r);
  if (CUresult r = function(&kernel, module, "cudnn_ci_canary"); r != CUDA_SUCCESS)
    return failed("cuModuleGetFunction", r);
  if (CUresult r = allocate(&out, bytes); r != CUDA_SUCCESS) return failed("cuMemAlloc", r);
  void* arguments[] = {&out, &seed};
  if (CUresult r = launch(kernel, kBlocks, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr);
      r != CUDA_SUCCESS)
    return failed("cuLaunchKernel", r);
  if (CUresult r = copy(host.data(), out, bytes); r != CUDA_SUCCESS) return failed("cuMemcpyDtoH", r);
  free_memory(out);
  for (unsigned i = 0; i < host.size(); ++i)
    if (host[i] != i * 2654435761u + seed)
      return "the canary kernel wrote " + std::to_string(host[i]) + " at " + std::to_string(i) +
             ", expected " + std::to_string(i * 2654435761u + seed);
  return {};
}

void WarmContext() {
  const Driver driver(0);
  if (!driver.library) return;
  auto* init = Symbol<decltype(cuInit)>(driver.library, "cuInit");
  auto* retain = Symbol<decltype(cuDevicePrimaryCtxRetain)>(driver.library, "cuDevicePrimaryCtxRetain");
  CUcontext context = nullptr;
  if (init && retain && init(0) == CUDA_SUCCESS) retain(&context, 0);
}

}  // namespace cudnn_ci::worker
