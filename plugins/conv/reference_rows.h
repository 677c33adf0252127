// Sums of rows of integers modulo 2^16, by the widest registers that the processor has: what the references
// spend their time in. Every processor gives the same numbers. Knows no operation.
#ifndef CUDNN_CI_PLUGINS_CONV_REFERENCE_ROWS_H_
#define CUDNN_CI_PLUGINS_CONV_REFERENCE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudnn_ci {

using Element = std::uint16_t;  // unsigned: arithmetic modulo 2^16 is defined

// Places that SumRows sums in one go.
constexpr std::int64_t kLanes = 64;

// sums[i] = the sum of source[row + i] over the rows of `add`, less that over the rows of `subtract`, for i
// from 0 to `count` - 1. The source's values lie in [-kMaxValue, kMaxValue]. Works on whole kLanes: reads so
// far beyond `count` in each row and leaves numbers of no meaning there in `sums`.
void SumRows(const std::int8_t* source, const std::vector<std::int64_t>& add,
             const std::vector<std::int64_t>& subtract, Element* sums, std::int64_t count);

// sums[i] += factor * row[i] for i from 0 to `count` - 1.
void AddScaled(Element factor, const Element* row, Element* sums, std::int64_t count);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_REFERENCE_ROWS_H_
