// The files of the running case's subject (image/contents/image_files.h).
#ifndef CUDNN_CI_PLUGINS_IMAGE_SUBJECT_FILES_H_
#define CUDNN_CI_PLUGINS_IMAGE_SUBJECT_FILES_H_

#include <cudnn_ci/check.hpp>

#include "image/contents/image_files.h"

namespace cudnn_ci {

// LD_LIBRARY_PATH counts as the image's user set it.
ImageFiles FilesOfSubject(const Context& ctx);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SUBJECT_FILES_H_
