// Folders of an image that this process may not look into.
#ifndef CUDNN_CI_IMAGE_CONTENTS_UNREADABLE_FOLDERS_H_
#define CUDNN_CI_IMAGE_CONTENTS_UNREADABLE_FOLDERS_H_

#include <string>
#include <vector>

#include "base/variables.h"

namespace cudnn_ci {

// Folders that the process's user may not list or enter (EACCES), sorted; the first 20. Of a path that lies
// below such a folder, that folder. Looks at the folders of PATH, LD_LIBRARY_PATH, VIRTUAL_ENV and
// CONDA_PREFIX; with `usual_places` also at those where environments and programs are searched, below `root`
// ("" for an image), and at the folders in them.
std::vector<std::string> UnreadableFolders(const Variables& environment, bool usual_places,
                                           const std::string& root = "");

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_UNREADABLE_FOLDERS_H_
