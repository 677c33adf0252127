// Which known regressions of cuDNN hit an attention.
#ifndef CUDNN_CI_PLUGINS_COMMON_ATTENTION_FAULTS_H_
#define CUDNN_CI_PLUGINS_COMMON_ATTENTION_FAULTS_H_

#include <cstdint>
#include <string>

#include "common/known_regressions.h"
#include "common/numeric/attention_spec.h"

namespace cudnn_ci {

// Whether all that a row says holds of an attention by an engine; less than 0: any may be chosen. A predicate
// that is not known here holds of none.
bool HitsAttention(const Predicates& hits, const AttentionProblemSpec& spec, std::int64_t engine);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_ATTENTION_FAULTS_H_
