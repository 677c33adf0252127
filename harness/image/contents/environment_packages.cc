#include "image/contents/environment_packages.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/package_names.h"
#include "base/path.h"
#include "base/text.h"
#include "image/contents/folder_list.h"
#include "image/contents/gpu_use.h"
#include "image/contents/python_packages.h"
#include "image/contents/resolve.h"
#include "image/packages/conda_environment.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

// It has a module for cuDNN, which is not imported with it.
constexpr char kWithoutCudnn[] = "CuPy";

void AddFramework(const Package& package, const PackageNames& names, PythonEnvironment* found) {
  for (const FrameworkName& framework : names.frameworks) {
    if (!NameMatches(framework.name, package.name)) continue;
    // The folder that comes first on the path is the one that is imported.
    const bool known = std::any_of(found->frameworks.begin(), found->frameworks.end(),
                                   [&](const PythonPackage& p) { return p.distribution == package.name; });
    if (!known) found->frameworks.push_back({framework.title, package.name, package.version});
    return;
  }
}

// "12" of "nvidia-cudnn-cu12"; empty of any other name.
std::string CudaOfPackage(const std::string& name, const PackageNames& names) {
  for (const std::string& pattern : names.cudnn) {
    const std::string prefix = pattern.substr(0, pattern.find('#'));
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

PythonEnvironment DescribeEnvironment(const std::string& interpreter, const Variables& environment,
                                      const PackageNames& names) {
  FolderReader reader;
  const PythonPackages python = FindPythonPackages(interpreter, environment, &reader);
  PythonEnvironment found;
  found.interpreter = interpreter;
  found.prefix = python.prefix;
  const SubjectInfo subject = ResolveSubject({"", "python:" + interpreter}, environment, names).subject;
  for (const auto& folders : {subject.folders, subject.late_folders})
    for (const std::string& folder : folders)
      if (found.cudnn.empty() && HoldsCudnn(folder)) found.cudnn = RealPath(folder);
  std::set<std::string> majors;
  for (const std::string& folder : python.folders)
    for (const std::string& entry : reader.Names(folder))
      if (const std::optional<Package> package = PythonPackageOf(folder, entry)) {
        AddFramework(*package, names, &found);
        if (std::string major = CudaOfPackage(package->name, names); !major.empty())
          majors.insert(std::move(major));
      }
  std::vector<std::string> folders = python.folders;
  if (IsCondaEnvironment(python.prefix)) folders.push_back(python.prefix + "/lib");
  found.gpu = FindGpuUse(folders);
  if (majors.empty()) {
    found.cuda = CudaOfConda(python.prefix);
    if (found.cuda.empty()) found.cuda = found.gpu.cuda;
  } else if (majors.size() == 1) {
    found.cuda = *majors.begin();
  }
  if (!found.gpu.example.empty() && !found.frameworks.empty()) found.gpu.asks_for_nvrtc = true;
  const auto opens_cudnn = [](const PythonPackage& p) { return p.title != kWithoutCudnn; };
  if (!found.gpu.example.empty() &&
      std::any_of(found.frameworks.begin(), found.frameworks.end(), opens_cudnn))
    found.gpu.asks_for_cudnn = true;
  return found;
}

}  // namespace cudnn_ci
