// Runs one kernel that fills an array of 32-bit words by a formula, and compares the words: what a check
// needs to prove that a kernel runs. Through the driver API alone; reports nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_KERNEL_H_
#define CUDNN_CI_PLUGINS_COMMON_KERNEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/driver_api.h"

namespace cudnn_ci {

// Launches `name(u32* out, u32 count, u32 seed)` with a thread for each word, in blocks of `block`, in the
// current context, waits for it and returns the words. They are filled with another value before: a kernel
// that does nothing must not find its result of an earlier run there. Throws std::runtime_error naming the
// call that failed.
std::vector<std::uint32_t> RunFillKernel(const DriverApi& api, CUmodule module, const char* name,
                                         std::uint32_t count, unsigned block, std::uint32_t seed);

// "3 of 1024 elements are wrong; first at 7: got 1, expected 2"; empty if all are right.
std::string DescribeWrongWords(const std::vector<std::uint32_t>& words,
                               const std::function<std::uint32_t(std::uint32_t index)>& expected);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_KERNEL_H_
