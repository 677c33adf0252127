// Libraries that packages open by a name which stands in their sources, and that no file of the image has.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_LITERALS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_LITERALS_H_

#include <vector>

#include "image/contents/image_files.h"
#include "image/symbols/symbols_faults.h"
#include "image/symbols/symbols_imports.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

// Of each package of a Python environment whose import opens such a library whatever happens (PlainlyOpened):
// kMissingLibrary where it is one for GPUs, else kUnused. The driver's libraries are the host's. Only sources
// in the folder of a package and in the folders in that are read, at most 100 of each, 6,000 in all, of 64
// MiB together.
std::vector<SymbolFault> OpenedAndNowhere(const ImageFiles& image, const SymbolRules& rules,
                                          LoaderFiles* files, PythonImports* imports,
                                          const FaultWriter& writer);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_LITERALS_H_
