#include "cudnn/owner.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/path.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "cudnn/findings.h"
#include "image/contents/cudnn_files.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

// PyTorch's __init__.py has 100 KiB.
constexpr size_t kMostOfModule = 1 << 20;

// The file of this name in the first of the folders that has one, whatever kind of file it is.
std::string FileIn(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders) {
    std::error_code ignored;
    std::string path = folder + "/" + name;
    if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return path;
  }
  return {};
}

// True if a version is of an earlier minor release, or another major, than what was installed.
bool IsOlder(const std::string& version, const std::string& installed) {
  const auto number = [](const std::string& text, size_t at) { return std::atoi(text.c_str() + at); };
  const size_t dot = version.find('.') + 1, other = installed.find('.') + 1;
  if (version.empty() || installed.empty() || dot == 0 || other == 0) return false;
  return number(version, 0) != number(installed, 0) || number(version, dot) < number(installed, other);
}

bool IsKind(const Context& ctx, const std::string& kind) {
  return ctx.SubjectSpec().compare(0, kind.size(), kind) == 0;
}

// The directories of LD_LIBRARY_PATH as the user set it: those of the subject are the harness's.
std::vector<std::string> UsersDirectories(const std::vector<std::string>& folders) {
  std::vector<std::string> directories;
  for (const std::string& entry : SplitLibraryPath(Environment("LD_LIBRARY_PATH"))) {
    bool own = false;
    for (const std::string& folder : folders) own = own || RealPath(folder) == RealPath(entry);
    if (!own) directories.push_back(entry);
  }
  return directories;
}

// The beginning of a file; empty where there is none.
std::string ReadModule(const std::string& path) {
  std::string text(kMostOfModule, '\0');
  std::ifstream module(path, std::ios::binary);
  module.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(module.gcount()));
  return text;
}

// PyTorch and JAX find cuDNN's main library by DT_RPATH or load it by its path, and nothing else of cuDNN
// (PyTorch 2.12 and 2.15, JAX's plugin 0.12). A release that names the parts in its module would load all of
// them. https://github.com/pytorch/pytorch/pull/189043
bool LoadsPartsByName(const Context& ctx, const std::vector<std::string>& folders) {
  if (IsKind(ctx, "program:")) return true;
  for (const std::string& folder : folders) {
    // Of SITE-PACKAGES/torch/lib and SITE-PACKAGES/nvidia/cudnn/lib.
    const std::string above = DirectoryOf(DirectoryOf(folder));
    for (const std::string& site : {above, DirectoryOf(above)}) {
      for (const char* module : {"/torch/__init__.py", "/jax_plugins/xla_cuda12/__init__.py",
                                 "/jax_plugins/xla_cuda13/__init__.py"}) {
        const std::string text = ReadModule(site + module);
        if (!text.empty() && text.find("libcudnn_") == std::string::npos) return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string OwnFolders(const Context& ctx) {
  const std::string spec = ctx.SubjectSpec();
  if (spec == "loader" || spec.compare(0, 5, "path:") == 0) return {};
  const std::vector<std::string> folders = ctx.SubjectFolders();
  return "; " + spec +
         (folders.empty() ? " has no folder of libraries" : " looks into " + JoinLines(folders));
}

std::string PassedOver(const CudnnInstall& install) {
  std::vector<std::string> all = install.main.passed_over;
  for (const auto& part : install.parts)
    all.insert(all.end(), part.passed_over.begin(), part.passed_over.end());
  return all.empty() ? "" : "; passed over by the loader: " + JoinLines(all);
}

void JudgeOwner(Context& ctx, const CudnnInstall& install) {
  const std::vector<std::string> folders = ctx.SubjectFolders();
  const std::string own = FileIn(folders, install.main.name), taken = install.main.found;
  if (folders.empty() || LiesInAny(taken, folders)) return;
  if (own.empty() && ctx.SubjectSpec().compare(0, 5, "path:") != 0) {
    ctx.Log(ctx.SubjectSpec() + " has no cuDNN; the loader's is tested");
    return;
  }
  const ElfFile::Kind kind = own.empty() ? ElfFile::Kind::kUnreadable : ElfFile(own).kind();
  const bool usable = kind == ElfFile::Kind::kNative || kind == ElfFile::Kind::kNotElf;
  const std::string entry = LibraryPathEntry(taken);
  if (!usable || entry.empty()) {
    ctx.Finding(kCudnnMissing,
                "not in " + JoinLines(folders) +
                    (folders.size() == 1 ? ", the subject's folder" : ", the subject's folders") +
                    ": the loader takes " + install.main.path + PassedOver(install));
    return;
  }
  const std::string version = install.Version(), hidden = VersionOfFiles(DirectoryOf(own), install.major);
  const bool older = ctx.SubjectSpec().compare(0, 7, "python:") == 0 && IsOlder(version, hidden);
  ctx.Finding(older ? kCudnnOverriddenByOlder : kCudnnOverridden,
              "cuDNN " + version + " (" + install.main.path + "), found through " + entry + ", hides " +
                  (hidden.empty() ? "the cuDNN" : hidden) + " in " + DirectoryOf(own),
              // Where it is a warning, another program of the image may mean the one that is found.
              {older ? LibraryPathLine({install.main.name}, DirectoryOf(own), folders) : ""});
}

void JudgePartsInLibraryPath(Context& ctx, const CudnnInstall& install) {
  const std::vector<std::string> folders = ctx.SubjectFolders();
  if (IsKind(ctx, "path:") || !LiesInAny(install.main.found, folders) ||
      ElfFile(install.main.path).RunPathIsFirst()) {
    return;
  }
  const std::vector<std::string> directories = UsersDirectories(folders);
  std::string others;
  std::vector<std::string> names;
  for (const CudnnPart& part : install.parts) {
    std::vector<std::string> candidates;
    for (const std::string& directory : directories) candidates.push_back(directory + "/" + part.name);
    const std::string theirs = FirstTaken(candidates);
    // One that is taken here too was judged with the others.
    if (theirs.empty() || RealPath(theirs) == part.path) continue;
    const ElfFile file(theirs);
    std::string version = CudnnVersionOf(ElfFile(theirs));
    if (version.empty()) version = VersionOfFiles(DirectoryOf(theirs), install.major);
    if (file.loadable() && (version.empty() || version == install.Version())) continue;
    names.push_back(part.name);
    others += (others.empty() ? "" : "; ") + (file.loadable() ? theirs + " of " + version : file.error());
  }
  if (others.empty()) return;
  const bool mixes = LoadsPartsByName(ctx, folders);
  ctx.Finding(mixes ? kCudnnMixedVersions : kCudnnPartsOverridden,
              "cuDNN " + install.Version() + " (" + install.main.path +
                  ") opens its parts by name, and LD_LIBRARY_PATH comes before its own directory: " + others,
              {mixes ? LibraryPathLine(names, DirectoryOf(install.main.path), folders) : ""});
}

}  // namespace cudnn_ci
