#include "image/contents/recorded_libraries.h"

#include <algorithm>

#include "image/elf/elf_file.h"
#include "image/packages/installed_packages.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {

bool HasLibrary(const Package& package, const std::function<bool(const std::string& name)>& wanted) {
  bool has = false;
  const Result<std::size_t> read = ForEachRecordOf(package, [&](const RecordedFile& file) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    if (has || name.find(".so") == std::string::npos || !HoldsCode(name)) return;
    has = wanted(name);
    if (has) return;
    const std::vector<std::string> needed = ElfFile(file.path).Needed();
    has = std::any_of(needed.begin(), needed.end(), wanted);
  });
  return read.ok() && has;
}

std::string FindLibrary(
    const Package& package,
    const std::function<bool(const std::string& name, const std::vector<std::string>& needed)>& wanted) {
  std::string found;
  const Result<std::size_t> read = ForEachRecordOf(package, [&](const RecordedFile& file) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    if (found.empty() && name.find(".so") != std::string::npos && HoldsCode(name) &&
        wanted(name, ElfFile(file.path).Needed()))
      found = file.path;
  });
  return read.ok() ? found : "";
}

}  // namespace cudnn_ci
