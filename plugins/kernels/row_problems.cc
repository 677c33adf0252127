// Operations of rows: norms and gates.
//
// Norms are exact: of each row 3/8 of the elements are 1 above its mean, 3/8 are 1 below, 1/8 each are 3
// above and below. The variance, and without a mean the mean square, is 3; with an epsilon of 1 its root is
// 2, so that 1/2 scales, and with whole weights and biases each result is a small whole number or half of
// one, and none is 0. Bounds are of float32, in which sums are taken: a mean of N numbers is off by (log2 N +
// 4) 2^-24 of the largest at most where it is summed by pairs or running (Welford), rsqrt by 2^-22 (PTX ISA,
// rsqrt.approx); with N up to 4096 both together are less than 2^-19. 16 bits round that off.
//
// A gate is x / (1 + exp(-x)) times a power of 2, which no rounding between the two shows: ex2.approx and
// rcp.approx are off by 2^-22, of x up to 8 the exponent by 2^-21 more.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/numeric/random_data.h"
#include "kernels/problem_parts.h"

namespace cudnn_ci {
namespace {

using Values = std::vector<double>;

constexpr double kNormError = 0x1p-19, kGateError = 0x1p-19;

struct Rows {
  DataType type;
  std::int64_t rows, columns;
};

// How far the elements of a row are from its mean, in an order of its own.
Values Deviations(std::int64_t columns, std::uint64_t seed) {
  constexpr double kPattern[] = {1, -1, 1, -1, 1, -1, 3, -3};
  Values row;
  for (std::int64_t i = 0; i < columns; ++i) row.push_back(kPattern[i % 8]);
  for (std::int64_t i = columns - 1; i > 0; --i) std::swap(row[At(i)], row[At(Draw(seed, i, i + 1))]);
  return row;
}

struct Norm {
  Values deviations, weights, biases;
};

KernelProblem NormOf(const Rows& size, bool with_mean) {
  auto n = std::make_shared<Norm>();
  Values x;
  for (std::int64_t r = 0; r < size.rows; ++r) {
    const double mean = with_mean ? static_cast<double>(Draw(1, r, 17) - 8) : 0;
    for (const double deviation : Deviations(size.columns, SeedOf("row") + At(r))) {
      n->deviations.push_back(deviation);
      x.push_back(mean + deviation);
    }
  }
  for (std::int64_t c = 0; c < size.columns; ++c) {
    constexpr double kWeights[] = {2, -2, 4, -4};
    n->weights.push_back(kWeights[Draw(2, c, 4)]);
    const auto magnitude = static_cast<double>(8 + Draw(3, c, 8));
    n->biases.push_back(with_mean ? Draw(4, c, 2) == 0 ? magnitude : -magnitude : 0);
  }
  KernelProblem problem;
  problem.attributes = R"({"epsilon": 1.0})";
  problem.inputs = {InputOf("x", size.type, {size.rows, size.columns}, x),
                    InputOf("weight", size.type, {size.columns}, n->weights)};
  if (with_mean) problem.inputs.push_back(InputOf("bias", size.type, {size.columns}, n->biases));
  const std::int64_t columns = size.columns;
  const auto rule = [n, columns](std::int64_t index, KernelArithmetic) {
    const double weight = n->weights[At(index % columns)], bias = n->biases[At(index % columns)];
    const double scaled = n->deviations[At(index)] / 2 * weight;
    // The mean is at most 8, and a deviation 3.
    const double error = kNormError * (std::fabs(scaled) + std::fabs(bias) + 11 * std::fabs(weight) / 2);
    return ElementRule{scaled + bias, error};
  };
  problem.outputs = {{"y", size.type, {size.rows, size.columns}, rule}};
  return problem;
}

KernelProblem GateOf(const Rows& size) {
  auto expected = std::make_shared<Values>();
  Values x, g;
  for (std::int64_t i = 0; i < size.rows * size.columns; ++i) {
    constexpr double kGates[] = {0.5, -0.5, 1, -1, 2, -2};
    const auto drawn = static_cast<double>(Draw(5, i, 64) - 32);  // no 0, with which the gate would not show
    x.push_back((drawn < 0 ? drawn : drawn + 1) / 4);
    g.push_back(kGates[Draw(6, i, 6)]);
    expected->push_back(x.back() / (1 + std::exp(-x.back())) * g.back());
  }
  KernelProblem problem;
  problem.attributes = "{}";
  problem.inputs = {InputOf("x", size.type, {size.rows, size.columns}, x),
                    InputOf("gate", size.type, {size.rows, size.columns}, g)};
  const auto rule = [expected](std::int64_t index, KernelArithmetic) {
    const double y = (*expected)[At(index)];
    return ElementRule{y, std::fabs(y) * kGateError};
  };
  problem.outputs = {{"y", size.type, {size.rows, size.columns}, rule}};
  return problem;
}

}  // namespace

std::vector<KernelProblemRow> RowProblems() {
  std::vector<KernelProblemRow> rows;
  for (const auto& [operation, with_mean] : {std::pair{"layer_norm", true}, {"rms_norm", false}})
    for (const Rows& size : {Rows{DataType::kBfloat16, 12, 4096}, Rows{DataType::kFloat16, 33, 40},
                             Rows{DataType::kFloat32, 17, 1000}, Rows{DataType::kFloat32, 3, 64}})
      rows.push_back({operation + std::string("/") + NameOf(size.type) + "_" + std::to_string(size.columns),
                      [size, mean = with_mean] { return NormOf(size, mean); }});
  for (const Rows& size : {Rows{DataType::kBfloat16, 16, 1408}, Rows{DataType::kFloat32, 3, 65}})
    rows.push_back({std::string("silu_gate/") + NameOf(size.type) + "_" + std::to_string(size.columns),
                    [size] { return GateOf(size); }});
  return rows;
}

}  // namespace cudnn_ci
