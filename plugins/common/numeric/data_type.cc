// Rounding and encoding of the small types from their definitions. Knows no library and no check.
#include "common/numeric/data_type.h"

#include <algorithm>
#include <bit>
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

// binary64 and binary32 as integers.
constexpr int kDoubleFraction = 52, kDoubleBias = 1023, kFloatFraction = 23, kFloatBias = 127;

// Of a number that is neither 0 nor subnormal.
int ExponentOf(std::uint64_t bits) { return static_cast<int>(bits >> kDoubleFraction & 0x7FF) - kDoubleBias; }

double RoundToFormat(const Format& f, double value) {
  if (value == 0 || std::isnan(value)) return value;
  const double beyond =
      std::copysign(f.saturates ? f.largest : std::numeric_limits<double>::infinity(), value);
  if (std::isinf(value)) return beyond;
  auto bits = std::bit_cast<std::uint64_t>(value);
  double rounded = 0;
  if (ExponentOf(bits) >= f.min_exponent) {
    // Half of what is dropped, less one where the last bit that stays is even: a tie goes to the even one. A
    // carry into the exponent is right.
    const int dropped = kDoubleFraction - (f.precision - 1);
    const std::uint64_t last = std::uint64_t{1} << dropped;
    bits += last / 2 - 1 + (bits >> dropped & 1);
    rounded = std::bit_cast<double>(bits & ~(last - 1));
  } else {
    // Below the normal range the spacing of values no longer shrinks. Scaling by a power of two is exact, so
    // nearbyint is the one rounding.
    const int spacing = f.min_exponent - (f.precision - 1);
    rounded = std::ldexp(std::nearbyint(std::ldexp(value, -spacing)), spacing);
  }
  return std::fabs(rounded) > f.largest ? beyond : rounded;
}

// The bits below the sign of a finite value of the format.
unsigned EncodeMagnitude(const Format& f, double magnitude) {
  if (magnitude == 0) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const int exponent = ExponentOf(bits), fraction = f.precision - 1;
  if (exponent < f.min_exponent)
    return static_cast<unsigned>(std::ldexp(magnitude, fraction - f.min_exponent));
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << kDoubleFraction) - 1;
  return (static_cast<unsigned>(exponent - f.min_exponent + 1) << fraction) +
         static_cast<unsigned>((bits & kFraction) >> (kDoubleFraction - fraction));
}

float DecodeMagnitude(const Format& f, unsigned bits) {
  const int width = f.precision - 1, exponent = static_cast<int>(bits >> width);
  const unsigned fraction = bits & ((1U << width) - 1);
  if (exponent == 0) return std::ldexp(static_cast<float>(fraction), f.min_exponent - width);
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent - 1 + f.min_exponent + kFloatBias)
                                  << kFloatFraction |
                              fraction << (kFloatFraction - width));
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

const char* NameOf(DataType type) {
  return std::find_if(std::begin(kNames), std::end(kNames),
                      [&](const auto& known) { return known.type == type; })
      ->name;
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
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
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

float DecodeBfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

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
