// What makers of exact problems share. Must not know CUDA, a framework or the SDK.
#ifndef CUDNN_CI_PLUGINS_KERNELS_PROBLEM_PARTS_H_
#define CUDNN_CI_PLUGINS_KERNELS_PROBLEM_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/problem.h"

namespace cudnn_ci {

inline std::size_t At(std::int64_t index) { return static_cast<std::size_t>(index); }

// The input of these values, last axis fastest, without gaps. Each is representable in the type.
KernelInput InputOf(const char* name, DataType type, std::vector<std::int64_t> shape,
                    const std::vector<double>& values);

// A number from 0 to below `below`: the same for the same seed and number.
std::int64_t Draw(std::uint64_t seed, std::int64_t number, std::int64_t below);

// An order of `count` things.
std::vector<std::int64_t> Order(std::int64_t count, std::uint64_t seed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_PROBLEM_PARTS_H_
