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

Make WithoutLibcuda(const std::function<void(FaultTest&)>& change,
                    const std::function<std::string(FaultTest&)>& mounts) {
  return [change, mounts](FaultTest& t) {
    t.UseFakes({"cudart13", "nvrtc", "cudnn"});
    change(t);
    for (const char* name : {"libcuda.so.1", "libnvidia-ml.so.1"})
      if (LiesInDefaultFolders(name)) return false;
    return t.HideLoaderCache(mounts ? mounts(t) : "");
  };
}

Make WithoutModule(const std::function<void(FaultTest&)>& change) {
  return [change](FaultTest& t) {
    change(t);
    return !fs::exists("/sys/module/nvidia/version") && !fs::exists("/proc/driver/nvidia/version");
  };
}

Make WithNodes(const std::vector<std::string>& nodes, const std::vector<std::string>& denied,
               const std::function<void(FaultTest&)>& change, const std::string& log) {
  return [=](FaultTest& t) {
    change(t);
    const std::string old = t.gate().Path("dev");
    fs::create_directory(old);
    std::string mounts = "mount --rbind /dev " + old + " && mount -t tmpfs none /dev";
    const auto add = [&](const std::string& name, const std::string& source) {
      mounts += " && touch /dev/" + name + " && mount --bind " + source + " /dev/" + name;
    };
    for (const char* name : {"null", "zero", "random", "urandom"}) add(name, old + "/" + name);
    for (const std::string& name : nodes) add(name, old + "/null");
    for (const std::string& name : denied) {
      add(name, old + "/null");
      mounts += " && mount -o remount,bind,nodev /dev/" + name;
    }
    if (!log.empty()) {
      t.gate().Write("kmsg", log);
      add("kmsg", t.gate().Path("kmsg"));
    }
    return t.HideLoaderCache(mounts);
  };
}

Make With(const std::string& entry, const std::function<void(FaultTest&)>& change) {
  return [entry, change](FaultTest& t) {
    t.Also(entry);
    change(t);
    return true;
  };
}

void PromiseTwelve(FaultTest& t) {
  t.Promise("image.toolkit", ">=12.0 <13");
  t.Set("FAKE_CUDNN_CUDART", "12090");
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
