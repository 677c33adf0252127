// The Python interpreters, virtual and conda environments of an image that use a GPU with what they bring:
// `"subjects": "auto"`.
#ifndef CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENTS_H_
#define CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/package_names.h"
#include "base/variables.h"
#include "image/contents/subject.h"

namespace cudnn_ci {

// Of one image; "system" may join them as a subject.
inline constexpr size_t kMostEnvironments = 31;

struct FoundEnvironments {
  std::vector<SubjectInfo> subjects;  // not resolved; sorted by name
  // Interpreters of the other environments, sorted: those without a library of CUDA and without device code,
  // and those that only borrow them.
  std::vector<std::string> others;
  size_t count = 0;      // of subjects that were found; only the first kMostEnvironments are in `subjects`
  bool complete = true;  // false: there may be more, for not every place was looked at
};

// Looks at VIRTUAL_ENV, CONDA_PREFIX, the folders of PATH, and, below `root` ("" for an image), at /, /usr,
// /usr/local, /opt, /srv, /app, /workspace, /root, /home/* and $HOME: at each itself, the folders in it, a
// "venv" or ".venv" in those, and the environments of a conda installation. An environment counts if a folder
// of its libraries holds a cuDNN, or a folder of its packages something that uses a GPU (HoldsGpuUse), that
// no environment before it has as its own. It is named after its prefix, "opt_venv" of /opt/venv; where two
// would have one name, both end with a number that is made from the prefix.
FoundEnvironments FindEnvironments(const Variables& environment, const PackageNames& names,
                                   const std::string& root = "");

// "/opt/venv/bin/python" of one of its subjects.
std::string InterpreterOf(const SubjectInfo& subject);

// "opt_venv": a prefix as the name of a subject.
std::string NameOfPrefix(const std::string& prefix);

// "_0a1b2c3d": what a name ends with where another place has the same one.
std::string NumberOfPlace(const std::string& place);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_ENVIRONMENTS_H_
