#include "image/loader/loader_files.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/path.h"
#include "image/elf/elf_file.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// glibc's cache, new format (sysdeps/generic/dl-cache.h): a header of 48 bytes, then entries of 24.
// Older systems put a table in the old format first, so the magic is searched for.
constexpr char kCacheMagic[] = "glibc-ld.so.cache1.1";
constexpr size_t kCacheHeader = 48, kCacheEntry = 24;
constexpr size_t kMostCacheBytes = 16 << 20;  // a hundred times that of a large image

uint32_t Word(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> LoaderCachePaths(const WantedName& wanted) {
  const Result<std::string> read = ReadFile("/etc/ld.so.cache", kMostCacheBytes);
  const std::string all = read.ok() ? *read : "";
  const size_t start = all.find(kCacheMagic);
  std::vector<std::string> paths;
  if (start == std::string::npos) return paths;
  const std::string cache = all.substr(start);
  const uint32_t count = Word(cache, sizeof kCacheMagic - 1);
  for (uint32_t i = 0; i < count && kCacheHeader + (i + 1) * kCacheEntry <= cache.size(); ++i) {
    const size_t entry = kCacheHeader + i * kCacheEntry;
    const uint32_t key = Word(cache, entry + 4), value = Word(cache, entry + 8);
    if (key < cache.size() && value < cache.size() && wanted(cache.c_str() + key))
      paths.emplace_back(cache.c_str() + value);
  }
  return paths;
}

std::vector<std::string> SplitLibraryPath(const std::string& list) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= list.size() && !list.empty()) {
    const size_t end = std::min(list.find_first_of(":;", begin), list.size());
    parts.push_back(end == begin ? "." : list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> DefaultLibraryDirectories() {
#if defined(__aarch64__)
  return {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
#else
  return {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
#endif
}

std::vector<std::string> LoaderCandidates(const std::string& name, const std::vector<std::string>& rpath,
                                          const std::string& library_path,
                                          const std::vector<std::string>& run_path) {
  std::vector<std::string> candidates;
  const auto add = [&](const std::vector<std::string>& directories) {
    for (const std::string& d : directories) candidates.push_back(d + "/" + name);
  };
  add(rpath);
  add(SplitLibraryPath(library_path));
  add(run_path);
  for (std::string& path : LoaderCachePaths([&](const std::string& entry) { return entry == name; }))
    candidates.push_back(std::move(path));
  add(DefaultLibraryDirectories());
  return candidates;
}

std::string FirstTaken(const std::vector<std::string>& candidates, std::vector<std::string>* passed_over) {
  for (const std::string& path : candidates) {
    const ElfFile file(path);
    if (file.kind() == ElfFile::Kind::kNative || file.kind() == ElfFile::Kind::kNotElf) return path;
    std::error_code ignored;
    if (passed_over && fs::exists(fs::symlink_status(path, ignored))) passed_over->push_back(file.error());
  }
  return {};
}

std::vector<std::string> LibrariesOf(const std::string& stem, const std::string& library_path) {
  const WantedName wanted = [&](const std::string& name) {
    return name == stem || name.compare(0, stem.size() + 1, stem + ".") == 0;
  };
  std::vector<std::string> found = LoaderCachePaths(wanted), directories = SplitLibraryPath(library_path);
  for (auto& directory : DefaultLibraryDirectories()) directories.push_back(std::move(directory));
  for (const std::string& directory : directories) {
    std::error_code ignored;
    for (fs::directory_iterator it(directory, ignored), end; !ignored && it != end; it.increment(ignored))
      if (wanted(it->path().filename().string())) found.push_back(it->path().string());
  }
  std::set<std::string> files;
  for (const std::string& path : found) {
    const ElfFile file(path);
    if (file.kind() == ElfFile::Kind::kNative || file.kind() == ElfFile::Kind::kNotElf)
      files.insert(RealPath(path));
  }
  return {files.begin(), files.end()};
}

}  // namespace cudnn_ci
