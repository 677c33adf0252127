#include "image/contents/blocking_library.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <set>
#include <system_error>

#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 100000;

constexpr unsigned kMemoryDevices = 1;  // the major number of null, zero, random: they answer at once

// "a FIFO", "a device"; empty for what the loader reads, or refuses at once.
std::string WhatBlocks(const fs::directory_entry& entry) {
  std::error_code ignored;
  // A folder says of most entries what they are: only links are looked at.
  if (entry.is_regular_file(ignored)) return {};
  if (entry.is_fifo(ignored)) return "a FIFO";
  struct stat seen {};
  if (entry.is_character_file(ignored) && stat(entry.path().c_str(), &seen) == 0 &&
      major(seen.st_rdev) != kMemoryDevices)
    return "a device";
  return {};
}

// The names of a folder that stand for libraries are added to *seen.
std::optional<BlockingLibrary> FirstIn(const std::string& folder, const std::string& by,
                                       std::set<std::string>* seen) {
  std::error_code error;
  std::set<std::string> here;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find(".so") == std::string::npos || seen->count(name) > 0) continue;
    const std::string what = WhatBlocks(*entry);
    if (!what.empty()) return BlockingLibrary{entry->path().string(), what, by};
    if (here.size() < kMostEntries) here.insert(name);
  }
  seen->merge(here);
  return std::nullopt;
}

}  // namespace

std::optional<BlockingLibrary> FindBlockingLibrary(const std::vector<std::string>& library_paths) {
  std::set<std::string> looked_at;
  for (const std::string& path : library_paths) {
    if (!looked_at.insert(path).second) continue;
    std::set<std::string> seen;
    for (const std::string& folder : SplitLibraryPath(path))
      if (std::optional<BlockingLibrary> found = FirstIn(folder, "LD_LIBRARY_PATH", &seen)) return found;
    for (const std::string& folder : DefaultLibraryDirectories())
      if (std::optional<BlockingLibrary> found = FirstIn(folder, "the default directories", &seen))
        return found;
  }
  return std::nullopt;
}

}  // namespace cudnn_ci
