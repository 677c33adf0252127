// Builds of frameworks for the CPU in an environment that has been made for a GPU.
#ifndef CUDNN_CI_PLUGINS_IMAGE_CPU_BUILDS_H_
#define CUDNN_CI_PLUGINS_IMAGE_CPU_BUILDS_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "image/contents/image_files.h"
#include "image/loader/loader_scope.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

struct CpuBuild {
  std::string framework, package;     // "PyTorch", "torch 2.8.0+cpu"
  std::vector<std::string> unneeded;  // of CUDA, with their versions: "nvidia-cudnn-cu12 9.10.2.21"

  std::string Text() const;
};

// Frameworks of which only builds for the CPU are on record, beside libraries of CUDA on record that no
// package requires, extras included, and that no file of another package needs: a build for GPUs has brought
// them and was replaced. None where another framework is for GPUs: one for the CPU beside it is usual.
std::vector<CpuBuild> CpuBuildsBesideCuda(const ImageFiles& image, const SymbolRules& rules,
                                          const TableEntry& entry, LoaderFiles* files);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_CPU_BUILDS_H_
