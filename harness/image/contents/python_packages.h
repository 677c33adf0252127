// Where a Python interpreter finds its packages, told from files: neither it nor anything of it is run, so
// that a broken interpreter does not hide a broken library. What `site` and the interpreter itself do:
// https://docs.python.org/3/library/site.html, https://docs.python.org/3/library/sys_path_init.html
#ifndef CUDNN_CI_IMAGE_CONTENTS_PYTHON_PACKAGES_H_
#define CUDNN_CI_IMAGE_CONTENTS_PYTHON_PACKAGES_H_

#include <string>
#include <vector>

#include "base/variables.h"
#include "image/contents/folder_list.h"

namespace cudnn_ci {

struct PythonPackages {
  std::string prefix;      // of the interpreter, or of the environment it stands in: "/opt/venv"
  std::string executable;  // its file, links followed; empty: it is not there
  // Folders of packages that exist, in the order of sys.path: "/opt/venv/lib/python3.11/site-packages".
  std::vector<std::string> folders;
  // Why it is no usable interpreter, in words that begin with its path; what belongs to it is told all the
  // same.
  std::string problem;
};

// Of the interpreter at an absolute path, which is a link in a virtual environment: pyvenv.cfg beside or
// above it counts, then PYTHONPATH, the user's own packages, those of its prefix, Debian's dist-packages, and
// the folders that .pth files name. `environment`: the variables that the interpreter would see.
PythonPackages FindPythonPackages(const std::string& interpreter, const Variables& environment,
                                  FolderReader* reader);

// The folder of the interpreter that the virtual environment at `prefix` was made from, as its pyvenv.cfg has
// it ("home"); empty where that says none.
std::string HomeOfEnvironment(const std::string& prefix);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_PYTHON_PACKAGES_H_
