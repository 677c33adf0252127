// The floating-point types a convolution is run in, and exact conversions to and from them. Written
// from IEEE 754 alone; must not know CUDA: the library under test may not grade itself.
#ifndef CUDNN_CI_PLUGINS_CONV_NUMERIC_H_
#define CUDNN_CI_PLUGINS_CONV_NUMERIC_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudnn_ci {

enum class DataType { kFloat32, kFloat16, kBfloat16, kFloat64 };
enum class Layout { kNchw, kNhwc };  // with depth: NCDHW, NDHWC

// "float32", "float16", "bfloat16", "float64"; "nchw", "nhwc". Throw std::invalid_argument for others.
DataType DataTypeFrom(const std::string& name);
Layout LayoutFrom(const std::string& name);

// Bytes of one element.
std::size_t SizeOf(DataType type);

// `value` rounded once, to nearest, ties to even, to `type`; overflow gives infinity.
double RoundTo(DataType type, double value);

// The encoding of a value. RoundTo comes first: `value` must be representable in the type.
std::uint16_t EncodeFloat16(double value);
std::uint16_t EncodeBfloat16(double value);
// The value of an encoding, exactly. NaN for NaN.
float DecodeFloat16(std::uint16_t bits);
float DecodeBfloat16(std::uint16_t bits);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_NUMERIC_H_
