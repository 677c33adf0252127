// Every cuDNN that the image holds, whether a subject uses it or not: on the loader's path, in toolkits, in
// Python packages and conda environments. Read from names and ELF files; nothing is loaded. Tests nothing.
#ifndef CUDNN_CI_IMAGE_CONTENTS_CUDNN_COPIES_H_
#define CUDNN_CI_IMAGE_CONTENTS_CUDNN_COPIES_H_

#include <string>
#include <vector>

#include "base/variables.h"

namespace cudnn_ci {

struct CudnnCopy {
  std::string directory;  // of its main library, links followed
  int major = 0;
  std::string version;  // "9.19.0", by its files; empty where they do not tell
  std::string
      origin;  // "loader path", "Python package nvidia-cudnn-cu13 9.19.0.56", "conda environment", ...
};

struct CudnnCopies {
  std::vector<CudnnCopy> copies;  // sorted by directory, then major
  bool complete = true;           // false: the search gave up at its bound of entries
};

// Looks below the well-known places: the loader's, /usr, /usr/local, each folder of /opt, the virtual and the
// conda environment that these variables name. At most 50,000 entries of folders are looked at, for an image
// may hold millions of files.
CudnnCopies FindCudnnCopies(const Variables& environment);
// The same below these places alone, and in these folders.
CudnnCopies FindCudnnCopiesIn(const std::vector<std::string>& places,
                              const std::vector<std::string>& folders);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_CUDNN_COPIES_H_
