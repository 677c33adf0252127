// Whether a program resolves, and libraries that no interpreter loads.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_NATIVE_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_NATIVE_H_

#include <string>

#include "image/symbols/symbols_judge.h"

namespace cudnn_ci {

// The program at this path with all that it needs. The faults are those of one process, not yet merged by
// cause.
SymbolJudgement JudgeProgram(const ImageFiles& image, const std::string& program, const SymbolRules& rules,
                             LoaderFiles* files);

// Each library of the image, opened for itself: one for GPUs must have what it needs; symbols without a
// version may come from the program that opens it.
SymbolJudgement JudgeLibraries(const ImageFiles& image, const SymbolRules& rules, LoaderFiles* files);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_NATIVE_H_
