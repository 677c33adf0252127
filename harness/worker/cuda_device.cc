#include "worker/cuda_device.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
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

// The CUDA runtimes among the loaded objects, by path. Statically linked copies (cuDNN's) cannot be asked and
// do not matter here.
std::vector<std::string> LoadedRuntimes() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        const char* slash = strrchr(info->dlpi_name, '/');
        if (strncmp(slash ? slash + 1 : info->dlpi_name, "libcudart.so", strlen("libcudart.so")) == 0)
          static_cast<std::vector<std::string>*>(out)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

// cudart remembers an error until it is asked: one left behind is the check's own.
std::string RuntimeError() {
  for (const std::string& path : LoadedRuntimes()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
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

// What cuDeviceGetCount answers in a process that has no context and can have none: the driver was not
// initialised, could not be, or has no device.
bool MeansNoContext(CUresult r) {
  switch (r) {
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return true;
    default:
      return false;
  }
}

// The driver's functions that ContextError needs, and what the first of them to fail said. An error of an
// earlier asynchronous call comes back from any of them, so that each counts.
class Contexts {
 public:
  explicit Contexts(const Driver& driver) : driver_(driver) {}

  // Empty: all well. `any`: there is a context, or was.
  std::string Check(bool* any) {
    int devices = 0;
    *any = false;
    // A library without these functions never made a context.
    if (!count_ || !state_ || !retain_ || !release_ || !set_ || !get_ || !synchronize_) return {};
    if (const CUresult r = count_(&devices); r != CUDA_SUCCESS)
      return MeansNoContext(r) ? std::string() : "cuDeviceGetCount: " + driver_.Text(r);
    CUcontext before = nullptr;
    if (!Holds("cuCtxGetCurrent", get_(&before))) return error_;
    if (before) {  // perhaps no primary one
      *any = true;
      const CUresult r = synchronize_();
      // A check that gave its context back leaves it current: nothing runs in what is destroyed.
      if (r == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        before = nullptr;
      else if (!Holds("cuCtxSynchronize", r))
        return error_;
    }
    for (int device = 0; device < devices && error_.empty(); ++device) CheckDevice(device, any);
    if (*any) Holds("cuCtxSetCurrent", set_(before));
    return error_;
  }

 private:
  // True: the call succeeded. The first that did not is kept.
  bool Holds(const char* call, CUresult r) {
    if (r == CUDA_SUCCESS) return true;
    if (error_.empty()) error_ = std::string(call) + ": " + driver_.Text(r);
    return false;
  }

  void CheckDevice(int device, bool* any) {
    unsigned flags = 0;
    int active = 0;
    CUcontext context = nullptr;
    if (!Holds("cuDevicePrimaryCtxGetState", state_(device, &flags, &active)) || !active) return;
    *any = true;
    if (!Holds("cuDevicePrimaryCtxRetain", retain_(&context, device))) return;
    if (Holds("cuCtxSetCurrent", set_(context))) Holds("cuCtxSynchronize", synchronize_());
    Holds("cuDevicePrimaryCtxRelease", release_(device));
  }

  const Driver& driver_;
  std::string error_;
  decltype(cuDeviceGetCount)* const count_ =
      Symbol<decltype(cuDeviceGetCount)>(driver_.library, "cuDeviceGetCount");
  decltype(cuDevicePrimaryCtxGetState)* const state_ =
      Symbol<decltype(cuDevicePrimaryCtxGetState)>(driver_.library, "cuDevicePrimaryCtxGetState");
  decltype(cuDevicePrimaryCtxRetain)* const retain_ =
      Symbol<decltype(cuDevicePrimaryCtxRetain)>(driver_.library, "cuDevicePrimaryCtxRetain");
  CUresult (*const release_)(CUdevice) = Symbol<CUresult(CUdevice)>(driver_.library,
                                                                    "cuDevicePrimaryCtxRelease_v2");
  decltype(cuCtxSetCurrent)* const set_ =
      Symbol<decltype(cuCtxSetCurrent)>(driver_.library, "cuCtxSetCurrent");
  decltype(cuCtxGetCurrent)* const get_ =
      Symbol<decltype(cuCtxGetCurrent)>(driver_.library, "cuCtxGetCurrent");
  CUresult (*const synchronize_)() = Symbol<CUresult()>(driver_.library, "cuCtxSynchronize");
};

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
  bool any = false;
  std::string error = Contexts(driver).Check(&any);
  return error.empty() && any ? RuntimeError() : error;
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

void PrepareDriver() {
  const Driver driver(0);
  if (!driver.library) return;
  if (auto* init = Symbol<decltype(cuInit)>(driver.library, "cuInit")) init(0);
}

}  // namespace cudnn_ci::worker
