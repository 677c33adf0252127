// Packages whose kernels are wrong, refuse, crash or compute elsewhere: a fake one, asked by a real Python,
// on a machine that is otherwise sound.
#include <cstdlib>
#include <filesystem>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// kernels.package by this adapter of the fake package, which has this fault.
Make Package(const std::string& adapter, const std::string& fault = "") {
  const std::string entry =
      Entry("kernels.package", R"("params": {"adapter": ")" + adapter + R"("}, "allow_skip": [])");
  return With(entry, [fault](FaultTest& t) {
    fs::create_directory(t.gate().Path("bin"));
    t.gate().Write("bin/python3", "#!/bin/sh\nexec " CUDNN_CI_PYTHON " -S \"$@\"\n");
    fs::permissions(t.gate().Path("bin/python3"), fs::perms(0755));
    const char* path = getenv("PATH");
    t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc", "cudnn", "cupti"});
    t.Set("PATH", t.gate().Path("bin") + ":" + (path ? path : ""));
    t.Set("PYTHONPATH", CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/packages");
    t.Set("FAKE_KERNELS", fault);
    t.UseAdapters(CUDNN_CI_SOURCE_DIR "/tests/fakes/kernels/adapters");
  });
}

std::vector<Fault> Kernels() {
  return Joined({
      Showing("kernel package for another release of its framework",
              {Image("package_that_cannot_be_imported", Package("acme", "import"), "kernels-import-failed",
                     {"libacme.so"})}),
      Showing("kernel that accesses memory outside its buffers",
              {Image("package_that_breaks_the_gpu", Package("acme", "broken"), "kernels-crashed",
                     {"fast, product/float32_small, run 1: "})}),
      Showing("kernel of a package that computes wrong numbers",
              {Image("package_that_adds_one", Package("one_more"), "kernels-wrong",
                     {"product/float32_small, run 1: "})}),
      Showing("package whose extension does not load",
              {Image("package_that_refuses_everything", Package("shy"), "kernels-refused",
                     {"refuses, product/float32_small, run 1: "})}),
      Showing("package that falls back to the CPU",
              {Image("package_that_computes_on_the_cpu", Package("elsewhere"), "kernels-not-on-gpu",
                     {"cpu, product/float32_small, run 1: "})}),
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, FaultTableTest, ::testing::ValuesIn(Kernels()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
