// What is known of a cuDNN's attention, for a package of the image whose attention is wrong.
#ifndef CUDNN_CI_PLUGINS_COMMON_KNOWN_ATTENTION_H_
#define CUDNN_CI_PLUGINS_COMMON_KNOWN_ATTENTION_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "common/numeric/attention_spec.h"

namespace cudnn_ci {

// "; known: wrong in cuDNN 9.15.1 to 9.23.2, ...", of the rows that hit this pass of an attention in this
// release of cuDNN; empty: there is none.
std::string KnownOfAttention(const Context& ctx, const std::string& cudnn_version,
                             const AttentionProblemSpec& pass);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_KNOWN_ATTENTION_H_
