// The judged files as a table for the reports: cudnn-ci/table/1, which harness/docs/reports-in-detail.md
// describes.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_TABLE_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_TABLE_H_

#include <string>
#include <vector>

#include "image/device_code/device_code_judgement.h"

namespace cudnn_ci {

// One row for each file, those that serve least first. A file below one of `folders` (of packages) is named
// by its path from there.
std::string DeviceCodeTable(const DeviceCodeJudgement& judgement, const PromisedCards& cards,
                            const std::vector<std::string>& folders = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_DEVICE_CODE_TABLE_H_
