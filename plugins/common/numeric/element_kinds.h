// The element types as template parameters, for loops over whole tensors. Internal to this folder.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_ELEMENT_KINDS_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_ELEMENT_KINDS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "common/numeric/data_type.h"

namespace cudnn_ci {

// A kind says how an element is stored and read. Got is a type that holds every value of it exactly.
struct Float32Kind {
  static constexpr DataType kType = DataType::kFloat32;
  using Stored = float;
  using Got = float;
  static Got Read(Stored v) { return v; }
  static Stored Encode(double rounded) { return static_cast<Stored>(rounded); }
};
struct Float64Kind {
  static constexpr DataType kType = DataType::kFloat64;
  using Stored = double;
  using Got = double;
  static Got Read(Stored v) { return v; }
  static Stored Encode(double rounded) { return rounded; }
};
struct Int8Kind {
  static constexpr DataType kType = DataType::kInt8;
  using Stored = std::int8_t;
  using Got = float;
  static Got Read(Stored v) { return v; }
  static Stored Encode(double rounded) { return static_cast<Stored>(rounded); }
};
struct Int32Kind {
  static constexpr DataType kType = DataType::kInt32;
  using Stored = std::int32_t;
  using Got = double;
  static Got Read(Stored v) { return v; }
  static Stored Encode(double rounded) { return static_cast<Stored>(rounded); }
};
struct Bfloat16Kind {
  static constexpr DataType kType = DataType::kBfloat16;
  using Stored = std::uint16_t;
  using Got = float;
  static Got Read(Stored v) { return DecodeBfloat16(v); }
  static Stored Encode(double rounded) { return EncodeBfloat16(rounded); }
};
// Decoding takes more than a look into a table.
struct Float16Kind {
  static constexpr DataType kType = DataType::kFloat16;
  using Stored = std::uint16_t;
  using Got = float;
  static Got Read(Stored v) {
    static const std::vector<float> kValues = [] {
      std::vector<float> all(1 << 16);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = DecodeFloat16(static_cast<std::uint16_t>(i));
      return all;
    }();
    return kValues[v];
  }
  static Stored Encode(double rounded) { return EncodeFloat16(rounded); }
};
struct Float8E4m3Kind {
  static constexpr DataType kType = DataType::kFloat8E4m3;
  using Stored = std::uint8_t;
  using Got = float;
  static Got Read(Stored v) { return DecodeFloat8E4m3(v); }
  static Stored Encode(double rounded) { return EncodeFloat8E4m3(rounded); }
};
struct Float8E5m2Kind {
  static constexpr DataType kType = DataType::kFloat8E5m2;
  using Stored = std::uint8_t;
  using Got = float;
  static Got Read(Stored v) { return DecodeFloat8E5m2(v); }
  static Stored Encode(double rounded) { return EncodeFloat8E5m2(rounded); }
};

// function(kind) with the kind of a type; returns what it returns.
template <class Function>
auto WithKind(DataType type, Function function) {
  switch (type) {
    case DataType::kFloat16:
      return function(Float16Kind{});
    case DataType::kBfloat16:
      return function(Bfloat16Kind{});
    case DataType::kFloat64:
      return function(Float64Kind{});
    case DataType::kInt8:
      return function(Int8Kind{});
    case DataType::kInt32:
      return function(Int32Kind{});
    case DataType::kFloat8E4m3:
      return function(Float8E4m3Kind{});
    case DataType::kFloat8E5m2:
      return function(Float8E5m2Kind{});
    case DataType::kFloat32:
      break;
  }
  return function(Float32Kind{});
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_ELEMENT_KINDS_H_
