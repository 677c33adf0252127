// What packages compare themselves as they are imported, and refuse: the CUDA of another package, the
// versions of their own parts.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_COMPARE_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_COMPARE_H_

#include <vector>

#include "image/contents/image_files.h"
#include "image/symbols/symbols_faults.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

// Of the package of this rule, which is there.
std::vector<SymbolFault> ComparedAtImport(const PackageRule& rule, const ImageFiles& image);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_COMPARE_H_
