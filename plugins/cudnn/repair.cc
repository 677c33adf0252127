#include "cudnn/repair.h"

#include <algorithm>
#include <filesystem>

#include "base/path.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"
#include "image/packages/cudnn_packages.h"
#include "image/packages/dpkg_records.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr char kApt[] = "/usr/bin/apt-get";

// cuDNN's development packages depend on the very version of its libraries.
bool HasDevelopmentPackage(const std::string& root) {
  const std::vector<DpkgPackage> packages = DpkgPackagesIn(root, "libcudnn");
  return std::any_of(packages.begin(), packages.end(), [](const DpkgPackage& installed) {
    return installed.package.name.find("-dev") != std::string::npos;
  });
}

// Whether dpkg says that this file is the package's, and no other one's.
bool HasFile(const InstalledPackage& package, const std::string& file, const std::string& root) {
  const std::vector<Package> packages = CudnnDpkgPackagesOf({file}, root);
  return packages.size() == 1 && packages[0].name == package.name;
}

// Whether the install's own file of this name is taken, once it is there, before the one that is found now.
bool OwnComesFirst(const CudnnInstall& install, const CudnnPart& part) {
  const std::string own = DirectoryOf(install.main.path);
  const std::vector<std::string> candidates =
      LoaderCandidates(part.name, {}, Environment("LD_LIBRARY_PATH"), ElfFile(install.main.found).RunPath());
  for (const std::string& candidate : candidates) {
    if (RealPath(DirectoryOf(candidate)) == own) return true;
    if (candidate == part.found) return false;
  }
  return false;
}

}  // namespace

InstalledPackage OwnerOf(const CudnnInstall& install, const std::string& root) {
  const std::string directory = DirectoryOf(install.main.path);
  const std::vector<Package> wheels = CudnnWheelsOf(root + directory);
  if (wheels.size() == 1) return WheelIn(directory, wheels[0].name, wheels[0].version, root);
  std::error_code ignored;
  if (!wheels.empty() || !fs::exists(root + kApt, ignored)) return {};
  // A package's link may have come to lead to what an archive left.
  const std::vector<Package> packages = CudnnDpkgPackagesOf({install.main.path}, root);
  if (packages.size() != 1) return {};
  return {Manager::kApt, packages[0].name, packages[0].version, "", HasDevelopmentPackage(root)};
}

std::string LineForParts(const CudnnInstall& install, const std::vector<const CudnnPart*>& wrong,
                         const std::string& root) {
  const std::string own = DirectoryOf(install.main.path);
  const InstalledPackage owner = wrong.empty() ? InstalledPackage() : OwnerOf(install, root);
  for (const CudnnPart* part : wrong) {
    if (part->foreign || (!part->path.empty() && DirectoryOf(part->path) != own)) return {};
    if (!part->path.empty() && owner.manager == Manager::kApt && !HasFile(owner, part->path, root)) return {};
  }
  return ReinstallLine(owner);
}

PartRecord RecordOfPart(const CudnnInstall& install, const std::string& name, const std::string& root) {
  const std::string directory = DirectoryOf(install.main.path), file = directory + "/" + name;
  const std::vector<Package> wheels = CudnnWheelsOf(root + directory);
  if (wheels.size() > 1) return PartRecord::kUnknown;
  if (wheels.size() == 1) {
    bool main = false, part = false;
    const std::string folder = RealPath(root + directory);
    const auto read = ForEachFileOf(wheels[0], [&](const std::string& path) {
      const std::string of = path.substr(path.rfind('/') + 1);
      if ((of != name && of != install.main.name) || RealPath(DirectoryOf(path)) != folder) return;
      (of == name ? part : main) = true;
    });
    if (!read || !main) return PartRecord::kUnknown;
    return part ? PartRecord::kListed : PartRecord::kNotListed;
  }
  if (CudnnDpkgPackagesOf({install.main.path}, root).size() != 1) return PartRecord::kUnknown;
  return CudnnDpkgPackagesOf({file}, root).empty() ? PartRecord::kNotListed : PartRecord::kListed;
}

std::string OnRecord(const CudnnInstall& install, const std::string& root) {
  const std::string directory = DirectoryOf(install.main.path);
  std::vector<Package> packages = CudnnWheelsOf(root + directory);
  if (packages.empty()) packages = CudnnDpkgPackagesOf({install.main.path}, root);
  std::string text;
  for (const Package& package : packages) text += (text.empty() ? "; on record: " : " and ") + package.Text();
  return text;
}

CublasPackage CublasPackageFor(const CudnnInstall& install, int cuda_major, const std::string& root) {
  const InstalledPackage cudnn = OwnerOf(install, root);
  const std::string major = std::to_string(cuda_major);
  InstalledPackage cublas = {cudnn.manager, "", "", cudnn.python};
  std::vector<Package> packages;
  if (cudnn.manager == Manager::kPip) {
    cublas.name = cuda_major < 13 ? "nvidia-cublas-cu" + major : "nvidia-cublas";
    // SITE-PACKAGES/nvidia/cudnn/lib
    packages = PythonPackagesIn(root + DirectoryOf(DirectoryOf(DirectoryOf(DirectoryOf(install.main.path)))));
    std::erase_if(packages, [&](const Package& package) { return package.name != cublas.name; });
  } else if (cudnn.manager == Manager::kApt) {
    for (DpkgPackage& found : DpkgPackagesIn(root, "libcublas-" + major + "-"))
      packages.push_back(std::move(found.package));
  } else {
    return {};
  }
  if (packages.size() > 1) return {};
  if (packages.empty()) {
    if (cublas.name.empty()) return {};
    return {"; the package " + cublas.name + " contains it, but is not on record", InstallLine(cublas)};
  }
  cublas.name = packages[0].name, cublas.version = packages[0].version;
  return {"; " + packages[0].Text() + " is on record, but its file is missing, damaged or not found",
          ReinstallLine(cublas)};
}

std::string LineForDirectories(const Context& ctx, const CudnnInstall& install) {
  const std::string own = DirectoryOf(install.main.path);
  std::vector<std::string> hidden;
  bool lacks = false;
  for (const CudnnPart& part : install.parts) {
    if (part.path.empty() || DirectoryOf(part.path) == own) continue;
    std::error_code ignored;
    // One that the loader has passed over is of no use.
    const bool has = part.passed_over.empty() && fs::exists(own + "/" + part.name, ignored);
    if (has || part.foreign) {
      hidden.push_back(part.name);
    } else if (!OwnComesFirst(install, part)) {
      return {};
    } else {
      lacks = true;
    }
  }
  if (lacks) return hidden.empty() ? ReinstallLine(OwnerOf(install)) : "";
  return LibraryPathLine(hidden, own, ctx.SubjectFolders());
}

}  // namespace cudnn_ci
