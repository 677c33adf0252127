// ld.so's search order.
#include "common/loader_path.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/path.h"
#include "common/loaded_libraries.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {

std::string ResolveLibrary(const std::string& name, const std::vector<std::string>& run_path,
                           std::vector<std::string>* passed_over) {
  return FirstTaken(LoaderCandidates(name, {}, Environment("LD_LIBRARY_PATH"), run_path), passed_over);
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
  const NewLibraries loaded;
  if (library->Open(by_run_path ? path : name)) {
    loaded.GiveBackPages();
    return true;
  }
  *error = library->error();
  return false;
}

bool IsNotFound(const std::string& name, const std::string& error) {
  return error.compare(0, name.size() + 1, name + ":") == 0 &&
         error.find("cannot open shared object file: No such file or directory") != std::string::npos;
}

std::vector<int> OwnFirst(std::vector<int> majors, const std::vector<std::string>& folders,
                          const std::function<std::string(int)>& soname) {
  if (folders.empty()) return majors;
  std::stable_partition(majors.begin(), majors.end(), [&](int major) {
    const std::string found = ResolveLibrary(soname(major));
    return !found.empty() && LiesInAny(found, folders);
  });
  return majors;
}

std::string UsersLibraryPath(const std::string& value, const std::vector<std::string>& subject_folders) {
  const auto joined = [&](size_t begin, size_t end) {
    std::string all;
    for (size_t i = begin; i < end; ++i) all += (i == begin ? "" : ":") + subject_folders[i];
    return all;
  };
  const size_t count = subject_folders.size();
  if (value == joined(0, count)) return "";
  for (size_t before = count + 1; before-- > 0;) {
    const std::string head = before == 0 ? "" : joined(0, before) + ":";
    const std::string tail = before == count ? "" : ":" + joined(before, count);
    if (value.size() >= head.size() + tail.size() && value.compare(0, head.size(), head) == 0 &&
        value.compare(value.size() - tail.size(), tail.size(), tail) == 0)
      return value.substr(head.size(), value.size() - head.size() - tail.size());
  }
  return value;
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
  for (const auto& entry : SplitLibraryPath(Environment("LD_LIBRARY_PATH")))
    if (RealPath(entry) == RealPath(directory)) return "LD_LIBRARY_PATH entry " + entry;
  return {};
}

}  // namespace cudnn_ci
