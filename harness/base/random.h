// Unpredictable random numbers, from the kernel.
#ifndef CUDNN_CI_BASE_RANDOM_H_
#define CUDNN_CI_BASE_RANDOM_H_

#include <cstdint>

#include "base/result.h"

namespace cudnn_ci {

// 64 bits of the kernel's (getrandom). An error when it gives none: what can be guessed is no substitute.
Result<uint64_t> RandomBits();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_RANDOM_H_
