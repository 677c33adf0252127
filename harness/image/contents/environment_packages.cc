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
#include "image/packages/package.h"
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

void AddAdapted(const Package& package, const PackageNames& names, PythonEnvironment* found) {
  for (const AdaptedPackage& adapted : names.adapted) {
    const bool known = std::any_of(found->adapted.begin(), found->adapted.end(),
                                   [&](const PythonPackage& p) { return p.distribution == package.name; });
    if (adapted.name == package.name && !known)
      found->adapted.push_back({adapted.title, package.name, package.version});
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

bool UsesGpu(const std::string& library, const CudaLibraries& cuda) {
  return !GpuUseOfFile(library, cuda).example.empty();
}

// Whether a library that the package has recorded uses a GPU. None: it has recorded no library, as packages
// of conda and of builds from source.
std::optional<bool> RecordedUse(const Package& package, const CudaLibraries& cuda) {
  std::optional<bool> uses;
  (void)ForEachFileOf(package, [&](const std::string& path) {
    if (!IsLibraryName(path.substr(path.rfind('/') + 1)) || !Exists(path)) return;
    uses = (uses && *uses) || UsesGpu(path, cuda);
  });
  return uses;
}

// Whether conda has put a library of the framework that uses a GPU beside its other libraries.
bool CondaUse(const std::string& prefix, const FrameworkFiles& framework, const CudaLibraries& cuda,
              FolderReader* reader) {
  const auto is_one = [](const std::vector<std::string>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return NameMatches(pattern.substr(pattern.rfind('/') + 1), name);
    });
  };
  const std::string folder = prefix + "/lib";
  if (!IsCondaEnvironment(prefix)) return false;
  const std::vector<std::string> names = reader->Names(folder);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return (is_one(framework.run_path_of, name) || is_one(framework.native, name)) &&
           UsesGpu(folder + "/" + name, cuda);
  });
}

// Whether what the package has brought of the framework uses a GPU: a build for the CPU does not, whatever
// lies beside it.
bool FrameworkUsesGpu(const Package& package, const FrameworkFiles& framework, const PythonPackages& python,
                      const CudaLibraries& cuda, FolderReader* reader) {
  if (const std::optional<bool> recorded = RecordedUse(package, cuda)) return *recorded;
  if (CondaUse(python.prefix, framework, cuda, reader)) return true;
  std::string underscored = package.name;
  std::replace(underscored.begin(), underscored.end(), '-', '_');
  for (const std::string& folder : python.folders)
    for (const std::string& module : {framework.module, framework.module + ".libs", underscored})
      if (HoldsGpuUse(folder + "/" + module, cuda)) return true;
  return false;
}

// Frameworks open cuDNN and NVRTC by name.
void AddAsksOfFrameworks(const std::vector<Package>& packages, const PackageNames& names,
                         const PythonPackages& python, FolderReader* reader, GpuUse* use) {
  for (const FrameworkFiles& framework : names.framework_files) {
    const bool opens_cudnn = framework.title != kWithoutCudnn;
    if (use->asks_for_nvrtc && (use->asks_for_cudnn || !opens_cudnn)) continue;
    const bool uses = std::any_of(packages.begin(), packages.end(), [&](const Package& package) {
      return std::find(framework.distributions.begin(), framework.distributions.end(), package.name) !=
                 framework.distributions.end() &&
             FrameworkUsesGpu(package, framework, python, names.cuda, reader);
    });
    use->asks_for_nvrtc = use->asks_for_nvrtc || uses;
    use->asks_for_cudnn = use->asks_for_cudnn || (uses && opens_cudnn);
  }
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
  std::vector<Package> packages;
  for (const std::string& folder : python.folders)
    for (const std::string& entry : reader.Names(folder))
      if (std::optional<Package> package = PythonPackageOf(folder, entry)) {
        AddFramework(*package, names, &found);
        AddAdapted(*package, names, &found);
        if (std::string major = CudaOfPackage(package->name, names); !major.empty())
          majors.insert(std::move(major));
        found.compiles = found.compiles ||
                         std::any_of(names.compilers.begin(), names.compilers.end(),
                                     [&](const std::string& p) { return NameMatches(p, package->name); });
        packages.push_back(std::move(*package));
      }
  std::vector<std::string> folders = python.folders;
  if (IsCondaEnvironment(python.prefix)) folders.push_back(python.prefix + "/lib");
  found.gpu = FindGpuUse(folders, names.cuda);
  if (majors.empty()) {
    found.cuda = CudaOfConda(python.prefix);
    if (found.cuda.empty()) found.cuda = found.gpu.cuda;
  } else if (majors.size() == 1) {
    found.cuda = *majors.begin();
  }
  if (!found.gpu.example.empty()) AddAsksOfFrameworks(packages, names, python, &reader, &found.gpu);
  return found;
}

}  // namespace cudnn_ci
