// Whether what Python packages for GPUs have installed is theirs still: files that another package replaced,
// and files that are gone.
#ifndef CUDNN_CI_PLUGINS_IMAGE_PACKAGE_FILES_H_
#define CUDNN_CI_PLUGINS_IMAGE_PACKAGE_FILES_H_

#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/packages/python_requirements.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

struct PackageFault {
  const char* id;  // of a finding
  std::string detail;
  std::string line;  // of a Dockerfile; empty: none is certain
};

// By all RECORDs of the environment. A package for GPUs whose code was replaced by that of one without any is
// an error, and so is one that lacks what is asked for (MissedFiles); what nobody asks for is a note. Two
// packages for GPUs in each other's place are a warning: of code always, of libraries (such as one for two
// CUDA majors) where another package requires the one that lost; so are files of libraries that are gone.
// Files of another size than recorded are a note, for who strips them changes it. Other overlaps are usual.
std::vector<PackageFault> JudgePackageFiles(const ImageFiles& image, const SymbolRules& rules);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_PACKAGE_FILES_H_
