// How the process of a framework went, judged in the order in which one cause hides another: its import, its
// end, the GPUs that it sees, its exceptions. Each function returns whether that went well, and reports a
// finding where it did not.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_HOW_IT_WENT_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_HOW_IT_WENT_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "framework/frameworks.h"
#include "framework/interpreter.h"

namespace cudnn_ci {

// The text as a further part of a detail.
std::string Then(const std::string& text);

bool JudgeImport(Context& ctx, const Framework& framework, const Asked& asked);
bool JudgeEnd(Context& ctx, const Framework& framework, const Interpreter& p, const Asked& asked);
// Whether it sees as many.
bool JudgeGpus(Context& ctx, const Framework& framework, const Asked& asked, int gpus);
// Skips the case where memory was wanting.
bool JudgeErrors(Context& ctx, const Framework& framework, const Asked& asked);

// "PyTorch 2.11.0 is built without CUDA", or what it says of itself and where it was to look.
std::string WhyNoGpu(const Framework& framework, const Asked& asked);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_HOW_IT_WENT_H_
