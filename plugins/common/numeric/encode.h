// Writes small integers as elements of any type, in either layout. Knows no operation.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ENCODE_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ENCODE_H_

#include <cstdint>

#include "common/numeric/data_type.h"
#include "common/numeric/integers.h"

namespace cudnn_ci {

// `out` has room for SizeOf(type) bytes for each element and is aligned for the type. The integers lie in
// [-kMaxValue, kMaxValue], and their values must be representable in the type.
void EncodeData(const TwoScale<std::int8_t>& values, const Extent& extent, DataType type, Layout layout,
                unsigned char* out);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ENCODE_H_
