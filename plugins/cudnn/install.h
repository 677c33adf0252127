// One cuDNN install as the loader sees it: which file it takes for the main library and for each
// sub-library, and whether each can be loaded. cuDNN opens its sub-libraries itself, keeps the loader's
// words to itself, and aborts or is killed when one is missing or cut short; so the files are looked at
// before anything is called. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_CUDNN_INSTALL_H_
#define CUDNN_CI_PLUGINS_CUDNN_INSTALL_H_

#include <string>
#include <vector>

namespace cudnn_ci {

struct CudnnPart {
  std::string name;     // "libcudnn_graph.so.9"
  std::string found;    // the file the loader takes; empty if it finds none
  std::string path;     // the same, links followed
  std::string error;    // why it is unusable, in the loader's words where there are some
  std::string version;  // "9.19.0" by the file's own version object; empty where it has none
  // The name that the file says it has (DT_SONAME), where that is another library's or of another major. The
  // loader takes the file all the same, and cuDNN does not find its functions in it.
  std::string other_name;
  // "libcuda.so.1": a library of the driver, which is not on this machine and without which this part cannot
  // be loaded. Its file is sound and what else it names loads; its symbols are proved with a driver. Known
  // after LoadCudnn.
  std::string awaits;
  std::vector<std::string>
      passed_over;  // files of this name before `path` that the loader cannot use, in words
  // The graph library opens it by name, and it does not lie beside the main library: whatever the loader
  // finds under that name becomes part of this install.
  bool foreign = false;
};

struct CudnnInstall {
  int major = 0;   // 9 or 8; 0: no libcudnn.so of a known major is found
  CudnnPart main;  // libcudnn.so.MAJOR; without an install its error says so as the loader would
  std::vector<CudnnPart> parts;  // in the order in which they depend on each other
  // What a JIT-only package (libcudnn9-jit-cuda-13, nvidia-cudnn-jit-cu13) leaves out of a full install: the
  // legacy API and the engines compiled ahead. Empty for a full install.
  // https://docs.nvidia.com/deeplearning/cudnn/backend/latest/installation/overview.html
  std::vector<CudnnPart> left_out;
  // Sub-libraries that the graph library opens by name and that are found nowhere, though the install is a
  // full one: cuDNN 9.20.0 came without its libcudnn_engines_tensor_ir.so.9. It works without them.
  std::vector<CudnnPart> lacking;

  bool found() const { return major != 0; }
  bool jit_only() const { return !left_out.empty(); }
  // Main library and parts whose `error` is set.
  std::vector<const CudnnPart*> Broken() const;
  // Those that await a library of the driver.
  std::vector<const CudnnPart*> Awaiting() const;
  // True if main library and graph library are loaded, without which every call aborts.
  bool callable() const;
  // Directories of all files found, each once, with what lies there: "/a (libcudnn.so.9, ...)".
  std::vector<std::string> Directories() const;
  // "9.19.0", read from the files; empty where they do not tell.
  std::string Version() const;
};

// True if a file that says it is called `soname` was made for something else than the name under which it
// lies. Packages that carry a copy put a hash behind the stem ("libcudnn_ops-4f8c1f2b.so.9"); a soname may
// have more of a version than the name, or none; a file without one says nothing.
bool IsOfAnotherLibrary(const std::string& soname, const std::string& name);

// The install of the first of these majors (CudnnMajors) of which a main library is found. Looks at files
// only: loads and calls nothing.
CudnnInstall InspectCudnn(const std::vector<int>& majors);

// Adds what the graph library opens by name beyond the parts that are known and those beside the main
// library: to the parts where the loader finds it, else to what the install lacks. Reads the graph library's
// constants, which are 25 MB in some releases.
void AddOpenedParts(CudnnInstall* install);

// The CUDA major a cuDNN was built for, by the directory of the toolkit's wheel in its run path
// ($ORIGIN/../../cu13/lib); empty where it names none. The library's own answer, cudnnGetCudartVersion,
// would be a call.
std::string CudaMajorOfRunPath(const CudnnInstall& install);

// "a; b".
std::string JoinLines(const std::vector<std::string>& parts);

// Loads every part and the main library for the rest of the process's life and notes the loader's
// errors. Loads nothing if a file is damaged: the loader would follow a sound one to it. Returns true
// if nothing is broken; what awaits the driver is not loaded then.
bool LoadCudnn(CudnnInstall* install);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_INSTALL_H_
