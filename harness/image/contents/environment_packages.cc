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

namespace cudnn_ci {
namespace {

// What is installed under which name; builds for a CPU or a CUDA major have names of their own.
constexpr std::pair<const char*, const char*> kFrameworks[] = {
    {"torch", "PyTorch"},
    {"tensorflow", "TensorFlow"},
    {"tensorflow_gpu", "TensorFlow"},
    {"tensorflow_cpu", "TensorFlow"},
    {"tf_nightly", "TensorFlow"},
    {"jax", "JAX"},
    {"jax_cuda12_plugin", "JAX's plugin"},
    {"jax_cuda13_plugin", "JAX's plugin"},
    {"onnxruntime", "ONNX Runtime"},
    {"onnxruntime_gpu", "ONNX Runtime"},
    {"ctranslate2", "CTranslate2"},
    {"cupy", "CuPy"},
    {"cupy_cuda11x", "CuPy"},
    {"cupy_cuda12x", "CuPy"},
    {"cupy_cuda13x", "CuPy"},
};

// Names of packages that tell for which CUDA major their cuDNN is.
constexpr const char* kCudnnPackages[] = {"nvidia_cudnn_cu", "nvidia_cudnn_jit_cu"};

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

void AddFramework(const std::string& name, const std::string& version, PythonEnvironment* found) {
  for (const auto& [distribution, title] : kFrameworks) {
    if (name != distribution) continue;
    std::string shown = name;
    std::replace(shown.begin(), shown.end(), '_', '-');
    // The folder that comes first on the path is the one that is imported.
    const bool known = std::any_of(found->frameworks.begin(), found->frameworks.end(),
                                   [&](const PythonPackage& p) { return p.distribution == shown; });
    if (!known) found->frameworks.push_back({title, shown, version});
  }
}

// "12" of "nvidia_cudnn_cu12"; empty of any other name.
std::string CudaOfPackage(const std::string& name) {
  for (const std::string prefix : kCudnnPackages) {
    std::string major = StartsWith(name, prefix) ? name.substr(prefix.size()) : "";
    if (!major.empty() && major.find_first_not_of("0123456789") == std::string::npos) return major;
  }
  return {};
}

// "12.8" of "cuda-version-12.8-h5d125a7_3.json", the package by which conda keeps all of CUDA to one version.
std::string CudaOfConda(const std::string& prefix, FolderReader* reader) {
  const std::string package = "cuda-version-";
  for (const std::string& name : reader->Names(prefix + "/conda-meta"))
    if (StartsWith(name, package))
      return name.substr(package.size(), name.find('-', package.size()) - package.size());
  return {};
}

}  // namespace

std::optional<std::pair<std::string, std::string>> PackageOf(const std::string& entry) {
  for (const std::string suffix : {".dist-info", ".egg-info"}) {
    if (entry.size() <= suffix.size() ||
        entry.compare(entry.size() - suffix.size(), suffix.size(), suffix) != 0)
      continue;
    const std::string stem = entry.substr(0, entry.size() - suffix.size());
    const size_t dash = stem.find('-');
    if (dash == std::string::npos || dash == 0) return std::nullopt;
    std::string name = stem.substr(0, dash);
    for (char& c : name) c = c == '.' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return std::make_pair(name, stem.substr(dash + 1, stem.find('-', dash + 1) - dash - 1));
  }
  return std::nullopt;
}

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
      if (const auto package = PackageOf(entry)) {
        AddFramework(package->first, package->second, &found);
        if (std::string major = CudaOfPackage(package->first); !major.empty())
          majors.insert(std::move(major));
      }
  if (majors.empty()) {
    found.cuda = CudaOfConda(python.prefix, &reader);
  } else if (majors.size() == 1) {
    found.cuda = *majors.begin();
  }
  return found;
}

}  // namespace cudnn_ci
