// Rounding and encoding of the small types from their definitions. Knows no library and no check.
#include "common/numeric/data_type.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace cudnn_ci {
namespace {

// A binary format by its parameters. `precision` counts the implicit bit.
struct Format {
  int precision;
  int min_exponent;  // of normal numbers
  double largest;
  bool saturates;  // what is larger becomes the largest, else infinity
};
constexpr Format kFloat16Format = {11, -14, 65504, false};
// The upper half of binary32.
constexpr Format kBfloat16Format = {8, -126, 0x1.FEp127, false};
// Without infinities: all but the last encoding of the highest exponent are numbers.
constexpr Format kFloat8E4m3Format = {4, -6, 448, true};
constexpr Format kFloat8E5m2Format = {3, -14, 57344, true};

double RoundToFormat(const Format& f, double value) {
  if (value == 0 || std::isnan(value)) return value;
  const double beyond =
      std::copysign(f.saturates ? f.largest : std::numeric_limits<double>::infinity(), value);
  if (std::isinf(value)) return beyond;
  // Below the normal range the spacing of values no longer shrinks.
  const int exponent = std::max(std::ilogb(value), f.min_exponent);
  const int spacing = exponent - (f.precision - 1);
  // Scaling by a power of two is exact, so nearbyint is the one rounding.
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
  return std::fabs(rounded) > f.largest ? beyond : rounded;
}

// The bits below the sign of a finite value of the format.
unsigned EncodeMagnitude(const Format& f, double magnitude) {
  if (magnitude == 0) return 0;
  const int exponent = std::max(std::ilogb(magnitude), f.min_exponent);
  const auto significand = static_cast<unsigned>(std::ldexp(magnitude, f.precision - 1 - exponent));
  // The leading bit of a normal number adds one to the exponent field.
  return (static_cast<unsigned>(exponent - f.min_exponent) << (f.precision - 1)) + significand;
}

float DecodeMagnitude(const Format& f, unsigned bits) {
  const int exponent = static_cast<int>(bits >> (f.precision - 1));
  const int hidden = 1 << (f.precision - 1);
  const int fraction = static_cast<int>(bits) & (hidden - 1);
  const int significand = exponent == 0 ? fraction : fraction + hidden;
  return std::ldexp(static_cast<float>(significand),
                    std::max(exponent, 1) - 1 + f.min_exponent - f.precision + 1);
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

constexpr struct {
  const char* name;
  DataType type;
} kNames[] = {{"float32", DataType::kFloat32},
              {"float16", DataType::kFloat16},
              {"bfloat16", DataType::kBfloat16},
              {"float64", DataType::kFloat64},
              {"int8", DataType::kInt8},
              {"int32", DataType::kInt32},
              {"float8_e4m3", DataType::kFloat8E4m3},
              {"float8_e5m2", DataType::kFloat8E5m2}};

template <class T>
T As(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void Put(T value, unsigned char* to) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

DataType DataTypeFrom(const std::string& name) {
  for (const auto& known : kNames)
    if (name == known.name) return known.type;
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
    case DataType::kInt32:
      return 4;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return 2;
    case DataType::kInt8:
    case DataType::kFloat8E4m3:
    case DataType::kFloat8E5m2:
      break;
  }
  return 1;
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
    case DataType::kFloat8E4m3:
      return RoundToFormat(kFloat8E4m3Format, value);
    case DataType::kFloat8E5m2:
      return RoundToFormat(kFloat8E5m2Format, value);
    case DataType::kInt8:
      return std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), -128.0, 127.0);
    case DataType::kInt32:
      return std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), -0x1p31, 0x1p31 - 1);
  }
  return value;
}

std::uint16_t EncodeFloat16(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  const unsigned magnitude = std::isnan(value)   ? 0x7e00
                             : std::isinf(value) ? 0x7c00
                                                 : EncodeMagnitude(kFloat16Format, std::fabs(value));
  return static_cast<std::uint16_t>(sign | magnitude);
}

