// Whose cuDNN a subject gets: its own, or one that LD_LIBRARY_PATH or the loader puts in its place.
#ifndef CUDNN_CI_PLUGINS_CUDNN_OWNER_H_
#define CUDNN_CI_PLUGINS_CUDNN_OWNER_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "cudnn/install.h"

namespace cudnn_ci {

// Judges that the install found is the subject's own, wherever the subject has one. A folder that is named is
// judged by its own cuDNN; packages and programs may also live from the loader's.
void JudgeOwner(Context& ctx, const CudnnInstall& install);

// Judges that the parts come from where the main library lies. The main library is found by DT_RPATH or by
// its path, before LD_LIBRARY_PATH; but it opens its parts by name, and having a DT_RUNPATH of its own it
// gets those of LD_LIBRARY_PATH first, unless its parts were loaded already.
void JudgePartsInLibraryPath(Context& ctx, const CudnnInstall& install);

// Where a subject that is no folder says that its libraries lie, as the end of a sentence; empty for others.
std::string OwnFolders(const Context& ctx);

// Why the loader did not take the files that came first, where that is so, as the end of a sentence.
std::string PassedOver(const CudnnInstall& install);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_OWNER_H_
