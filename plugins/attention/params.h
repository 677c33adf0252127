// The parameters of an attention as a matrix gives them, and the problem that they name. Must not know CUDA,
// cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_PARAMS_H_
#define CUDNN_CI_PLUGINS_ATTENTION_PARAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/numeric/attention_spec.h"

namespace cudnn_ci {

inline constexpr std::int64_t kDefaultAttentionWindow = 96;

// The values that the schema of the check allows (checks.cc).
struct AttentionParams {
  std::string dtype, layout, mask, bias, bias_gradient, logits, data, statistics, deterministic, algo, shape;
  std::vector<std::int64_t> q,
      kv;  // of the shape: batch, heads, length, size; heads, length and perhaps size
  std::int64_t window = 0, page_size = 0;

  // Whether q and kv have as many numbers as that.
  bool Sized() const { return q.size() == 4 && (kv.size() == 2 || kv.size() == 3); }
  // Where Sized().
  AttentionShape Shape() const;
  // Where Sized(). With lengths these differ: the first entry lacks one of each, the others more and more.
  AttentionProblemSpec Spec(bool backward) const;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_ATTENTION_PARAMS_H_
