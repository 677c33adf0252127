// One fault for each cause: the same library that many files lack, or one package whose files all do.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_MERGE_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_MERGE_H_

#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/symbols/symbols_faults.h"

namespace cudnn_ci {

// The first fault of each cause stays, and says how many files share it. Missing libraries are one cause by
// library and by the package that asks, symbols by the package that asks and the file that should have them;
// libraries of which there are two are one warning together. Others are left as they are.
// What puts one right is said once, for all that share it. `library_path`: LD_LIBRARY_PATH's folders, which a
// line that sets it keeps.
std::vector<SymbolFault> OneForEachCause(std::vector<SymbolFault> faults, const ImageFiles& image,
                                         const std::vector<std::string>& library_path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_MERGE_H_
