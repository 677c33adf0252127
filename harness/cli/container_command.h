// The reproduction from outside: this very run, in a new container of the image.
#ifndef CUDNN_CI_CLI_CONTAINER_COMMAND_H_
#define CUDNN_CI_CLI_CONTAINER_COMMAND_H_

#include <string>

#include "cli/installation.h"
#include "cli/run_options.h"
#include "model/matrix/image_identity.h"
#include "model/matrix/matrix.h"

namespace cudnn_ci {

// `docker run ...` with the installed tree in /opt/cudnn-ci, as one line for a shell; empty when the image is
// not identified, or when the line would be cut, changed by cleaning, or find less than was found here.
// `runners` are the variables that the runner has set, by name: they are set again. A matrix or plugin folder
// that does not come with the tree is expected in the caller's folder ($PWD), where it lies as from the
// folder this run was in; an absolute one of plugins at the same path.
std::string ContainerCommand(const RunOptions& options, const Invocation& invocation, const Matrix& matrix,
                             const Variables& runners);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_CONTAINER_COMMAND_H_
