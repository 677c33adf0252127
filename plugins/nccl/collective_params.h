// The parameters of a collective as a matrix gives them, which all checks of collectives have.
#ifndef CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_PARAMS_H_
#define CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_PARAMS_H_

#include <cudnn_ci/check.hpp>

#include <cstdint>
#include <string>

#include "nccl/collective_spec.h"

namespace cudnn_ci {

// The values that DescribeCollective allows.
struct CollectiveParams {
  std::string collective, dtype, reduction, place;
  std::int64_t count = 1, shift = 0;

  // Of one rank.
  CollectiveSpec Spec() const;
};

void DescribeCollective(Schema<CollectiveParams>& schema);
// Adds what no run of so many ranks could do.
void ValidateCollective(const CollectiveParams& params, int ranks, Problems& problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_PARAMS_H_
