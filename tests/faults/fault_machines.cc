#include "fault_machines.h"

#include <filesystem>

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// True if the loader finds a library of this name without cache and variables: no row can hide those folders.
bool LiesInDefaultFolders(const std::string& name) {
  for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/lib64", "/lib", "/usr/lib"})
    if (fs::exists(std::string(folder) + "/" + name)) return true;
  return false;
}

bool HidesOwnLibraries(FaultTest& t) {
  for (const char* name : {"libcudnn.so.9", "libcudnn.so.8", "libcudart.so.13", "libcudart.so.12",
                           "libnvrtc.so.13", "libnvrtc.so.12", "libcublasLt.so.13"})
    if (LiesInDefaultFolders(name)) return false;
  return t.HideLoaderCache();
}

}  // namespace

Make Cudnn(const std::function<void(FaultTest&)>& spoil) {
  return Alone([spoil](FaultTest& t) {
    t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
    t.TakeCudnn();
    spoil(t);
  });
}

Make Machine(const std::function<void(FaultTest&)>& change) {
  return [change](FaultTest& t) {
    change(t);
    return true;
  };
}

Make Alone(const std::function<void(FaultTest&)>& change) {
  return [change](FaultTest& t) {
    change(t);
    return HidesOwnLibraries(t);
  };
}

Make WithoutDriver(const std::function<void(FaultTest&)>& change) {
  return [change](FaultTest& t) {
    t.UseFakes({"cudart13", "nvrtc"});
    t.StaticOnly();
    t.TakeCudnn();
    change(t);
    return HidesOwnLibraries(t) && !LiesInDefaultFolders("libcuda.so.1");
  };
}

void TakeNewest(FaultTest& t, const std::string& kind) {
  t.Take("cudnn_" + kind, "libcudnn_engines_runtime_compiled.so.9");
}

void KeepJitParts(FaultTest& t) {
  for (const char* part : {"ops", "cnn", "adv", "heuristic", "engines_precompiled"})
    t.Remove("libcudnn_" + std::string(part) + ".so.9");
}

void MakeWheel(FaultTest& t, const std::string& fake) {
  const std::string folder = t.gate().Path("venv/lib/python3.11/site-packages/nvidia/cudnn/lib");
  t.TakeAll(fake, folder);
  t.UseSubjects("{\"wheel\": \"path:" + folder + "\"}");
}

}  // namespace cudnn_ci
