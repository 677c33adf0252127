#include "image/loader/loaded_with.h"

#include <deque>
#include <set>

#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostLoaded = 2000;

}  // namespace

std::vector<std::string> LoadedWith(const std::string& path, const std::string& library_path,
                                    std::vector<std::string>* missing) {
  struct Waiting {
    std::string path;
    std::vector<std::string> rpath;  // DT_RPATH of what loaded it
  };
  std::vector<std::string> loaded;
  std::set<std::string> known;  // sonames and names that were asked for
  std::deque<Waiting> waiting = {{path, {}}};
  while (!waiting.empty() && loaded.size() < kMostLoaded) {
    const Waiting next = waiting.front();
    waiting.pop_front();
    const ElfFile file(next.path);
    loaded.push_back(next.path);
    if (!file.loadable()) continue;
    if (!file.Soname().empty()) known.insert(file.Soname());
    const std::vector<std::string> own = file.RunPath();
    std::vector<std::string> rpath, run_path;
    if (file.RunPathIsFirst()) rpath = own;
    if (!file.RunPathIsFirst()) run_path = own;
    // A library with a DT_RUNPATH looks at no DT_RPATH, its own or inherited (ld.so(8)).
    if (run_path.empty()) rpath.insert(rpath.end(), next.rpath.begin(), next.rpath.end());
    for (const std::string& name : file.Needed()) {
      if (!known.insert(name).second) continue;
      const std::string found = FirstTaken(LoaderCandidates(name, rpath, library_path, run_path));
      if (!found.empty()) waiting.push_back({found, rpath});
      if (found.empty() && missing) missing->push_back(name);
    }
  }
  return loaded;
}

}  // namespace cudnn_ci
