// What the image has the loader put into every process before its program begins, read from files. Loads
// nothing: the libraries are the image's.
#ifndef CUDNN_CI_IMAGE_CONTENTS_PRELOADS_H_
#define CUDNN_CI_IMAGE_CONTENTS_PRELOADS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/variables.h"

namespace cudnn_ci {

// One library of LD_PRELOAD, LD_AUDIT or /etc/ld.so.preload.
struct Preload {
  std::string by;    // the variable, or the file
  std::string name;  // as it stands there
  std::string file;  // what the loader takes; empty: nothing, it says so and goes on
  // The functions and variables of the C library that the checks' processes take, and find here first.
  std::set<std::string> interposed;
  // Functions of CUDA, its driver and its libraries that it defines: programs of the image find them here
  // first.
  std::set<std::string> of_cuda;
  std::string problem;  // why it is unknown what it does; empty: it is known
  bool audits = false;  // sees and may change every binding
  bool own = false;     // the C library's own file, which every process takes anyway
  std::string ignored;  // why the loader passes over what the name leads to, in words; empty: it does not
  std::string mounted;  // the list or the library, where it is a mount: the runner's, and not the image's
};

// `library_paths`: the values of LD_LIBRARY_PATH that processes are started with. `wanted`: gives the names
// that they take from the C library, and is asked once if there is a library.
std::vector<Preload> FindPreloads(const Variables& environment, const std::vector<std::string>& library_paths,
                                  const std::function<std::set<std::string>()>& wanted,
                                  const std::string& file = "/etc/ld.so.preload");

// The files that the loader may take for a name: those of a CPU's folders (glibc-hwcaps, haswell, ...) up to
// and with the first that lies in the folder itself. Links followed; each once.
std::vector<std::string> LibraryCandidates(const std::string& name, const std::string& library_path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_PRELOADS_H_
