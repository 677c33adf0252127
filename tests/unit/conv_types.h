// What the tests of the convolution oracle are repeated for: operations, types of inputs and results,
// layouts.
#ifndef CUDNN_CI_TESTS_CONV_TYPES_H_
#define CUDNN_CI_TESTS_CONV_TYPES_H_

#include <optional>
#include <ostream>
#include <string>

#include "common/numeric/data_type.h"
#include "conv/operation.h"

namespace cudnn_ci {

inline constexpr Layout kLayouts[] = {Layout::kNchw, Layout::kNhwc};

// The type of the inputs, and that of the result where it is another.
struct TensorTypes {
  const char* name;
  DataType inputs;
  std::optional<DataType> output = {};

  DataType Result() const { return output.value_or(inputs); }
};

// googletest prints parameters of failed tests.
inline std::ostream& operator<<(std::ostream& os, const TensorTypes& types) { return os << types.name; }

inline constexpr TensorTypes kTensorTypes[] = {
    {"Float32", DataType::kFloat32},
    {"Float16", DataType::kFloat16},
    {"Bfloat16", DataType::kBfloat16},
    {"Float64", DataType::kFloat64},
    {"Int8", DataType::kInt8},
    {"Float8E4m3", DataType::kFloat8E4m3},
    {"Float8E5m2", DataType::kFloat8E5m2},
    {"Int8ToInt32", DataType::kInt8, DataType::kInt32},
    {"Int8ToFloat32", DataType::kInt8, DataType::kFloat32},
    {"Float16ToFloat32", DataType::kFloat16, DataType::kFloat32},
    {"Float8E4m3ToFloat32", DataType::kFloat8E4m3, DataType::kFloat32}};

// "Forward", "BackwardData", "BackwardFilter": for names of tests.
inline std::string NameOf(Operation operation) {
  constexpr const char* kNames[] = {"Forward", "BackwardData", "BackwardFilter"};
  return kNames[static_cast<int>(operation)];
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_CONV_TYPES_H_
