// Where ld.so looks for a library: its search order and its cache, read from files. Loads nothing, knows
// nothing about CUDA. For harness and plugins alike.
#ifndef CUDNN_CI_IMAGE_LOADER_LOADER_FILES_H_
#define CUDNN_CI_IMAGE_LOADER_LOADER_FILES_H_

#include <functional>
#include <string>
#include <vector>

namespace cudnn_ci {

using WantedName = std::function<bool(const std::string& name)>;

// The paths of /etc/ld.so.cache whose library's name is wanted, in the cache's order.
std::vector<std::string> LoaderCachePaths(const WantedName& wanted);

// The directories of a list as LD_LIBRARY_PATH holds it; an empty entry of it is the current one, "."
// (ld.so(8)).
std::vector<std::string> SplitLibraryPath(const std::string& list);

// Where the loader looks last.
std::vector<std::string> DefaultLibraryDirectories();

// The files that the loader tries for a name that a library needs, in its order: those in `rpath` (DT_RPATH
// of the library and of what loaded it), LD_LIBRARY_PATH, `run_path` (the library's DT_RUNPATH), the cache,
// the default directories.
std::vector<std::string> LoaderCandidates(const std::string& name, const std::vector<std::string>& rpath,
                                          const std::string& library_path,
                                          const std::vector<std::string>& run_path);

// The first of these files that the loader would not pass over, which need not be one that it can load: it
// stops at an empty or damaged file. Empty: there is none. What it passes over is added to *passed_over, in
// words: dangling links, unreadable and foreign files.
std::string FirstTaken(const std::vector<std::string>& candidates,
                       std::vector<std::string>* passed_over = nullptr);

// Every file called STEM or STEM.*, "libcudnn.so" as well as "libcudnn.so.7", in a place where the loader
// looks: LD_LIBRARY_PATH (`library_path`), /etc/ld.so.cache, the default directories. Sorted, each once,
// links followed; without damaged links and files for other machines.
std::vector<std::string> LibrariesOf(const std::string& stem, const std::string& library_path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_LOADER_LOADER_FILES_H_
