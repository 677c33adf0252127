// What memory holds before a kernel runs. NaNs in every type that has one, so that what is read before it was
// written, or beyond the end of an input, shows in the result.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_FILL_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_FILL_H_

#include <cstdint>

#include "common/numeric/data_type.h"

namespace cudnn_ci {

// The word that fills outputs, the same in each of its parts of a type's size. Not what fills the places a
// kernel must not read: it may carry such a NaN over to its output unchanged, and an element that was written
// wrongly was written. int8 has no NaN: data for it never give -128 (compare.h holds them to that).
inline std::uint32_t UnwrittenWord(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return 0x80808080u;
    case DataType::kInt32:
      return 0x80000000u;  // likewise: no sum of the oracle's data comes near it
    case DataType::kFloat8E4m3:
      return 0xFFFFFFFFu;  // its other NaN, 0x7F, is what GPUs convert every NaN to
    case DataType::kFloat8E5m2:
      return 0xFEFEFEFEu;
    case DataType::kFloat32:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat64:
      break;
  }
  return 0xFFFEFFFEu;
}

// Another word of the same kind, for a run that follows one on that word: what neither wrote differs then. In
// int8 it is a number like others, and no result is held to it alone.
inline std::uint32_t OtherUnwrittenWord(DataType type) {
  switch (type) {
    case DataType::kInt8:
      return 0x81818181u;
    case DataType::kInt32:
      return 0x80000001u;
    case DataType::kFloat8E4m3:
      return 0x7F7F7F7Fu;  // there is no third NaN
    case DataType::kFloat8E5m2:
      return 0xFDFDFDFDu;
    case DataType::kFloat32:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat64:
      break;
  }
  return 0xFFFDFFFDu;
}

// The byte that fills workspaces and the guards that a kernel might read.
inline constexpr unsigned char kNanByte = 0xFF;

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_FILL_H_
