// Whether a row of known regressions speaks of a convolution. Arithmetic alone; must not know CUDA, cuDNN or
// the SDK.
#ifndef CUDNN_CI_PLUGINS_CONV_KNOWN_SHAPES_H_
#define CUDNN_CI_PLUGINS_CONV_KNOWN_SHAPES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conv/operation.h"

namespace cudnn_ci {

// A convolution as a row of the table sees it; names are those of the checks' parameters.
struct KnownSubject {
  Problem problem;
  std::string api, dtype, layout, math;
  std::string output_dtype = {};  // of the result, the inputs' where it has theirs
};

// What computes it. Any: it is not known yet, and each may be chosen.
struct KnownChoice {
  bool any = true;
  std::string algorithm;     // of the legacy API, "algo_0"; empty: none is meant
  std::int64_t engine = -1;  // of the graph API; -1: none is meant
};

// Whether each of these holds of the convolution (matrices/README.md has their meaning). One that is not
// known here holds of none; the limits of compute capabilities hold of all: they are not about convolutions.
bool HitsConvolution(const std::map<std::string, std::vector<std::string>>& hits, const KnownSubject& subject,
                     const KnownChoice& choice);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_KNOWN_SHAPES_H_
