// The line that puts a cuDNN install right, where a single package has it.
#ifndef CUDNN_CI_PLUGINS_CUDNN_REPAIR_H_
#define CUDNN_CI_PLUGINS_CUDNN_REPAIR_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "common/install_line.h"
#include "cudnn/install.h"

namespace cudnn_ci {

// The package whose files these are, by the metadata beside them or by dpkg's records. None: several claim
// them, none does (an archive's, files that were copied), or what installed it is not in the image. `root` is
// put before every path that is looked at.
InstalledPackage OwnerOf(const CudnnInstall& install, const std::string& root = {});

// The package again, if these parts are what is wrong: files of its own that are missing, damaged or others.
// Else empty; so it is if dpkg has one of them as another package's, or as nobody's.
std::string LineForParts(const CudnnInstall& install, const std::vector<const CudnnPart*>& wrong,
                         const std::string& root = {});

enum class PartRecord {
  kUnknown,   // no single package has the install on record, or its list of files is not there
  kListed,    // the package has recorded this file in the install's folder
  kNotListed  // it has recorded the folder's files, and none of this name: the package never had it
};
// What the records of the package whose files these are say of a file in the install's folder.
PartRecord RecordOfPart(const CudnnInstall& install, const std::string& name, const std::string& root = {});

// "; on record: nvidia-cudnn-cu13 9.19.0.56" of each package that claims the install's folder, as the end of
// a sentence; empty: none does.
std::string OnRecord(const CudnnInstall& install, const std::string& root = {});

// What brings the cuBLAS of a CUDA major beside this cuDNN: of the package on record its version, and the
// line that installs it again; where none is on record, the line that installs it.
struct CublasPackage {
  std::string words;  // the end of a sentence; empty: it is not known what installed this cuDNN
  std::string line;   // of a Dockerfile; empty: none is certain
};
CublasPackage CublasPackageFor(const CudnnInstall& install, int cuda_major, const std::string& root = {});

// For an install that the loader assembles from several directories: the package again, if it is incomplete
// and comes first; LD_LIBRARY_PATH without the others, if they hide what it has. Empty where it is both or
// neither.
std::string LineForDirectories(const Context& ctx, const CudnnInstall& install);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_REPAIR_H_
