// What keeps every process of a check from being started, known before one is tried.
#ifndef CUDNN_CI_CLI_IMPEDIMENT_H_
#define CUDNN_CI_CLI_IMPEDIMENT_H_

#include <optional>
#include <string>

#include "model/finding.h"

namespace cudnn_ci {

// A limit of the runner that is too low, or an image without the dynamic loader that `worker` needs. Nothing
// is run then: each case would only say it again. Empty: nothing is known to be in the way.
std::optional<Finding> FindImpediment(const std::string& worker);

// The detail and the remedy, for a command that has no reports.
std::string InWords(const Finding& impediment);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_IMPEDIMENT_H_
