#include "common/cudnn_loaded.h"

#include <link.h>

#include <cstddef>
#include <map>
#include <set>

#include "common/cudnn_files.h"
#include "common/judge.h"
#include "common/loader_path.h"

namespace cudnn_ci {
namespace {

// How many libraries the loader has loaded into this process so far.
unsigned long long LoadedSoFar() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](struct dl_phdr_info* info, size_t size, void* out) {
        if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof info->dlpi_adds)
          *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;  // the first entry says all
      },
      &count);
  return count;
}

// "9.19.0" by the files of a directory, of whatever major is known; empty if they do not tell.
std::string VersionOfDirectory(const std::string& directory) {
  const std::string version = VersionOfFiles(directory, 9);
  return version.empty() ? VersionOfFiles(directory, 8) : version;
}

}  // namespace

LoadedCudnn InspectLoadedCudnn() { return InspectLoadedCudnn(MappedLibraries("libcudnn")); }

LoadedCudnn InspectLoadedCudnn(const std::vector<std::string>& files) {
  std::map<std::string, std::string> directories;
  for (const std::string& path : files)
    directories[DirectoryOf(path)] += " " + path.substr(path.rfind('/') + 1);
  LoadedCudnn loaded;
  std::set<std::string> versions;
  for (const auto& [directory, names] : directories) {
    const std::string version = VersionOfDirectory(directory);
    loaded.files += (loaded.files.empty() ? "" : "; ") + directory + ":" + names +
                    (version.empty() ? "" : " (of " + version + ")");
    versions.insert(version);
  }
  loaded.several = directories.size() > 1;
  loaded.mixed = loaded.several && versions.size() > 1;
  return loaded;
}

bool JudgeLoadedCudnn(Context& ctx, const char* slug) {
  static unsigned long long judged = 0;
  const unsigned long long now = LoadedSoFar();
  if (now != 0 && now == judged) return true;
  const LoadedCudnn loaded = InspectLoadedCudnn();
  const bool held = Judge(ctx, !loaded.mixed, "cuDNN's libraries in memory are of one install", slug,
                          [&] { return "loaded are " + loaded.files; });
  // A mixture is every case's, whichever loaded it.
  if (held) judged = now;
  return held;
}

}  // namespace cudnn_ci
