// The scales of the exact data of attention in 8 bits. Must not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SCALES_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SCALES_H_

#include "common/numeric/attention_numbers.h"

namespace cudnn_ci {

// Makes of numbers what is stored of them: adds the scales and the largest magnitudes, and multiplies the
// tensors by their scales. `most_of_ds`: the largest magnitude of the gradient of the scores.
void StoreScaled(const AttentionProblemSpec& spec, float most_of_ds, AttentionNumbers* numbers);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ATTENTION_SCALES_H_
