// Which file would ld.so take for a library name, answered without loading it: a damaged file can
// then be named instead of killing the process. Follows the search order of ld.so(8); knows nothing
// about CUDA.
#ifndef CUDNN_CI_PLUGINS_COMMON_LOADER_PATH_H_
#define CUDNN_CI_PLUGINS_COMMON_LOADER_PATH_H_

#include <cudnn_ci/late.hpp>

#include <functional>
#include <string>
#include <vector>

namespace cudnn_ci {

// The file that a dlopen("NAME") issued by a library with this run path would open: LD_LIBRARY_PATH,
// run_path, /etc/ld.so.cache, the default directories. Like the loader it passes over files that
// cannot be opened and files for other machines, and stops at an empty or damaged one. Empty when
// nothing is found.
// What it passes over is added to *passed_over, in words: dangling links, unreadable and foreign files.
std::string ResolveLibrary(const std::string& name, const std::vector<std::string>& run_path = {},
                           std::vector<std::string>* passed_over = nullptr);

// Loads NAME the way ResolveLibrary predicts, but refuses a truncated file. False: *error says why,
// with the loader's words or the file's sizes.
bool LoadChecked(const std::string& name, LateLibrary* library, std::string* error,
                 const std::vector<std::string>& run_path = {});

// True if a LoadChecked or dlopen error for NAME says only that no such file exists.
bool IsNotFound(const std::string& name, const std::string& error);

// The majors of a library with those first that the loader finds in a subject's own folders; else in the
// order given. `soname`: of a major.
std::vector<int> OwnFirst(std::vector<int> majors, const std::vector<std::string>& folders,
                          const std::function<std::string(int)>& soname);
// LD_LIBRARY_PATH as the user set it, of the value that a worker has: the harness puts the folders of a
// subject around it, in their order. Unchanged if they do not stand there.
std::string UsersLibraryPath(const std::string& value, const std::vector<std::string>& subject_folders);
// The value of an environment variable, or empty.
std::string Environment(const char* name);
// The files of this process's memory whose name begins with the prefix, each once, sorted: what the loader
// really took.
std::vector<std::string> MappedLibraries(const std::string& prefix);
// "LD_LIBRARY_PATH entry /x", the entry that makes the loader find `path`; empty if none does.
std::string LibraryPathEntry(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_LOADER_PATH_H_
