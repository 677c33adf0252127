// Memory compared as a whole, by all CPUs. Knows no types.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_SAME_BYTES_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_SAME_BYTES_H_

#include <cstddef>

namespace cudnn_ci {

// The place of the first of `bytes` bytes in which the two differ; `bytes` where none does.
std::size_t FirstDifference(const unsigned char* a, const unsigned char* b, std::size_t bytes);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_SAME_BYTES_H_
