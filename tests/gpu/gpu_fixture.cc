// Misbehaviour that needs a real device: a context that breaks behind a pass, a kernel that never ends, a
// process that dies holding a context.
#include <cuda.h>

#include <cudnn_ci/check.hpp>
#include <cudnn_ci/late.hpp>

#include <cstdlib>

namespace {

constexpr char kPtx[] = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry write_null()
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, 16;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry spin()
{
AGAIN:
  membar.gl;
  bra AGAIN;
}
)";

struct Device {
  cudnn_ci::LateLibrary library;
  CUcontext context = nullptr;
  Device() {
    if (!library.Open("libcuda.so.1")) throw std::runtime_error(library.error());
    Call(library.Get<CUresult(unsigned)>("cuInit")(0), "cuInit");
    Call(library.Get<CUresult(CUcontext*, CUdevice)>("cuDevicePrimaryCtxRetain")(&context, 0), "retain");
    Call(library.Get<CUresult(CUcontext)>("cuCtxSetCurrent")(context), "set current");
  }
  static void Call(CUresult r, const char* what) {
    if (r != CUDA_SUCCESS) throw std::runtime_error(std::string(what) + ": CUDA error " + std::to_string(r));
  }
  void Launch(const char* kernel) const {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    Call(library.Get<CUresult(CUmodule*, const void*)>("cuModuleLoadData")(&module, kPtx), "load");
    Call(library.Get<CUresult(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction")(&function, module,
                                                                                          kernel),
         "get");
    Call(library.Get<decltype(cuLaunchKernel)>("cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, nullptr,
                                                                 nullptr, nullptr),
         "launch");
  }
  void Synchronize() const { Call(library.Get<CUresult()>("cuCtxSynchronize")(), "synchronize"); }
};

// One device per process, as a warm worker keeps it.
Device& TheDevice() {
  static Device device;
  return device;
}

struct Behave {
  struct Params {
    std::int64_t i = 0;
    std::string how;
  };
  static void Describe(cudnn_ci::Schema<Params>& s) {
    s.Summary("behaves as its parameter says, holding a context").Layer(CCI_LAYER_OTHER);
    s.Devices(CCI_DEVICES_ONE).Shareable().TimeoutSeconds(10);
    s.Param("i", &Params::i).Default(0);
    s.Param("how", &Params::how).OneOf({"well", "crash", "break", "spin"}).Default("well");
  }
  static void Run(cudnn_ci::Context& ctx, const Params& p) {
    Device& device = TheDevice();
    ctx.Step("context");
    if (p.how == "crash") std::abort();
    if (p.how == "break") device.Launch("write_null");
    if (p.how == "spin") {
      device.Launch("spin");
      device.Synchronize();
    }
    CCI_EXPECT_TRUE(device.context != nullptr);
  }
};

}  // namespace

CCI_REGISTER(Behave, "behave")
CCI_PLUGIN("gpufix", "1.0.0", "misbehaviour on a real device")
