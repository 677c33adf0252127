// The element types that tensors have, and exact conversions to and from them. Written from their definitions
// alone (IEEE 754; for the 8-bit ones https://arxiv.org/abs/2209.05433); must not know CUDA: the library
// under test may not grade itself.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_DATA_TYPE_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_DATA_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudnn_ci {

enum class DataType { kFloat32, kFloat16, kBfloat16, kFloat64, kInt8, kInt32, kFloat8E4m3, kFloat8E5m2 };
enum class Layout { kNchw, kNhwc };  // with depth: NCDHW, NDHWC

// "float32", "float16", "bfloat16", "float64", "int8", "int32", "float8_e4m3", "float8_e5m2"; "nchw",
// "nhwc". Throw std::invalid_argument for others.
DataType DataTypeFrom(const std::string& name);
Layout LayoutFrom(const std::string& name);
// The name that DataTypeFrom takes.
const char* NameOf(DataType type);

// Bytes of one element.
std::size_t SizeOf(DataType type);

// `value` rounded once, to nearest, ties to even, to `type`. Overflow gives infinity; in the 8-bit types
// and in integers the largest value, as GPUs convert to them. NaN stays NaN, of integers it becomes 0.
double RoundTo(DataType type, double value);

// The encoding of a value. RoundTo comes first: `value` must be representable in the type.
std::uint16_t EncodeFloat16(double value);
std::uint16_t EncodeBfloat16(double value);
std::uint8_t EncodeFloat8E4m3(double value);
std::uint8_t EncodeFloat8E5m2(double value);
// The value of an encoding, exactly. NaN for NaN.
float DecodeFloat16(std::uint16_t bits);
float DecodeBfloat16(std::uint16_t bits);
float DecodeFloat8E4m3(std::uint8_t bits);
float DecodeFloat8E5m2(std::uint8_t bits);

// One element of any type in memory, however aligned. Store rounds first.
double Load(DataType type, const unsigned char* from);
void Store(DataType type, double value, unsigned char* to);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_DATA_TYPE_H_
