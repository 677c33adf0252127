// What the files of cuDNN tell without being loaded.
#ifndef CUDNN_CI_IMAGE_CONTENTS_CUDNN_FILES_H_
#define CUDNN_CI_IMAGE_CONTENTS_CUDNN_FILES_H_

#include <string>
#include <vector>

#include "image/elf/elf_file.h"

namespace cudnn_ci {

// The majors that are known, newest first.
inline constexpr int kCudnnMajors[] = {9, 8};

// "libcudnn.so.9"; of a sub-library ("ops") "libcudnn_ops.so.9".
std::string CudnnSoname(int major, const std::string& part = "");

// The sub-libraries of a full install, dependencies first: "graph", "ops", ... of cuDNN 9.
std::vector<std::string> CudnnPartNames(int major);

// "9.19.0" by the version object of a library of cuDNN; empty if it has none.
std::string CudnnVersionOf(const ElfFile& file);

// The version of the first part in this folder that has such an object; empty if none has.
std::string VersionOfFiles(const std::string& directory, int major);

// The sub-libraries that a library of cuDNN opens by name ("heuristic", "engines_tensor_ir"), by the names
// that stand in its text: "libcudnn_NAME.so", to which it adds the versions. Sorted; empty for a file that
// cannot be read. cuDNN 9 only: the graph library's own dependencies are not told so.
std::vector<std::string> CudnnPartsOpenedBy(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_CUDNN_FILES_H_
