// Rounding and encoding of the 16-bit types from their definitions. Knows no library and no check.
#include "conv/numeric.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace cudnn_ci {
namespace {

// A binary format by its parameters: IEEE 754 binary16, and bfloat16, which is the upper half of
// binary32. `precision` counts the implicit bit.
struct Format {
  int precision;
  int min_exponent, max_exponent;  // of normal numbers
};
constexpr Format kFloat16Format = {11, -14, 15};
constexpr Format kBfloat16Format = {8, -126, 127};

double RoundToFormat(const Format& f, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  // Below the normal range the spacing of values no longer shrinks.
  const int exponent = std::max(std::ilogb(value), f.min_exponent);
  const int spacing = exponent - (f.precision - 1);
  // Scaling by a power of two is exact, so nearbyint is the one rounding.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
  const double limit = std::ldexp(1.0, f.max_exponent + 1);
  if (std::fabs(rounded) >= limit) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

std::uint32_t BitsOf(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float FloatOf(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

DataType DataTypeFrom(const std::string& name) {
  if (name == "float32") return DataType::kFloat32;
  if (name == "float16") return DataType::kFloat16;
  if (name == "bfloat16") return DataType::kBfloat16;
  if (name == "float64") return DataType::kFloat64;
  throw std::invalid_argument("unknown data type '" + name + "'");
}

Layout LayoutFrom(const std::string& name) {
  if (name == "nchw") return Layout::kNchw;
  if (name == "nhwc") return Layout::kNhwc;
  throw std::invalid_argument("unknown layout '" + name + "'");
}

std::size_t SizeOf(DataType type) {
  switch (type) {
    case DataType::kFloat64:
      return 8;
    case DataType::kFloat32:
      return 4;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      break;
  }
  return 2;
}

double RoundTo(DataType type, double value) {
  switch (type) {
    case DataType::kFloat64:
      break;
    case DataType::kFloat32:
      return static_cast<double>(static_cast<float>(value));
    case DataType::kFloat16:
      return RoundToFormat(kFloat16Format, value);
    case DataType::kBfloat16:
      return RoundToFormat(kBfloat16Format, value);
  }
  return value;
}

std::uint16_t EncodeFloat16(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), kFloat16Format.min_exponent);
  // 1024 and more for normal numbers, whose leading bit then adds one to the exponent field.
  const auto significand = static_cast<std::uint16_t>(std::ldexp(magnitude, 10 - exponent));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + significand));
}

std::uint16_t EncodeBfloat16(double value) {
  return static_cast<std::uint16_t>(BitsOf(static_cast<float>(value)) >> 16);
}

float DecodeFloat16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  float magnitude;
  if (exponent == 0x1f) {
    magnitude =
        fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

float DecodeBfloat16(std::uint16_t bits) { return FloatOf(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace cudnn_ci
