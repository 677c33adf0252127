// The judged files as a table for the reports: cudnn-ci/table/1, which harness/docs/reports-in-detail.md
// describes.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_TABLE_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_TABLE_H_

#include <string>

#include "image/device_code_judgement.h"

namespace cudnn_ci {

// One row for each file, those that serve least first.
std::string DeviceCodeTable(const DeviceCodeJudgement& judgement, const PromisedCards& cards);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_TABLE_H_
