// Builds of frameworks for the CPU in an environment that has been made for a GPU.
#ifndef CUDNN_CI_PLUGINS_IMAGE_CPU_BUILDS_H_
#define CUDNN_CI_PLUGINS_IMAGE_CPU_BUILDS_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "image/contents/image_files.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

// Frameworks of which only builds for the CPU are on record, beside libraries of CUDA on record that no
// package requires, extras included: a build for GPUs has brought them and was replaced. In words, one for
// each. None where another framework is for GPUs: one for the CPU beside it is usual.
std::vector<std::string> CpuBuildsBesideCuda(const ImageFiles& image, const SymbolRules& rules,
                                             const TableEntry& entry);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_CPU_BUILDS_H_
