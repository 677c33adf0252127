// A machine of fake libraries with Python environments that bring a cuDNN of their own.
#ifndef CUDNN_CI_TESTS_INTEGRATION_ENVIRONMENTS_TEST_H_
#define CUDNN_CI_TESTS_INTEGRATION_ENVIRONMENTS_TEST_H_

#include <filesystem>
#include <string>

#include "shipped_test.h"

namespace cudnn_ci {

class EnvironmentsTest : public ShippedTest {
 protected:
  std::string Site(const std::string& name) { return gate().Path(name + "/lib/python3.11/site-packages"); }
  std::string Cudnn(const std::string& name) { return Site(name) + "/nvidia/cudnn/lib"; }
  // A virtual environment with the files of the fake cuDNN; `packages`: what its metadata says is installed,
  // as in "torch-2.11.0".
  void MakeEnvironment(const std::string& name, const std::vector<std::string>& packages = {}) {
    namespace fs = std::filesystem;
    fs::create_directories(gate().Path(name + "/bin"));
    gate().Write(name + "/bin/python3.11", "");
    fs::create_symlink("python3.11", gate().Path(name + "/bin/python"));
    gate().Write(name + "/pyvenv.cfg", "home = /nowhere/bin\nversion = 3.11.2\n");
    fs::create_directories(Cudnn(name));
    for (const auto& entry : fs::directory_iterator(FakeFolder("cudnn")))
      if (entry.path().extension() == ".9")
        fs::copy_file(fs::canonical(entry.path()), Cudnn(name) + "/" + entry.path().filename().string());
    for (const std::string& package : packages)
      fs::create_directory(Site(name) + "/" + package + ".dist-info");
  }
  // One without a cuDNN, with a library of CUDA that asks for nothing; `runtime`: with CUDA's runtime and
  // NVRTC.
  void MakeEnvironmentWithoutCudnn(const std::string& name, bool runtime) {
    namespace fs = std::filesystem;
    MakeEnvironment(name);
    fs::remove_all(Site(name) + "/nvidia/cudnn");
    fs::create_directories(Site(name) + "/nvidia/cuda/lib");
    fs::copy_file(FakeFile("nccl", "libnccl.so.2"), Site(name) + "/nvidia/cuda/lib/libnccl.so.2");
    if (!runtime) return;
    fs::copy_file(FakeFile("cudart13", "libcudart.so.13"), Site(name) + "/nvidia/cuda/lib/libcudart.so.13");
    fs::copy_file(FakeFile("nvrtc", "libnvrtc.so.13"), Site(name) + "/nvidia/cuda/lib/libnvrtc.so.13");
  }
  // Libraries of CUDA in NAME/lib, in the folder whose environment variable HOME names, and nothing that says
  // whose they are.
  void MakeProgram(const std::string& name) {
    namespace fs = std::filesystem;
    fs::create_directories(gate().Path(name + "/lib"));
    fs::copy_file(FakeFile("cudart13", "libcudart.so.13"), gate().Path(name + "/lib/libcudart.so.13"));
    fs::copy_file(FakeFile("nvrtc", "libnvrtc.so.13"), gate().Path(name + "/lib/libnvrtc.so.13"));
  }
  std::string Interpreter(const std::string& name) { return gate().Path(name + "/bin/python"); }
  std::string Python(const std::string& name) { return "python:" + Interpreter(name); }
  // The name that "auto" must give an environment of this test.
  std::string NameOf(const std::string& environment) {
    std::string name;
    for (const char c : gate().Path(environment).substr(1)) {
      const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (kept || name.back() != '_') name += kept ? static_cast<char>(tolower(c)) : '_';
    }
    return name;
  }
  // Hides what the machine itself has for the loader, where that can be done. False: it cannot.
  bool Alone() {
    const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
    gate().Before(words);
    for (const char* name : {"libcudnn.so.9", "libcudart.so.13", "libnvrtc.so.13", "libcuda.so.1"})
      for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/"})
        if (std::filesystem::exists(std::string(folder) + name)) return false;
    return !words.empty();
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_ENVIRONMENTS_TEST_H_
