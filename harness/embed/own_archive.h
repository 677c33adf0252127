// What this executable carries: the embedded files of a release's single file.
#ifndef CUDNN_CI_EMBED_OWN_ARCHIVE_H_
#define CUDNN_CI_EMBED_OWN_ARCHIVE_H_

#include "base/result.h"

namespace cudnn_ci {

// Looks at the end of this executable and makes the files that it carries known (base/embedded.h); none where
// it is one of an installed tree. Errors: it cannot be used.
Status UseOwnArchive();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EMBED_OWN_ARCHIVE_H_
