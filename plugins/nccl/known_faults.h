// Which collectives a row of known regressions hits.
#ifndef CUDNN_CI_PLUGINS_NCCL_KNOWN_FAULTS_H_
#define CUDNN_CI_PLUGINS_NCCL_KNOWN_FAULTS_H_

#include "common/known_regressions.h"
#include "nccl/collective_spec.h"

namespace cudnn_ci {

// As messages call it (the title in knowledge/packages.json).
inline constexpr char kNccl[] = "NCCL";

// A row that says what is not known here hits nothing.
bool HitsCollective(const Predicates& hits, const CollectiveSpec& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_KNOWN_FAULTS_H_
