// The promises of a matrix beside what is found. Private to model.
#ifndef CUDNN_CI_MODEL_INVENTORY_INVENTORY_PROMISES_H_
#define CUDNN_CI_MODEL_INVENTORY_INVENTORY_PROMISES_H_

#include <map>
#include <string>
#include <vector>

#include "model/inventory/inventory.h"

namespace cudnn_ci {

// A line for each promise of the runner's, and for each of the image's and each subject that is tested. By
// versions alone: whether what is there works is for a run to say.
std::vector<FoundPromise> Compare(const std::map<std::string, std::string>& contract, const HostFacts& host,
                                  bool has_driver, const std::vector<SubjectView>& subjects);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_INVENTORY_INVENTORY_PROMISES_H_
