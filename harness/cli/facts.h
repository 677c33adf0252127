// The command facts: what host and image are, and what a matrix promises beside it.
#ifndef CUDNN_CI_CLI_FACTS_H_
#define CUDNN_CI_CLI_FACTS_H_

#include <optional>
#include <string>

#include "cli/options.h"

namespace cudnn_ci {

// Discovers what is here for the subjects of options.matrix or, without one, for what the loader finds and
// the image's Python environments. Returns the screen, or the JSON. Nothing if the matrix is invalid, what
// was looked at did not answer, or a signal came: *exit_code says which, and why was said on stderr.
std::optional<std::string> FactsText(const Options& options, int* exit_code);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_FACTS_H_
