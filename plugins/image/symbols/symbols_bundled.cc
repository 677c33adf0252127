#include "image/symbols/symbols_bundled.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/path.h"
#include "image/contents/cudnn_files.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kMainLibrary = "libcudnn.so.";

}  // namespace

std::string BundledName(const std::string& name) {
  constexpr std::size_t kDigits = 8;  // of the hash
  const std::size_t so = name.find(".so"), dash = name.rfind('-', so);
  if (so == std::string::npos || dash == std::string::npos || so - dash != kDigits + 1) return "";
  const bool hash = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dash) + 1,
                                name.begin() + static_cast<std::ptrdiff_t>(so),
                                [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return hash ? name.substr(0, dash) + name.substr(so) : "";
}

void BundledLibraries::Add(const LoaderScope& scope, const std::string& process) {
  for (std::size_t i = 0; i < scope.loaded().size(); ++i) {
    const std::string& path = scope.loaded()[i].file.path;
    const std::string name = BundledName(path.substr(path.rfind('/') + 1));
    if (!name.starts_with(kMainLibrary) || !known_.insert(path).second) continue;
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
                 std::to_string(parts.size() - 1) + " more by name, and none is found";
  if (!hidden.empty()) {
    const std::string folder = DirectoryOf(hidden.front());
    fault.detail += ": the loader does not look in " + folder;
    fault.line = LineForFolders({folder});
  } else {
    const SymbolRemedy remedy =
        writer_->remedies().ForMissing({.library = main, .asker = path, .other_major = !others.empty()});
    if (!others.empty())
      fault.detail += ": the image has cuDNN of another major, " + writer_->File(others.front());
    if (!remedy.words.empty()) fault.detail += "; " + remedy.words;
    fault.line = remedy.line;
    if (others.empty() && index.Matching("libcudart.so.*").empty() &&
        index.Matching("libcublas.so.*").empty())
      fault.kind = SymbolFaultKind::kUnused;
  }
  faults_.push_back(std::move(fault));
}

}  // namespace cudnn_ci
