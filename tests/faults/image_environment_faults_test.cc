// Images whose packages cannot compile at run time, or are of releases with known faults. Environments of a
// few small files, beside a machine that is sound.
#include "fault_machines.h"
#include "image_environment.h"

namespace cudnn_ci {
namespace {

using Packages = std::vector<std::string>;

// An environment of these packages, a compiler and Python's headers, judged by one entry as well.
Make Judged(const std::string& check, const std::string& params, const Packages& packages,
            const std::function<void(FaultTest&, const ImageEnvironment&)>& change) {
  return With(Entry(check, R"("name": "x", "params": )" + params), [=](FaultTest& t) {
    const ImageEnvironment environment(t.gate().Path("env"), packages);
    const std::string triton = ImageEnvironment::Site() + "triton/backends/nvidia/";
    environment.Write(triton + "bin/ptxas", "Cuda compilation tools, release 12.8, V12.8.93", true);
    environment.Write(triton + "lib/libdevice.10.bc", "BC");
    environment.Write("../usr/include/python3.12/Python.h", "");
    environment.Write("../bin/cc", "#!", true);
    environment.Write("../home/kept", "");
    t.Set("CC", t.gate().Path("bin/cc"));
    t.Set("CXX", t.gate().Path("bin/cc"));
    t.Set("HOME", t.gate().Path("home"));
    t.UseSubjects(environment.Subject());
    change(t, environment);
  });
}

void LoseCompiler(FaultTest& t, const ImageEnvironment&) { t.Set("CC", t.gate().Path("bin/gcc")); }
void LeaveAsItIs(FaultTest&, const ImageEnvironment&) {}
void CacheIsAFile(FaultTest& t, const ImageEnvironment&) {
  t.Set("TRITON_CACHE_DIR", t.gate().Path("home/kept"));
}

std::vector<Fault> Images() {
  const Packages torch = {"torch-2.11.0", "triton-3.6.0"},
                 cudnn = {"torch-2.11.0", "nvidia_cudnn_cu13-9.19.0.56"};
  const std::string compile = R"({"require": ["torch.compile"]})";
  return Joined({
      Showing(
          "no tools to compile kernels",
          {
              Image("triton_without_a_compiler", Judged("image.jit_tools", compile, torch, LoseCompiler),
                    "jit-tool-missing", {"bin/gcc", "triton 3.6.0"}),
              Image("vllm_without_a_compiler",
                    Judged("image.jit_tools", "{}", {"torch-2.11.0", "triton-3.6.0", "vllm-0.11.0"},
                           LoseCompiler),
                    "jit-tool-missing", {"vllm 0.11.0"}),
              Image("triton_without_python_headers",
                    Judged("image.jit_tools", compile, torch,
                           [](FaultTest& t, const ImageEnvironment&) {
                             std::filesystem::remove(t.gate().Path("usr/include/python3.12/Python.h"));
                           }),
                    "jit-tool-missing", {"python3.12/Python.h"}),
              Image("torch_without_triton", Judged("image.jit_tools", compile, {"torch-2.11.0"}, LeaveAsItIs),
                    "jit-tool-missing", {"package triton"}),
          }),
      Showing("ptxas older than a card",
              {Image("triton_for_b300",
                     Judged("image.jit_tools", R"({"require": ["triton"], "gpus": ["9.0", "10.3"]})", torch,
                            LeaveAsItIs),
                     "jit-ptxas-too-old", {"12.8", "10.3"})}),
      Showing("cache of kernels that cannot be written",
              {Image("triton_cache_is_a_file", Judged("image.jit_tools", compile, torch, CacheIsAFile),
                     "jit-cache-unusable", {"home/kept"})}),
      Showing("feature without its tools",
              {Sound("torch_compile_without_a_compiler", Judged("image.jit_tools", "{}", torch, LoseCompiler),
                     "jit-feature-limited")}),
      Showing("release with a fault that the matrix names",
              {Image("attention_of_torch_2_11",
                     Judged("image.known_faults", R"({"operations": ["attention"], "gpus": ["9.0"]})", cudnn,
                            LeaveAsItIs),
                     "known-fault-promised",
                     {"cuDNN 9.19.0", "attention_dq_nan", "install cuDNN 9.26.0 or later"})}),
      Showing("release that is known to be wrong",
              {Sound("torch_2_11", Judged("image.known_faults", "{}", cudnn, LeaveAsItIs), "known-fault")}),
      Showing(
          "package without its version",
          {Sound("torch_of_a_branch",
                 Judged("image.known_faults", "{}", {"torch-branch", "nvidia_nccl_cu13-2.32.3"}, LeaveAsItIs),
                 "component-version-unknown"),
           Sound("cudnn_that_no_package_lists",
                 Judged("image.versions", "{}", {"nvidia_cuda_runtime-13.0.96"},
                        [](FaultTest& t, const ImageEnvironment&) { t.Promise("image.toolkit", ">=13"); }),
                 "package-not-listed")}),
      Showing("package of another version than promised",
              {Image("cudnn_wheel_of_8",
                     Judged("image.versions", "{}", {"nvidia_cudnn_cu11-8.9.7.29"}, LeaveAsItIs),
                     "package-outside-contract", {"nvidia-cudnn-cu11 8.9.7.29"})}),
      Showing("wheels alone",
              {Sound("torch_that_can_compile", Judged("image.jit_tools", compile, torch, LeaveAsItIs))}),
  });
}

INSTANTIATE_TEST_SUITE_P(Images, FaultTableTest, ::testing::ValuesIn(Images()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
