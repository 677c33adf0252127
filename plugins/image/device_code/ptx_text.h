// What the text of PTX says of itself. https://docs.nvidia.com/cuda/parallel-thread-execution/#directives
// Pure functions.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_PTX_TEXT_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_PTX_TEXT_H_

#include <string_view>

#include "image/device_code/fatbin.h"

namespace cudnn_ci {

struct PtxHead {
  bool found = false;        // both directives are there
  int major = 0, minor = 0;  // of `.version 8.7`
  int architecture = 0;      // of `.target sm_90a`
  CodeVariant variant = CodeVariant::kGeneric;
};

// The first `.version` and `.target` outside comments.
PtxHead ReadPtxHead(std::string_view text);

// True if it holds a kernel or a function.
bool PtxHoldsCode(std::string_view text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_PTX_TEXT_H_
