// The device code of all files of an image, and who brought them. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_FILES_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_FILES_H_

#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/device_code/device_code.h"

namespace cudnn_ci {

struct CodeFile {
  std::string path, package;  // package: "torch 2.11.0"; empty: nobody says that the file is his
  DeviceCode code;
  // It needs CUDA's runtime, driver or compiler by name (DT_NEEDED).
  bool needs_cuda = false;

  // It has, or may have, something to do with device code.
  bool OfInterest() const { return code.has_sections || needs_cuda || !code.problem.empty(); }
};

// Of every file that is of interest, in the order of image.files. On half of the processors that this process
// may use, at most 8.
std::vector<CodeFile> ReadCodeFiles(const ImageFiles& image);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_FILES_H_
