#include "image/contents/program_libraries.h"

#include <deque>
#include <set>
#include <vector>

#include "base/path.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

// PyTorch's own program needs some 150 libraries.
constexpr size_t kMostLibraries = 1000;

// A file of the process to be, and the DT_RPATH of those through which it came.
struct Object {
  std::string path;
  std::vector<std::string> rpath;
};

}  // namespace

LibraryFolders FindProgramLibraries(const std::string& program, const std::string& library_path,
                                    FolderReader* reader, std::string* problem,
                                    std::vector<std::string>* files) {
  FolderList before, behind;
  // $ORIGIN of a program is where its file really lies.
  std::deque<Object> objects = {{RealPath(program), {}}};
  std::set<std::string> names;  // a name that is loaded is not searched for again
  if (const ElfFile file(program); !file.loadable()) {
    *problem = file.error();
    return {};
  }
  while (!objects.empty()) {
    const Object object = std::move(objects.front());
    objects.pop_front();
    const ElfFile file(object.path);
    if (files != nullptr) files->push_back(object.path);
    const std::vector<std::string> own = file.RunPath();
    const bool first = file.RunPathIsFirst();
    (first ? before : behind).Add(own, reader);
    std::vector<std::string> rpath = first ? own : std::vector<std::string>();
    rpath.insert(rpath.end(), object.rpath.begin(), object.rpath.end());
    // Who has a DT_RUNPATH is not helped by the DT_RPATH of others; what it needs may be.
    const bool alone = !first && !own.empty();
    for (const std::string& name : file.Needed()) {
      if (names.size() >= kMostLibraries || !names.insert(name).second) continue;
      const std::string found =
          name.find('/') != std::string::npos
              ? name
              : FirstTaken(LoaderCandidates(name, alone ? std::vector<std::string>() : rpath, library_path,
                                            first ? std::vector<std::string>() : own));
      if (!found.empty()) objects.push_back({found, rpath});
    }
  }
  // What is searched first is not searched again.
  LibraryFolders folders;
  folders.before = before.folders();
  for (const std::string& folder : behind.folders()) {
    before.Add(folder, reader);
    if (before.folders().size() > folders.before.size() + folders.behind.size())
      folders.behind.push_back(folder);
  }
  return folders;
}

}  // namespace cudnn_ci
