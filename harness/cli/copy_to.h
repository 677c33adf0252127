// The command copy-to: the installed tree into a folder, where there is neither a shell nor cp.
#ifndef CUDNN_CI_CLI_COPY_TO_H_
#define CUDNN_CI_CLI_COPY_TO_H_

#include <string>

#include "base/result.h"

namespace cudnn_ci {

// Copies what belongs to cudnn-ci of the installed tree `tree` (programs, plugins, matrices, documents; not
// the SDK) into `target`, which is created if it is not there. Links are followed. Files get mode 0755 when
// their owner may execute them and 0644 else, folders 0755, whatever the umask: nobody but their owner may
// write a plugin. bin/ appears last, by rename: a target with bin/cudnn-ci is whole. An earlier copy is
// replaced; anything else of these names in `target` is an error, and nothing is touched then. Returns how
// many files were copied. Errors name the path and what to do.
Result<int> CopyTree(const std::string& tree, const std::string& target);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COPY_TO_H_
