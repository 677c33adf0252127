// How much of an ELF file is read at most, whatever its headers say: no healthy library has more.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_BOUNDS_H_
#define CUDNN_CI_IMAGE_ELF_ELF_BOUNDS_H_

#include <cstddef>
#include <cstdint>

namespace cudnn_ci {

inline constexpr uint64_t kMostElfSymbols = 1 << 21;
inline constexpr uint64_t kMostElfHeaders = 4096;         // of the program
inline constexpr uint64_t kMostDynamicEntries = 1 << 16;  // of a dynamic segment or section
inline constexpr uint64_t kMostNeededNames = 4096;        // of its entries with one tag
inline constexpr uint64_t kMostElfNameBytes = 128 << 20;
inline constexpr size_t kLongestElfName = 4096;

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_BOUNDS_H_
