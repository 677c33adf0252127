// Versions of libraries that were compiled into others, against those that the loader gives them.
#ifndef CUDNN_CI_PLUGINS_IMAGE_BAKED_VERSIONS_H_
#define CUDNN_CI_PLUGINS_IMAGE_BAKED_VERSIONS_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "image/contents/image_files.h"
#include "image/loader/loader_scope.h"

namespace cudnn_ci {

// By the rows `baked` of knowledge/packages.json: a file that needs a library, and has an object with the
// release of that with which it was linked, does not go together with the one that the loader takes for it.
// In words, one for each pair of packages. What was stripped of its symbols says nothing.
std::vector<std::string> BakedVersionsThatDiffer(const ImageFiles& image, const TableEntry& entry,
                                                 LoaderFiles* files);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_BAKED_VERSIONS_H_
