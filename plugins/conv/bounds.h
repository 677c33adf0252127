// How far a right result may lie from the exact one: the table of errors that algorithms which transform
// their input make, with its sources. Must not know CUDA or cuDNN.
#ifndef CUDNN_CI_PLUGINS_CONV_BOUNDS_H_
#define CUDNN_CI_PLUGINS_CONV_BOUNDS_H_

#include "common/numeric/compare.h"
#include "conv/operation.h"
#include "conv/recipe.h"
#include "conv/reference.h"

namespace cudnn_ci {

// The largest error before the last rounding, of inputs of `type`, for data of the recipe, a bias included; 0
// for exact arithmetic.
double ErrorBound(Arithmetic arithmetic, DataType type, const Problem& problem, const Recipe& recipe);

// The same of a transform on normally distributed data.
double NormalTransformBound(Arithmetic arithmetic, DataType type, const Problem& problem);

// Every element of an output buffer of `type` against the reference; see common/numeric/compare.h.
Judgement JudgeOutput(const Reference& reference, DataType type, Layout layout, double bound,
                      const void* output);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_BOUNDS_H_
