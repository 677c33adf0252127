// How much of an ELF file is read at most, whatever its headers say: no healthy file has more. A count of 16
// bits is its own bound.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_BOUNDS_H_
#define CUDNN_CI_IMAGE_ELF_ELF_BOUNDS_H_

#include <cstddef>
#include <cstdint>

namespace cudnn_ci {

// Of a table of symbols that is kept; of all tables of a file in which addresses or an object are looked up.
inline constexpr uint64_t kMostElfSymbols = 1 << 21, kMostElfSymbolsSearched = 4 << 20;
inline constexpr uint64_t kMostElfNameBytes = 128 << 20;  // of a table of symbols' names
inline constexpr uint64_t kMostElfSegments = 4096;        // among which each address is looked up
inline constexpr uint64_t kMostElfSections = 200'000;
inline constexpr uint64_t kMostElfSectionNameBytes = 16 << 20;  // of the table of their names
inline constexpr uint64_t kMostDynamicEntries = 1 << 16;        // of a dynamic segment or section
inline constexpr uint64_t kMostNeededNames = 4096;              // of its entries with one tag
// Of a name of a library or version; of all of them that are kept of a file.
inline constexpr size_t kLongestElfName = 4096;
inline constexpr uint64_t kMostElfTextBytes = 1 << 20;
inline constexpr size_t kLongestElfSymbolName = 255;  // of a function or a section; what is longer is cut

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_BOUNDS_H_
