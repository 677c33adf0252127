// ld.so's search order and its cache file.
#include "common/loader_path.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "common/elf_file.h"

namespace cudnn_ci {
namespace {

// glibc's cache, new format (sysdeps/generic/dl-cache.h): a header of 48 bytes, then entries of 24.
// Older systems put a table in the old format first, so the magic is searched for.
constexpr char kCacheMagic[] = "glibc-ld.so.cache1.1";
constexpr size_t kCacheHeader = 48, kCacheEntry = 24;

uint32_t Word(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

using Wanted = std::function<bool(const std::string& name)>;

// The paths of the cache's entries whose name is wanted.
std::vector<std::string> CachePaths(const Wanted& wanted) {
  std::ifstream in("/etc/ld.so.cache", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
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

std::vector<std::string> SplitPath(const std::string& list) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= list.size() && !list.empty()) {
    const size_t end = std::min(list.find_first_of(":;", begin), list.size());
    // An empty entry means the current directory (ld.so(8)).
    parts.push_back(end == begin ? "." : list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> DefaultDirectories() {
#if defined(__aarch64__)
  return {"/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
#else
  return {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
#endif
}

}  // namespace

std::string ResolveLibrary(const std::string& name, const std::vector<std::string>& run_path,
                           std::vector<std::string>* passed_over) {
  std::vector<std::string> candidates;
  for (const auto& d : SplitPath(Environment("LD_LIBRARY_PATH"))) candidates.push_back(d + "/" + name);
  for (const auto& d : run_path) candidates.push_back(d + "/" + name);
  for (auto& path : CachePaths([&](const std::string& entry) { return entry == name; }))
    candidates.push_back(std::move(path));
  for (const auto& d : DefaultDirectories()) candidates.push_back(d + "/" + name);
  for (const auto& path : candidates) {
    const ElfFile file(path);
    if (file.kind() == ElfFile::Kind::kNative || file.kind() == ElfFile::Kind::kNotElf) return path;
    std::error_code ignored;
    if (passed_over && std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
      passed_over->push_back(file.error());
  }
  return {};
}

std::vector<std::string> LibrariesOf(const std::string& stem) {
  const Wanted wanted = [&](const std::string& name) {
    return name == stem || name.compare(0, stem.size() + 1, stem + ".") == 0;
  };
  std::vector<std::string> found = CachePaths(wanted),
                           directories = SplitPath(Environment("LD_LIBRARY_PATH"));
  for (auto& directory : DefaultDirectories()) directories.push_back(std::move(directory));
  for (const std::string& directory : directories) {
    std::error_code ignored;
    for (std::filesystem::directory_iterator it(directory, ignored), end; !ignored && it != end;
         it.increment(ignored))
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

bool LoadChecked(const std::string& name, LateLibrary* library, std::string* error,
                 const std::vector<std::string>& run_path) {
  const std::string path = ResolveLibrary(name, run_path);
  if (!path.empty()) {
    const ElfFile file(path);
    if (file.truncated()) {
      *error = file.error();
      return false;
    }
  }
  // By path only where the caller's own run path decides: dlopen uses ours, which is empty.
  bool by_run_path = false;
  for (const auto& d : run_path) by_run_path = by_run_path || path == d + "/" + name;
  if (library->Open(by_run_path ? path : name)) return true;
  *error = library->error();
  return false;
}

bool IsNotFound(const std::string& name, const std::string& error) {
  return error.compare(0, name.size() + 1, name + ":") == 0 &&
         error.find("cannot open shared object file: No such file or directory") != std::string::npos;
}

std::string RealPath(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (!resolved) return path;
  std::string result = resolved;
  free(resolved);
  return result;
}

bool LiesIn(const std::string& path, const std::string& folder) {
  const auto below = [&folder](const std::string& p) {
    return p.compare(0, folder.size() + 1, folder + "/") == 0;
  };
  // The file itself may be a link to where a package manager keeps it.
  return below(RealPath(path)) || below(RealPath(DirectoryOf(path)) + "/");
}

std::string SubjectFolder(const std::string& subject_spec) {
  return subject_spec.compare(0, 5, "path:") == 0 ? RealPath(subject_spec.substr(5)) : std::string();
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string Environment(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

std::vector<std::string> MappedLibraries(const std::string& prefix) {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/'), name = line.rfind('/') + 1;
    if (path != std::string::npos && line.compare(name, prefix.size(), prefix) == 0)
      files.insert(line.substr(path));
  }
  return {files.begin(), files.end()};
}

std::string LibraryPathEntry(const std::string& path) {
  const std::string directory = DirectoryOf(path);
  for (const auto& entry : SplitPath(Environment("LD_LIBRARY_PATH")))
    if (RealPath(entry) == RealPath(directory)) return "LD_LIBRARY_PATH entry " + entry;
  return {};
}

}  // namespace cudnn_ci
