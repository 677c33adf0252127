// The command init: a first matrix for this image, written from what is found in it.
#ifndef CUDNN_CI_CLI_INIT_H_
#define CUDNN_CI_CLI_INIT_H_

#include "base/result.h"
#include "cli/options.h"
#include "cli/session.h"
#include "model/knowledge/knowledge.h"

namespace cudnn_ci {

// Discovers what is here, by the names of packages, and writes a matrix to options.init_file, or to stdout
// for "-". Returns what to say then, which is empty for stdout. A file that is there is never replaced: an
// error.
Result<std::string> WriteFirstMatrix(const Options& options, const PackageNames& names, Session* session);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_INIT_H_
