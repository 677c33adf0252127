// Broken toolkits, made of the fake ones, and environments with nothing wrong, which must not be accused.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// CUDA 13 and 12 side by side.
void UseBoth(FaultTest& t) {
  t.UseFakes({"libcuda", "nvml", "cudart13", "cudart12", "nvrtc", "nvrtc12", "cudnn"});
}

// Everything but this fake.
void UseAllBut(FaultTest& t, const std::string& left_out) {
  std::vector<std::string> fakes = {"libcuda", "nvml", "cudart13", "nvrtc", "cudnn"};
  fakes.erase(std::find(fakes.begin(), fakes.end(), left_out));
  t.UseFakes(std::move(fakes));
}

// No cuBLAS, which an image need not have, and no cuBLASLt.
void LoseCublas(FaultTest& t) {
  UseAllBut(t, "cudart13");
  t.TakeAll("cudart13", t.libraries());
  t.Remove("libcublas.so.13");
  t.Remove("libcublasLt.so.13");
}

Make TwelvePromisedAndBroken(const std::string& library) {
  return Machine([library](FaultTest& t) {
    UseBoth(t), PromiseTwelve(t);
    t.WriteLibrary(library, "");
  });
}

std::vector<Fault> BrokenToolkits() {
  return Joined({
      Showing(
          "no CUDA runtime",
          {
              Image("runtime_missing", Alone([](auto& t) { UseAllBut(t, "cudart13"); }),
                    "toolkit-runtime-missing", {"libcudart.so.13"}),
              Image("runtime_truncated", Machine([](auto& t) {
                      t.Take("cudart13", "libcudart.so.13"), t.Halve("libcudart.so.13");
                    }),
                    "toolkit-runtime-missing", {"/libcudart.so.13 is truncated"}),
              Image("runtime_says_no_version", Machine([](auto& t) { t.Set("FAKE_CUDART_STATUS", "999"); }),
                    "toolkit-runtime-missing", {"returned 999"}),
              Image("promised_runtime_broken_beside_a_sound_one", TwelvePromisedAndBroken("libcudart.so.12"),
                    "toolkit-runtime-missing", {"libcudart.so.12"}),
          }),
      Showing("toolkit outside the promise",
              {
                  Image("runtime_outside_the_contract", Alone(PromiseTwelve), "toolkit-outside-contract",
                        {"toolkit 13.0 found, >=12.0 <13 promised"}),
                  Image("nvrtc_of_another_major", Alone([](auto& t) {
                          t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc12", "cudnn"});
                        }),
                        "nvrtc-outside-contract", {"NVRTC 12.8 found, >=13.0 <14 promised"}),
                  Image("absent_promised", Machine([](auto& t) { t.Promise("image.toolkit", "absent"); }),
                        "toolkit-not-promised", {"/libcudart.so.13"}),
              }),
      Showing(
          "NVRTC or its builtins missing",
          {
              Image("nvrtc_missing", Alone([](auto& t) { UseAllBut(t, "nvrtc"); }), "nvrtc-missing",
                    {"libnvrtc.so.13"}),
              Image("promised_nvrtc_broken_beside_a_sound_one", TwelvePromisedAndBroken("libnvrtc.so.12"),
                    "nvrtc-missing", {"libnvrtc.so.12"}),
              Image("nvrtc_cannot_compile", Machine([](auto& t) { t.Set("FAKE_NVRTC_FAULT", "compile"); }),
                    "nvrtc-compile-failed", {"NVRTC_ERROR_COMPILATION"}),
          }),
      Showing("kernel of NVRTC that does not run", {Image("nvrtc_kernel_is_wrong", Machine([](auto& t) {
                                                            t.Set("FAKE_WRONG_KERNEL", "cudnn_ci_fill");
                                                          }),
                                                          "nvrtc-kernel-failed", {"1 of 100003"})}),
  });
}

