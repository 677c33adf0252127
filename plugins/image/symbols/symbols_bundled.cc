#include "image/symbols/symbols_bundled.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/path.h"
#include "image/contents/cudnn_files.h"
#include "image/elf/library_text.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kMainLibrary = "libcudnn.so.", kCompiler = "libnvrtc.so.",
                           kBuiltins = "libnvrtc-builtins";

// True of an environment that has no library for GPUs of its own.
bool IsForTheCpu(const LibraryIndex& index) {
  return index.Matching("libcudart.so.*").empty() && index.Matching("libcublas.so.*").empty();
}

}  // namespace

void BundledLibraries::Add(const LoaderScope& scope, const std::string& process) {
  for (std::size_t i = 0; i < scope.loaded().size(); ++i) {
    const std::string& path = scope.loaded()[i].file.path;
    const std::string name = BundledName(path.substr(path.rfind('/') + 1));
    const bool is_compiler = name.starts_with(kCompiler);
    if ((!is_compiler && !name.starts_with(kMainLibrary)) || !known_.insert(path).second) continue;
    if (is_compiler)
      JudgeCompiler(scope, static_cast<int>(i), name.substr(kCompiler.size()), process);
    else
      Judge(scope, static_cast<int>(i), std::atoi(name.c_str() + kMainLibrary.size()), process);
  }
}

void BundledLibraries::Judge(const LoaderScope& scope, int file, int major, const std::string& process) {
  std::vector<std::string> parts;
  for (const std::string& part : CudnnPartNames(major))
    parts.push_back("libcudnn_" + part + ".so." + std::to_string(major));
  if (parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return scope.Named(part) >= 0 || scope.Found(part, file).table != nullptr;
      }))
    return;
  const LibraryIndex& index = writer_->index();
  const std::string main = std::string(kMainLibrary) + std::to_string(major);
  const std::vector<std::string> hidden = index.Named(parts.front()), others = index.OtherMajors(main);
  const std::string& path = scope.loaded()[file].file.path;
  SymbolFault fault = {SymbolFaultKind::kOpenedLater, "", path, parts.front()};
  fault.detail = writer_->File(path) + " (process: " + process + ") opens " + parts.front() + " and " +
                 std::to_string(parts.size() - 1) + " more by name, but none is found";
  if (!hidden.empty()) {
    const std::string folder = DirectoryOf(hidden.front());
    fault.detail += ": the loader does not look in " + folder;
    fault.line = LineForFolders({folder});
  } else {
    if (!others.empty())
      fault.detail += ": the image has another major version of cuDNN, " + writer_->File(others.front());
    fault.Add(writer_->remedies().ForMissing({.library = main,
                                              .asker = path,
                                              .other_major = !others.empty(),
                                              .looks_in = writer_->FoldersOf(scope, file)}));
    if (others.empty() && IsForTheCpu(index)) fault.kind = SymbolFaultKind::kUnused;
  }
  faults_.push_back(std::move(fault));
}

void BundledLibraries::JudgeCompiler(const LoaderScope& scope, int file, const std::string& version,
                                     const std::string& process) {
  const std::size_t dot = version.find('.');
  if (dot == std::string::npos) return;  // its minor is not known
  const std::string name = std::string(kBuiltins) + ".so." + version.substr(0, version.find('.', dot + 1));
  const std::string& path = scope.loaded()[file].file.path;
  // A wheel that carries both may have changed the name within the first.
  const LibraryIndex& index = writer_->index();
  const std::vector<std::string> beside = index.Matching(std::string(kBuiltins) + "*");
  if (scope.Named(name) >= 0 || scope.Found(name, file).table != nullptr ||
      std::any_of(beside.begin(), beside.end(), [&](const std::string& other) {
        return DirectoryOf(RealPath(other)) == DirectoryOf(RealPath(path));
      }))
    return;
  SymbolFault fault = {SymbolFaultKind::kOpenedLater,
                       writer_->File(path) + " (process: " + process + ") opens " + name +
                           " by name when it compiles, but it is not found",
                       path, name};
  if (const std::vector<std::string> hidden = index.Named(name); !hidden.empty()) {
    fault.detail += ": the loader does not look in " + DirectoryOf(hidden.front());
    fault.line = LineForFolders({DirectoryOf(hidden.front())});
  } else {
    fault.Add(writer_->remedies().ForMissing(
        {.library = name, .asker = path, .looks_in = writer_->FoldersOf(scope, file)}));
  }
  if (index.Named(name).empty() && IsForTheCpu(index)) fault.kind = SymbolFaultKind::kUnused;
  faults_.push_back(std::move(fault));
}

}  // namespace cudnn_ci
