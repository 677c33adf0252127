#include "common/cudnn_loaded.h"

#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "base/path.h"
#include "common/judge.h"
#include "common/loaded_libraries.h"
#include "common/loader_path.h"
#include "image/contents/cudnn_files.h"

namespace cudnn_ci {
namespace {

// 9 of "libcudnn_ops.so.9.19.0". A name without a known major is of the one that its directory has.
int MajorOf(const std::string& directory, const std::string& name) {
  const std::string infix = ".so.";
  const size_t at = name.find(infix);
  const int major = at == std::string::npos ? 0 : std::atoi(name.c_str() + at + infix.size());
  if (major == 8 || major == 9) return major;
  return VersionOfFiles(directory, 9).empty() && !VersionOfFiles(directory, 8).empty() ? 8 : 9;
}

// Of the files of one directory that are of one major, of which it may hold several: their names, and
// "9.19.0" by the files of that major that lie there; empty if they do not tell.
struct Group {
  std::string names, version;
};

}  // namespace

LoadedCudnn InspectLoadedCudnn() { return InspectLoadedCudnn(MappedLibraries("libcudnn")); }

LoadedCudnn InspectLoadedCudnn(const std::vector<std::string>& files) {
  std::map<std::pair<std::string, int>, Group> groups;
  for (const std::string& path : files) {
    const std::string name = path.substr(path.rfind('/') + 1), directory = DirectoryOf(path);
    const int major = MajorOf(directory, name);
    Group& group = groups[{directory, major}];
    if (group.names.empty()) group.version = VersionOfFiles(directory, major);
    group.names += " " + name;
  }
  LoadedCudnn loaded;
  std::set<std::string> versions;
  for (const auto& [place, group] : groups) {
    loaded.files += (loaded.files.empty() ? "" : "; ") + place.first + ":" + group.names +
                    (group.version.empty() ? "" : " (of " + group.version + ")");
    versions.insert(group.version);
  }
  loaded.several = groups.size() > 1;
  loaded.mixed = loaded.several && versions.size() > 1;
  return loaded;
}

bool JudgeLoadedCudnn(Context& ctx, const char* slug) {
  static unsigned long long judged = 0;
  const unsigned long long now = LibrariesLoadedSoFar();
  if (now != 0 && now == judged) return true;
  const LoadedCudnn loaded = InspectLoadedCudnn();
  const bool held = Judge(ctx, !loaded.mixed, "cuDNN's libraries in memory are from one install", slug,
                          [&] { return "loaded: " + loaded.files; });
  // A mixture is every case's, whichever loaded it.
  if (held) judged = now;
  return held;
}

}  // namespace cudnn_ci
