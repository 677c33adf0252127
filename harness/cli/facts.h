// The command facts: what host and image are, and what a matrix promises beside it.
#ifndef CUDNN_CI_CLI_FACTS_H_
#define CUDNN_CI_CLI_FACTS_H_

#include <optional>
#include <string>

#include "cli/options.h"

namespace cudnn_ci {

// Discovers what is here for the subjects of options.matrix or, without one, for what the loader finds and
// the image's Python environments. Returns the screen, or the JSON; nothing if the matrix is invalid, which
// was said on stderr then.
std::optional<std::string> FactsText(const Options& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_FACTS_H_
