// What a framework's library for CUDA needs of CUDA's libraries, and what the loader finds of it: read from
// files, for a framework that leaves it to the loader. Loads nothing and judges nothing.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_NEEDS_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_NEEDS_H_

#include <string>
#include <vector>

#include "base/package_names.h"

namespace cudnn_ci {

// True for one of cuDNN's own: "libcudnn.so.9", "libcudnn_ops.so.9".
bool IsCudnnLibrary(const std::string& name);

// The names of those libraries of CUDA that stand as texts in a file, "libcublas.so.12", each once, sorted:
// what it may open by name. Looks at the first 512 MiB.
std::vector<std::string> CudaLibrariesNamedIn(const CudaLibraries& cuda, const std::string& path);

// The same as groups of which one is enough: "libnvrtc.so.12" and "libnvrtc.so.13" are alternatives.
std::vector<std::vector<std::string>> Alternatives(const std::vector<std::string>& names);

// The CUDA major that some of these are of: 12 of "libcublas.so.12", 11 of "libcudart.so.11.0"; 0: none says.
int CudaMajorOfLibraries(const std::vector<std::string>& names);

struct Needs {
  std::vector<std::string> names;    // those that it links, in its order, then those that it opens by name
  std::vector<std::string> hidden;   // found in the folders given, where the loader does not look
  std::vector<std::string> missing;  // found nowhere; alternatives as "libnvrtc.so.12 or libnvrtc.so.13"
  std::vector<std::string> lacking;  // likewise cuDNN's that it opens lazily: only some models need them
  std::vector<std::string> folders;  // of those that are hidden, each once
};

// Of the library at this path. `cuda`: what frameworks compute with. `by_name`: what it opens by name as
// well. `interpreter`: the program that loads it, whose DT_RPATH counts; LD_LIBRARY_PATH is this process's.
// `folders`: where packages have libraries. `lazy`: the library opens cuDNN when a model first needs it.
Needs NeedsOf(const CudaLibraries& cuda, const std::string& path, const std::vector<std::string>& by_name,
              const std::string& interpreter, const std::vector<std::string>& folders, bool lazy = false);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_NEEDS_H_
