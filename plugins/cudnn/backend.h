// cuDNN's graph API as far as plans need it that are built without a GPU: the device is described by a text,
// the operation graph takes no handle, and heuristics and plans are asked with that description in place of
// one. https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html Seen to work
// without a driver from cuDNN 9.8 to 9.22. Judges nothing; must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CUDNN_BACKEND_H_
#define CUDNN_CI_PLUGINS_CUDNN_BACKEND_H_

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/cudnn_api.h"
#include "common/graph_descriptor.h"

namespace cudnn_ci {

// A convolution forward, 3 by 3 or so, of which every cuDNN has engines.
struct PlanProblem {
  const char* name;  // "float16, channels last, 3x3"
  cudnnDataType_t type;
  bool channels_last;
  std::int64_t filter;  // its sizes
};

// What the heuristics gave for one problem, and the plans that were built of it. They live as long as this.
struct BuiltPlans {
  std::int64_t announced = 0, given = 0;  // configurations of engines
  std::vector<GraphDescriptor> plans;
  std::string refusal;  // the first plan that could not be built, in words
};

// A device described by a text, an H200, which problems share. Throws CudnnFailure. The table must outlive
// what is made with it; it is as thread-safe as the library.
GraphDescriptor DescribeDevice(const CudnnApi& api);

// Asks the heuristics, and builds plans of the first `most` configurations. Throws CudnnFailure where
// something other than a single plan fails.
BuiltPlans BuildPlans(const CudnnApi& api, const GraphDescriptor& device, const PlanProblem& problem,
                      std::int64_t most);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_BACKEND_H_
