#include "framework/loaded.h"

#include <map>
#include <string>
#include <vector>

#include "base/path.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "framework/findings.h"
#include "framework/interpreter.h"
#include "framework/rules.h"
#include "image/contents/cudnn_files.h"

namespace cudnn_ci {
namespace {

constexpr char kCudnnFile[] = "libcudnn";

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

const FrameworkPackage* PackageOf(const Framework& framework, const Answer& answer) {
  const auto package = answer.packages.find(framework.name);
  return package == answer.packages.end() ? nullptr : &package->second;
}

std::string BuiltCudnn(const Framework& framework, const Answer& answer) {
  if (!answer.built_cudnn.empty()) return answer.built_cudnn;
  const FrameworkPackage* package = PackageOf(framework, answer);
  const auto requirement = package ? RequirementOnCudnn(*package) : std::nullopt;
  return framework.takes_package && requirement ? requirement->version : "";
}

// Of the files in memory: the folder of each, and those of its files that are there.
std::map<std::string, std::string> CudnnFolders(const Answer& answer) {
  std::map<std::string, std::string> folders;
  for (const std::string& path : answer.mapped) {
    if (BaseName(path).compare(0, sizeof kCudnnFile - 1, kCudnnFile) != 0) continue;
    const std::string file = RealPath(path);
    std::string& files = folders[DirectoryOf(file)];
    files += (files.empty() ? "" : " ") + BaseName(file);
  }
  return folders;
}

// What takes the folders of the others' files out of LD_LIBRARY_PATH, where each of them comes from there.
std::string LineFor(const Context& ctx, const std::string& own, const Answer& answer) {
  std::vector<std::string> names;
  for (const std::string& path : answer.mapped) {
    if (BaseName(path).compare(0, sizeof kCudnnFile - 1, kCudnnFile) != 0) continue;
    if (DirectoryOf(RealPath(path)) == own) continue;
    if (LibraryPathEntry(path).empty()) return "";
    names.push_back(BaseName(path));
  }
  return own.empty() ? "" : LibraryPathLine(names, own, FoldersOfTheHarness(ctx));
}

void JudgeFolders(Context& ctx, const Framework& framework, const Answer& answer) {
  const std::map<std::string, std::string> folders = CudnnFolders(answer);
  if (folders.empty()) return;
  std::string all, version;
  bool mixed = false;
  for (const auto& [folder, files] : folders) {
    const int major = answer.cudnn_version.compare(0, 1, "8") == 0 ? 8 : 9;
    const std::string found = VersionOfFiles(folder, major);
    mixed = mixed || (!version.empty() && !found.empty() && found != version);
    if (!found.empty()) version = found;
    all +=
        (all.empty() ? "" : "; ") + (found.empty() ? "cuDNN" : found) + " in " + folder + " (" + files + ")";
  }
  const std::string name = NameOf(framework, answer);
  const std::string own = OwnCudnnFolder(framework, answer);
  const auto line = [&] { return LineFor(ctx, own, answer); };
  if (!Judge(ctx, !mixed, "all libraries of cuDNN have one version", kFrameworkCudnnMixed,
             name + " uses " + all, line))
    return;
  if (folders.size() > 1 || (!own.empty() && folders.count(own) == 0))
    ctx.Finding(kFrameworkCudnnForeign, name + " uses " + all +
                                            (own.empty() ? "" : "; its own cuDNN is in " + own) + "; " +
                                            LibraryPathWords(ctx.SubjectFolders()));
}

}  // namespace

std::string NameOf(const Framework& framework, const Answer& answer) {
  const FrameworkPackage* package = PackageOf(framework, answer);
  const std::string version = answer.imported && !answer.imported->empty() ? *answer.imported
                              : package                                    ? package->version
                                                                           : "";
  return framework.title + (version.empty() ? "" : " " + version);
}

std::string OwnCudnnFolder(const Framework& framework, const Answer& answer) {
  const FrameworkPackage* package = PackageOf(framework, answer);
  const auto requirement = package ? RequirementOnCudnn(*package) : std::nullopt;
  if (!framework.takes_package || !requirement) return "";
  const std::string name = "nvidia-cudnn-cu" + std::to_string(requirement->cuda_major);
  for (const CudnnPackageInfo& cudnn : answer.cudnn_packages)
    if (cudnn.name == name) return cudnn.folder;
  return "";
}

std::string FileAndEntry(const std::string& file) {
  const std::string entry = LibraryPathEntry(file);
  return file + (entry.empty() ? "" : " (" + entry + ")");
}

void JudgeLoadedCudnn(Context& ctx, const Framework& framework, const Answer& answer) {
  const std::string built = BuiltCudnn(framework, answer), name = NameOf(framework, answer);
  const std::string loaded = answer.cudnn_version.empty() ? answer.loaded_cudnn : answer.cudnn_version;
  const std::string unfit = WhyCudnnUnfit(framework, built, loaded);
  Judge(ctx, unfit.empty(), "the loaded cuDNN is one that it can use", kFrameworkCudnnUnfit, [&] {
    std::string detail = name + " was built with cuDNN " + built + ", but loads " + loaded + ": " + unfit;
    for (const auto& [folder, files] : CudnnFolders(answer))
      detail += "; " + FileAndEntry(folder + "/" + files.substr(0, files.find(' ')));
    return detail;
  });
  const int built_for = CudaMajor(answer.built_cuda);
  Judge(ctx, built_for == 0 || answer.cudnn_cuda == 0 || built_for == answer.cudnn_cuda,
        "the loaded cuDNN is for the same CUDA major", kFrameworkCudaMismatch, [&] {
          return name + " is built for CUDA " + answer.built_cuda + ", but the cuDNN that it loads, " +
                 FileAndEntry(answer.cudnn_file) + ", is for CUDA " + std::to_string(answer.cudnn_cuda);
        });
  JudgeFolders(ctx, framework, answer);
}

}  // namespace cudnn_ci
