// Sums of rows of 16-bit integers modulo 2^16, by the widest registers that the processor has: what the
// references spend their time in. Every processor gives the same numbers. Knows no operation.
#ifndef CUDNN_CI_PLUGINS_CONV_REFERENCE_ROWS_H_
#define CUDNN_CI_PLUGINS_CONV_REFERENCE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudnn_ci {

using Element = std::uint16_t;  // unsigned: arithmetic modulo 2^16 is defined

// Rows that are added in one go.
constexpr std::size_t kRowsAtOnce = 4;

// sums[i] +=, or -=, source[row + i] for every `row` of `rows`, whose number is a multiple of kRowsAtOnce,
// and i from 0 to `count` - 1. The sums lie in none of the rows.
void AddRows(const Element* source, const std::vector<std::int64_t>& rows, Element* sums, std::int64_t count);
void SubtractRows(const Element* source, const std::vector<std::int64_t>& rows, Element* sums,
                  std::int64_t count);

// sums[i] += factor * row[i] for i from 0 to `count` - 1.
void AddScaled(Element factor, const Element* row, Element* sums, std::int64_t count);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_REFERENCE_ROWS_H_
