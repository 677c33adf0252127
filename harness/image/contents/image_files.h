// The files of a subject that may hold native or device code, and the packages that brought them. Read from
// the file system; nothing of the image is run or loaded. Tests nothing.
#ifndef CUDNN_CI_IMAGE_CONTENTS_IMAGE_FILES_H_
#define CUDNN_CI_IMAGE_CONTENTS_IMAGE_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "image/packages/installed_packages.h"

namespace cudnn_ci {

struct ImageFile {
  std::string path;  // as it was come upon; of several names of one file the first, sorted
  std::uint64_t bytes = 0;
};

// A subject as its files show it.
struct ImageFiles {
  std::string interpreter;           // of "python:PATH", else empty
  std::string prefix;                // of its environment: "/opt/venv"
  std::vector<std::string> folders;  // of its Python packages, in the order of sys.path
  std::vector<ImageFile> files;      // sorted by path, each once, regular files only
  InstalledPackages packages;
  // Why this is not all: a bound that was reached, a folder that cannot be read. Empty: it is.
  std::vector<std::string> problems;

  // "torch 2.11.0" of the package that brought the file, else an empty text.
  std::string BroughtBy(const std::string& file) const;
};

// Where a subject's code lies:
//   python:PATH   everything below the folders of its packages, and, in a conda environment, its lib
//   program:PATH  the program and all that it needs, as the loader finds it
//   path:DIRS     everything below the folders; of one around another of them, what lies in it alone
//   loader        LD_LIBRARY_PATH, /etc/ld.so.cache and the default directories
// `library_path` is LD_LIBRARY_PATH as the image's user has it; an interpreter sees the variables of this
// process. Only names that HoldsCode takes, and of `program` the program. At most 400,000
// entries of folders are looked at.
ImageFiles FilesOfSubject(const std::string& spec, const std::vector<std::string>& subject_folders,
                          const std::string& library_path);

// "cpython-311" of ".../lib/python3.11/site-packages", as extension modules of that Python are tagged
// (https://peps.python.org/pep-3149/); empty: not known.
std::string PythonTagOf(const std::vector<std::string>& folders);
// True for the name of an extension module that a Python with this tag does not load.
bool IsOfAnotherPython(const std::string& name, const std::string& tag);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_IMAGE_FILES_H_
