#include "image/contents/environment_packages.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/path.h"
#include "base/text.h"
#include "image/contents/folder_list.h"
#include "image/contents/python_packages.h"
#include "image/contents/resolve.h"
#include "image/packages/conda_metadata.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

// What is installed under which name; builds for a CPU or a CUDA major have names of their own.
constexpr std::pair<const char*, const char*> kFrameworks[] = {
    {"torch", "PyTorch"},
    {"tensorflow", "TensorFlow"},
    {"tensorflow-gpu", "TensorFlow"},
    {"tensorflow-cpu", "TensorFlow"},
    {"tf-nightly", "TensorFlow"},
    {"jax", "JAX"},
    {"jax-cuda12-plugin", "JAX's plugin"},
    {"jax-cuda13-plugin", "JAX's plugin"},
    {"onnxruntime", "ONNX Runtime"},
    {"onnxruntime-gpu", "ONNX Runtime"},
    {"ctranslate2", "CTranslate2"},
    {"cupy", "CuPy"},
    {"cupy-cuda11x", "CuPy"},
    {"cupy-cuda12x", "CuPy"},
    {"cupy-cuda13x", "CuPy"},
};

// Names of packages that tell for which CUDA major their cuDNN is.
constexpr const char* kCudnnPackages[] = {"nvidia-cudnn-cu", "nvidia-cudnn-jit-cu"};

void AddFramework(const Package& package, PythonEnvironment* found) {
  for (const auto& [distribution, title] : kFrameworks) {
    if (package.name != distribution) continue;
    // The folder that comes first on the path is the one that is imported.
    const bool known = std::any_of(found->frameworks.begin(), found->frameworks.end(),
                                   [&](const PythonPackage& p) { return p.distribution == package.name; });
    if (!known) found->frameworks.push_back({title, package.name, package.version});
  }
}

// "12" of "nvidia-cudnn-cu12"; empty of any other name.
std::string CudaOfPackage(const std::string& name) {
  for (const std::string prefix : kCudnnPackages) {
    std::string major = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
    if (!major.empty() && major.find_first_not_of("0123456789") == std::string::npos) return major;
  }
  return {};
}

// "12.8" of "cuda-version 12.8", the package by which conda keeps all of CUDA to one version.
std::string CudaOfConda(const std::string& prefix) {
  for (const Package& package : CondaPackagesIn(prefix))
    if (package.name == "cuda-version") return package.version;
  return {};
}

}  // namespace

bool HoldsCudnn(const std::string& folder) {
  return Exists(folder + "/libcudnn.so.9") || Exists(folder + "/libcudnn.so.8");
}

PythonEnvironment DescribeEnvironment(const std::string& interpreter, const Variables& environment) {
  FolderReader reader;
  const PythonPackages python = FindPythonPackages(interpreter, environment, &reader);
  PythonEnvironment found;
  found.interpreter = interpreter;
  found.prefix = python.prefix;
  const SubjectInfo subject = ResolveSubject({"", "python:" + interpreter}, environment).subject;
  for (const auto& folders : {subject.folders, subject.late_folders})
    for (const std::string& folder : folders)
      if (found.cudnn.empty() && HoldsCudnn(folder)) found.cudnn = RealPath(folder);
  std::set<std::string> majors;
  for (const std::string& folder : python.folders)
    for (const std::string& entry : reader.Names(folder))
      if (const std::optional<Package> package = PythonPackageOf(folder, entry)) {
        AddFramework(*package, &found);
        if (std::string major = CudaOfPackage(package->name); !major.empty()) majors.insert(std::move(major));
      }
  if (majors.empty()) {
    found.cuda = CudaOfConda(python.prefix);
  } else if (majors.size() == 1) {
    found.cuda = *majors.begin();
  }
  return found;
}

}  // namespace cudnn_ci
