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
  std::string path;     // the file the loader takes, links followed; empty if it finds none
  std::string error;    // why it is unusable, in the loader's words where there are some
  std::string version;  // "9.19.0" by the file's own version object; empty where it has none
};

struct CudnnInstall {
  int major = 0;                 // 9 or 8; 0: no libcudnn.so.9 or .so.8 is found
  CudnnPart main;                // libcudnn.so.MAJOR; without an install its error is the loader's
  std::vector<CudnnPart> parts;  // in the order in which they depend on each other

  bool found() const { return major != 0; }
  // Main library and parts whose `error` is set.
  std::vector<const CudnnPart*> Broken() const;
  // Directories of all files found, each once, with what lies there: "/a (libcudnn.so.9, ...)".
  std::vector<std::string> Directories() const;
  // "9.19.0", read from the files; empty where they do not tell.
  std::string Version() const;
};

// Looks at files only: loads and calls nothing.
CudnnInstall InspectCudnn();

// Loads every part and the main library for the rest of the process's life and notes the loader's
// errors. Loads nothing if a file is damaged: the loader would follow a sound one to it. Returns true
// if everything is loaded, after which calling into cuDNN is safe.
bool LoadCudnn(CudnnInstall* install);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_INSTALL_H_