std::vector<Fault> BrokenCublas() {
  return Showing("cuBLASLt missing or foreign",
                 {
                     Image("cublaslt_missing", Alone(LoseCublas), "cublaslt-unusable",
                           {"libcublasLt.so.13: cannot open"}),
                     Image("cublaslt_empty",
                           Alone([](auto& t) { LoseCublas(t), t.WriteLibrary("libcublasLt.so.13", ""); }),
                           "cublas-unusable", {"libcublasLt.so.13"}),
                     Image("cublaslt_without_its_functions",
                           Alone([](auto& t) { LoseCublas(t), t.Take("cublas_other", "libcublasLt.so.13"); }),
                           "cublas-unusable", {"cublasLtGetVersion"}),
                     Image("cublas_with_the_cublaslt_of_another_install",
                           Machine([](auto& t) { t.Take("cublas_other", "libcublasLt.so.13"); }),
                           "cublas-unusable", {"cublasLtGetVersion"}),
                     Image("cublas_truncated", Machine([](auto& t) {
                             t.Take("cudart13", "libcublas.so.13"), t.Halve("libcublas.so.13");
                           }),
                           "cublas-unusable", {"/libcublas.so.13 is truncated"}),
                     Image("cublaslt_truncated", Machine([](auto& t) {
                             t.Take("cudart13", "libcublasLt.so.13"), t.Halve("libcublasLt.so.13");
                           }),
                           "cublas-unusable", {"/libcublasLt.so.13 is truncated"}),
                 });
}

std::vector<Fault> WrongProducts() {
  return Showing(
      "matrix product that is wrong or fails",
      {
          Image("matrix_product_is_wrong", Machine([](auto& t) { t.Set("FAKE_CUBLASLT_FAULT", "wrong:16"); }),
                "cublas-gemm-failed", {"float16: 1 of 9792"}),
          Image("matrix_product_fails",
                Machine([](auto& t) { t.Set("FAKE_CUBLASLT_FAULT", "call:cublasLtMatmul:0:15"); }),
                "cublas-gemm-failed", {"cublasLtMatmul: 15 CUBLAS_STATUS_NOT_SUPPORTED"}),
      });
}

// In place of a toolkit's own: two installs that never meet are no conflict.
void LeaveACopyThatNobodyFinds(FaultTest& t) { t.TakeAll("cudnn_old", t.gate().Path("opt/old/lib")); }

// A part with another name, of itself too. The other one must not be longer: it stands in the file's text.
void TakePartAs(FaultTest& t, const std::string& name, const std::string& other) {
  std::ifstream part(FaultTest::FakeFile("cudnn", name), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(part), {}};
  std::string text = other;
  text.resize(name.size(), '\0');
  for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1))
    bytes.replace(at, text.size(), text);
  std::ofstream(t.libraries() + "/" + other, std::ios::binary) << bytes;
}

void TakeFurtherParts(FaultTest& t) {
  t.TakeCudnn();
  TakePartAs(t, "libcudnn_engines_precompiled.so.9", "libcudnn_engines_tensor_ir.so.9");
  TakePartAs(t, "libcudnn_adv.so.9", "libcudnn_ext.so.9");
}

void PromiseEight(FaultTest& t) {
  t.Promise("image.cudnn", ">=8.8 <9");
  t.Set("FAKE_CUDNN_CUDART", "13000");
}

