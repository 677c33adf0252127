// What host and image are, as JSON: `cudnn-ci facts --json`, described by schemas/facts.schema.json.
#ifndef CUDNN_CI_REPORT_FORMATS_FACTS_JSON_H_
#define CUDNN_CI_REPORT_FORMATS_FACTS_JSON_H_

#include <string>

#include "model/inventory/inventory.h"

namespace cudnn_ci {

// `version`: of cudnn-ci. `facts`: those that the inventory was made of; every one of them stands under
// "subjects".
std::string FactsJson(const Inventory& inventory, const Facts& facts, const std::string& version);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_FACTS_JSON_H_
