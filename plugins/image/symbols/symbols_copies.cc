#include "image/symbols/symbols_copies.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/path.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostCompared = std::size_t{64} << 20;

}  // namespace

bool SameContents(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto size = std::filesystem::file_size(a, error), other = std::filesystem::file_size(b, error);
  if (error || size != other) return false;
  if (size > kMostCompared) return true;
  const Result<std::string> first = ReadFile(a, kMostCompared), second = ReadFile(b, kMostCompared);
  return first && second && *first == *second;
}

// What a wheel brings as libcudart.3eda8113.so.13 is asked for by that name, whatever its soname: behind
// another file of the soname only those who ask so get it.
void LibraryCopies::Add(const LoaderScope& scope, const std::string& process) {
  std::set<std::string> there;
  for (const LoadedFile& loaded : scope.loaded()) {
    const std::string &soname = loaded.file.table->soname, &path = loaded.file.path;
    if (!rules_->GpuLibraryOf(soname)) continue;
    const bool first = there.insert(soname).second;
    if (first || LibraryStem(path.substr(path.rfind('/') + 1)) == LibraryStem(soname))
      taken_[soname].emplace(RealPath(path), process);
  }
}

std::vector<SymbolFault> LibraryCopies::Faults(const ImageFiles& image, const FaultWriter& writer) const {
  std::vector<SymbolFault> faults;
  for (const auto& [soname, files] : taken_) {
    const auto& [first, process] = *files.begin();
    const auto other = std::find_if(files.begin(), files.end(), [&, path = first](const auto& file) {
      return !SameContents(path, file.first);
    });
    if (other != files.end()) {
      faults.push_back({SymbolFaultKind::kTwoProviders,
                        soname + " is " + writer.File(first) + " in the process " + process + " and " +
                            writer.File(other->first) + " in the process " + other->second +
                            ": a program that does both gets the one that it opens first",
                        "", soname});
      continue;
    }
    if (LiesInAny(first, image.folders)) continue;
    for (const std::string& path : writer.index().Named(soname)) {
      if (!LiesInAny(path, image.folders) || SameContents(first, path)) continue;
      faults.push_back({SymbolFaultKind::kTwoProviders,
                        soname + " in the process " + process + " is " + writer.File(first) +
                            ", which hides " + writer.File(path),
                        "", soname});
      break;
    }
  }
  return faults;
}

}  // namespace cudnn_ci
