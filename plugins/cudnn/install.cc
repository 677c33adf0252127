// Finding and loading one cuDNN install.
#include "cudnn/install.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "common/elf_file.h"
#include "common/loader_path.h"

namespace cudnn_ci {
namespace {

// The sub-libraries of a full install, dependencies first.
std::vector<std::string> PartNames(int major) {
  if (major >= 9)
    return {"graph", "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled"};
  return {"ops_infer", "cnn_infer", "adv_infer", "ops_train", "cnn_train", "adv_train"};
}

std::string FileName(const std::string& part, int major) {
  return "libcudnn" + (part.empty() ? "" : "_" + part) + ".so." + std::to_string(major);
}

// Newer releases bring further sub-libraries; those beside the main library belong to it.
std::vector<std::string> FurtherParts(const std::string& directory, int major) {
  std::vector<std::string> names;
  const std::string prefix = "libcudnn_", suffix = ".so." + std::to_string(major);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.size() <= prefix.size() + suffix.size() || file.compare(0, prefix.size(), prefix) != 0 ||
        file.compare(file.size() - suffix.size(), suffix.size(), suffix) != 0) {
      continue;
    }
    const std::string part = file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
    const auto known = PartNames(major);
    if (std::find(known.begin(), known.end(), part) == known.end()) names.push_back(part);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The 4-byte object in .dynsym: major << 16 | minor << 8 | patch. The names kept "infer" in cuDNN 9.
std::string VersionObject(const ElfFile& file) {
  for (const char* symbol : {"cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_cnn_infer_version",
                             "cudnn_adv_infer_version", "cudnn_ops_train_version", "cudnn_cnn_train_version",
                             "cudnn_adv_train_version"}) {
    if (const auto value = file.ReadObject(symbol)) {
      return std::to_string(*value >> 16) + "." + std::to_string(*value >> 8 & 0xff) + "." +
             std::to_string(*value & 0xff);
    }
  }
  return {};
}

CudnnPart InspectPart(const std::string& name, const std::vector<std::string>& run_path) {
  CudnnPart part;
  part.name = name;
  const std::string found = ResolveLibrary(name, run_path);
  if (found.empty()) {
    part.error = name + ": cannot open shared object file: No such file or directory";
    return part;
  }
  part.path = RealPath(found);
  const ElfFile file(part.path);
  part.error = file.error();
  part.version = VersionObject(file);
  return part;
}

}  // namespace

std::vector<const CudnnPart*> CudnnInstall::Broken() const {
  std::vector<const CudnnPart*> broken;
  if (!main.error.empty()) broken.push_back(&main);
  for (const auto& part : parts)
    if (!part.error.empty()) broken.push_back(&part);
  return broken;
}

std::vector<std::string> CudnnInstall::Directories() const {
  std::map<std::string, std::string> files;
  if (!main.path.empty()) files[DirectoryOf(main.path)] = main.name;
  for (const auto& part : parts) {
    if (part.path.empty()) continue;
    std::string& names = files[DirectoryOf(part.path)];
    names += (names.empty() ? "" : ", ") + part.name;
  }
  std::vector<std::string> directories;
  for (const auto& [directory, names] : files) directories.push_back(directory + " (" + names + ")");
  return directories;
}

std::string CudnnInstall::Version() const {
  for (const auto& part : parts)
    if (!part.version.empty()) return part.version;
  return {};
}

CudnnInstall InspectCudnn() {
  CudnnInstall install;
  for (int major : {9, 8}) {
    const std::string name = FileName("", major);
    const std::string found = ResolveLibrary(name);
    if (found.empty()) continue;
    install.major = major;
    install.main = InspectPart(name, {});
    // $ORIGIN is the directory of the name the loader opened, before links are followed.
    const std::vector<std::string> run_path = ElfFile(found).RunPath();
    std::vector<std::string> parts = PartNames(major);
    for (auto& further : FurtherParts(DirectoryOf(found), major)) parts.push_back(std::move(further));
    for (const auto& part : parts) install.parts.push_back(InspectPart(FileName(part, major), run_path));
    return install;
  }
  LateLibrary library;
  install.main.name = FileName("", 9);
  // Only to hear the loader's own words.
  if (!library.Open(install.main.name)) install.main.error = library.error();
  return install;
}

bool LoadCudnn(CudnnInstall* install) {
  if (!install->found()) return false;
  const auto damaged = install->Broken();
  if (!damaged.empty()) return false;
  std::vector<CudnnPart*> all;
  for (auto& part : install->parts) all.push_back(&part);
  all.push_back(&install->main);
  for (CudnnPart* part : all) {
    LateLibrary library;
    if (!library.Open(part->path)) part->error = library.error();
  }
  return install->Broken().empty();
}

}  // namespace cudnn_ci