std::uint16_t EncodeBfloat16(double value) {
  return static_cast<std::uint16_t>(BitsOf(static_cast<float>(value)) >> 16);
}

std::uint8_t EncodeFloat8E4m3(double value) {
  const unsigned sign = std::signbit(value) ? 0x80 : 0;
  const unsigned magnitude = std::isnan(value) ? 0x7f : EncodeMagnitude(kFloat8E4m3Format, std::fabs(value));
  return static_cast<std::uint8_t>(sign | magnitude);
}

std::uint8_t EncodeFloat8E5m2(double value) {
  const unsigned sign = std::signbit(value) ? 0x80 : 0;
  const unsigned magnitude = std::isnan(value) ? 0x7e : EncodeMagnitude(kFloat8E5m2Format, std::fabs(value));
  return static_cast<std::uint8_t>(sign | magnitude);
}

float DecodeFloat16(std::uint16_t bits) {
  const unsigned magnitude = bits & 0x7fff;
  const float value = magnitude > 0x7c00    ? std::numeric_limits<float>::quiet_NaN()
                      : magnitude == 0x7c00 ? std::numeric_limits<float>::infinity()
                                            : DecodeMagnitude(kFloat16Format, magnitude);
  return bits & 0x8000 ? -value : value;
}

float DecodeBfloat16(std::uint16_t bits) { return FloatOf(static_cast<std::uint32_t>(bits) << 16); }

float DecodeFloat8E4m3(std::uint8_t bits) {
  const unsigned magnitude = bits & 0x7f;
  const float value = magnitude == 0x7f ? std::numeric_limits<float>::quiet_NaN()
                                        : DecodeMagnitude(kFloat8E4m3Format, magnitude);
  return bits & 0x80 ? -value : value;
}

float DecodeFloat8E5m2(std::uint8_t bits) {
  const unsigned magnitude = bits & 0x7f;
  const float value = magnitude > 0x7c    ? std::numeric_limits<float>::quiet_NaN()
                      : magnitude == 0x7c ? std::numeric_limits<float>::infinity()
                                          : DecodeMagnitude(kFloat8E5m2Format, magnitude);
  return bits & 0x80 ? -value : value;
}

double Load(DataType type, const unsigned char* from) {
  switch (type) {
    case DataType::kFloat64:
      return As<double>(from);
    case DataType::kFloat32:
      break;
    case DataType::kFloat16:
      return static_cast<double>(DecodeFloat16(As<std::uint16_t>(from)));
    case DataType::kBfloat16:
      return static_cast<double>(DecodeBfloat16(As<std::uint16_t>(from)));
    case DataType::kFloat8E4m3:
      return static_cast<double>(DecodeFloat8E4m3(*from));
    case DataType::kFloat8E5m2:
      return static_cast<double>(DecodeFloat8E5m2(*from));
    case DataType::kInt8:
      return As<std::int8_t>(from);
    case DataType::kInt32:
      return As<std::int32_t>(from);
  }
  return static_cast<double>(As<float>(from));
}

void Store(DataType type, double value, unsigned char* to) {
  const double rounded = RoundTo(type, value);
  switch (type) {
    case DataType::kFloat64:
      return Put(rounded, to);
    case DataType::kFloat32:
      return Put(static_cast<float>(rounded), to);
    case DataType::kFloat16:
      return Put(EncodeFloat16(rounded), to);
    case DataType::kBfloat16:
      return Put(EncodeBfloat16(rounded), to);
    case DataType::kFloat8E4m3:
      return Put(EncodeFloat8E4m3(rounded), to);
    case DataType::kFloat8E5m2:
      return Put(EncodeFloat8E5m2(rounded), to);
    case DataType::kInt8:
      return Put(static_cast<std::int8_t>(rounded), to);
    case DataType::kInt32:
      return Put(static_cast<std::int32_t>(rounded), to);
  }
}

}  // namespace cudnn_ci