void UseUnusualVariables(FaultTest& t) {
  t.Set("CUDA_MODULE_LOADING", "EAGER");
  t.Set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  t.Set("NVIDIA_TF32_OVERRIDE", "0");
  t.Set("CUDNN_LOGLEVEL_DBG", "1");
  t.Set("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
}

// As a JIT-only cuDNN before a full one of another version: who uses the first one's graph API never meets
// the second.
void PutAnotherBehindAJitPackage(FaultTest& t) {
  t.TakeCudnn();
  KeepJitParts(t);
  t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn_old"});
}

void TakeAnotherHeader(FaultTest& t) {
  t.TakeCudnn();
  fs::create_directory(t.gate().Path("include"));
  t.gate().Write("include/cudnn_version.h",
                 "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n");
}

std::vector<Fault> SoundToolkits() {
  return Joined({
      Showing("toolkit image", {Sound("toolkit_image", Machine([](auto&) {}))}),
      Showing("two CUDA majors",
              {
                  Sound("two_toolkits_of_which_12_is_promised",
                        Machine([](auto& t) { UseBoth(t), PromiseTwelve(t); })),
                  Sound("two_toolkits_of_which_13_is_promised", Machine(UseBoth)),
                  Sound("two_toolkits_promised_and_cudnn_for_the_older", Machine([](auto& t) {
                          UseBoth(t), PromiseTwelve(t), t.Promise("image.toolkit", ">=12.0 <14");
                        })),
                  Sound("broken_runtime_of_a_major_that_is_not_promised",
                        Machine([](auto& t) { t.WriteLibrary("libcudart.so.12", ""); })),
                  Sound("broken_nvrtc_of_a_major_that_is_not_promised",
                        Machine([](auto& t) { t.WriteLibrary("libnvrtc.so.12", ""); })),
              }),
      Showing("unusual variables", {Sound("unusual_variables", Machine(UseUnusualVariables))}),
      Showing("harmless file on the loader's path",
              {Sound("library_of_another_machine_first", Machine([](auto& t) {
                       t.Take("cudart13", "libcudart.so.13"), t.Patch("libcudart.so.13", 18, kForeignMachine);
                     }))}),
      Showing("cuBLASLt of another install", {Sound("cublaslt_of_another_folder", Machine([](auto& t) {
                                                      t.Take("cudart13", "libcublasLt.so.13");
                                                    }),
                                                    "cublas-mixed-directories")}),
  });
}

std::vector<Fault> SoundInstalls() {
  return Joined({
      Showing("wheel beside a system install",
              {Sound("wheel_beside_a_system_install", Machine([](auto& t) { MakeWheel(t, "cudnn"); }))}),
      Showing(
          "two cuDNN majors",
          {
              Sound("wheel_of_cudnn_8_beside_a_system_cudnn_9",
                    Machine([](auto& t) { MakeWheel(t, "cudnn8"), PromiseEight(t); })),
              Sound(
                  "cudnn_8_promised_beside_a_cudnn_9", Machine([](auto& t) {
                    t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn", "cudnn8"}), PromiseEight(t);
                  })),
          }),
      Showing("newest cuDNN",
              {
                  Sound("newest_cudnn_with_a_driver", Machine([](auto& t) { t.TakeCudnn(), TakeNewest(t); })),
                  Sound("newest_cudnn_without_a_driver", WithoutDriver([](auto& t) { TakeNewest(t); }),
                        "cudnn-awaits-driver"),
                  Sound("further_sub_libraries", Machine(TakeFurtherParts)),
              }),
      Showing("JIT-only cuDNN",
              {
                  Sound("jit_only_package", Cudnn(KeepJitParts), "cudnn-jit-only"),
                  Sound("jit_only_package_before_a_full_one", Alone(PutAnotherBehindAJitPackage),
                        "cudnn-jit-completed"),
                  Sound("jit_only_package_without_a_driver",
                        WithoutDriver([](auto& t) { TakeNewest(t), KeepJitParts(t); }), "cudnn-jit-only"),
              }),
      Showing("runtime image", {Sound("libraries_without_headers", Cudnn([](auto&) {}))}),
      Showing("installs that never meet",
              {Sound("a_copy_that_nobody_finds", Machine(LeaveACopyThatNobodyFinds))}),
      Showing("headers or metadata of another version",
              {Sound("headers_of_another_version", Machine(TakeAnotherHeader), "cudnn-header-mismatch")}),
  });
}

INSTANTIATE_TEST_SUITE_P(Toolkit, FaultTableTest, ::testing::ValuesIn(BrokenToolkits()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(Cublas, FaultTableTest, ::testing::ValuesIn(BrokenCublas()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(Products, FaultTableTest, ::testing::ValuesIn(WrongProducts()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(SoundToolkits, FaultTableTest, ::testing::ValuesIn(SoundToolkits()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(SoundInstalls, FaultTableTest, ::testing::ValuesIn(SoundInstalls()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
