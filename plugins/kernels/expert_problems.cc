// Mixture of experts: products of groups of rows, each with a matrix of its own, and the choice of experts.
//
// Grouped products: of each group what products have for a matrix of its size (gemm/matmul_data.h), so that
// sums are exact in every order and in bfloat16. A group without rows has a matrix of 96, so that who takes
// it shows; it is no NaN, for 0 * NaN is NaN in right kernels too. Sizes of groups are no multiples of what
// kernels take at once.
//
// The choice: the k largest of a row of logits that are all different, and their softmax in float32, which is
// that of all logits divided by the sum of the chosen. Logits are multiples of 1/8 from -8 to 8. A power is
// off by 2^-22 (ex2.approx, PTX ISA) and by its exponent, of at most 24 after log2(e), which float32 rounds
// by 2^-20; a sum of 64 numbers by 63 2^-24; a quotient has two powers and two sums: less than 2^-17
// together.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "gemm/matmul_data.h"
#include "kernels/problem_parts.h"

namespace cudnn_ci {
namespace {

using Values = std::vector<double>;

constexpr double kSoftmaxError = 0x1p-17, kPoison = 96;

struct Groups {
  DataType type;
  std::int64_t columns, inner;
  std::vector<std::int64_t> rows;  // of each group
};

// The data of a group: cuBLAS's B is x, its A is w, as in product_problems.cc; columns are rows, transposed.
std::shared_ptr<const MatmulData> DataOf(const Groups& g, std::size_t group) {
  MatmulSpec spec;
  spec.type = g.type;
  spec.m = g.columns, spec.n = g.rows[group], spec.k = g.inner;
  spec.transpose_a = true;
  spec.data_set = group;
  return std::make_shared<const MatmulData>(spec);
}

KernelProblem GroupedProduct(const Groups& g) {
  const std::size_t size = SizeOf(g.type);
  const auto count = static_cast<std::int64_t>(g.rows.size());
  const std::int64_t rows = std::accumulate(g.rows.begin(), g.rows.end(), std::int64_t{0});
  KernelInput x = {"x", NameOf(g.type), {rows, g.inner}, {g.inner, 1}, {}};
  // Of each group as a layer keeps its weights: rows of what is summed.
  KernelInput w = {"w",
                   NameOf(g.type),
                   {count, g.inner, g.columns},
                   {g.inner * g.columns, 1, g.inner},
                   std::vector<unsigned char>(At(count * g.inner * g.columns) * size)};
  std::vector<std::shared_ptr<const MatmulData>> data;
  std::vector<std::int64_t> group_of_row;
  Values ends;
  for (std::size_t group = 0; group < g.rows.size(); ++group) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + static_cast<double>(g.rows[group]));
    const std::size_t elements = At(g.inner * g.columns);
    unsigned char* const of_group = &w.bytes[group * elements * size];
    if (g.rows[group] == 0) {
      for (std::size_t i = 0; i < elements; ++i) Store(g.type, kPoison, of_group + i * size);
      data.push_back(nullptr);
      continue;
    }
    data.push_back(DataOf(g, group));
    data.back()->Encode(0, of_group);
    std::vector<unsigned char> of_rows(At(g.rows[group] * g.inner) * size);
    data.back()->Encode(1, of_rows.data());
    x.bytes.insert(x.bytes.end(), of_rows.begin(), of_rows.end());
    group_of_row.insert(group_of_row.end(), At(g.rows[group]), static_cast<std::int64_t>(group));
  }
  KernelProblem problem;
  problem.attributes = "{}";
  problem.inputs = {std::move(x), std::move(w), InputOf("ends", DataType::kInt32, {count}, ends)};
  const std::int64_t columns = g.columns;
  problem.outputs = {{"y",
                      g.type,
                      {rows, columns},
                      [data, group_of_row, ends, columns](std::int64_t index, KernelArithmetic) {
                        const std::int64_t row = index / columns, group = group_of_row[At(row)];
                        const std::int64_t first =
                            group == 0 ? 0 : static_cast<std::int64_t>(ends[At(group - 1)]);
                        return data[At(group)]->RuleOf((row - first) * columns + index % columns);
                      }}};
  return problem;
}

struct Choice {
  DataType type;
  std::int64_t tokens, experts, chosen;
};

KernelProblem ExpertChoice(const Choice& c) {
  constexpr std::int64_t kLogits = 129;  // from -8 to 8
  Values logits;
  const auto weights = std::make_shared<Values>(), experts = std::make_shared<Values>();
  for (std::int64_t token = 0; token < c.tokens; ++token) {
    const std::vector<std::int64_t> drawn = Order(kLogits, 41 + static_cast<std::uint64_t>(token));
    Values row;
    for (std::int64_t e = 0; e < c.experts; ++e) row.push_back(static_cast<double>(drawn[At(e)] - 64) / 8);
    std::vector<std::int64_t> by_size(At(c.experts));
    std::iota(by_size.begin(), by_size.end(), 0);
    std::sort(by_size.begin(), by_size.end(),
              [&](std::int64_t a, std::int64_t b) { return row[At(a)] > row[At(b)]; });
    double sum = 0;
    for (std::int64_t i = 0; i < c.chosen; ++i) sum += std::exp(row[At(by_size[At(i)])]);
    for (std::int64_t i = 0; i < c.chosen; ++i) {
      weights->push_back(std::exp(row[At(by_size[At(i)])]) / sum);
      experts->push_back(static_cast<double>(by_size[At(i)]));
    }
    logits.insert(logits.end(), row.begin(), row.end());
  }
  KernelProblem problem;
  problem.attributes = nlohmann::json{{"k", c.chosen}}.dump();
  problem.inputs = {InputOf("logits", c.type, {c.tokens, c.experts}, logits)};
  const std::vector<std::int64_t> shape = {c.tokens, c.chosen};
  problem.outputs = {{"experts", DataType::kInt32, shape,
                      [experts](std::int64_t i, KernelArithmetic) {
                        return ElementRule{(*experts)[At(i)], 0};
                      }},
                     {"weights", DataType::kFloat32, shape, [weights](std::int64_t i, KernelArithmetic) {
                        const double weight = (*weights)[At(i)];
                        return ElementRule{weight, weight * kSoftmaxError};
                      }}};
  return problem;
}

}  // namespace

std::vector<KernelProblemRow> ExpertProblems() {
  std::vector<KernelProblemRow> rows;
  const auto add = [&rows](const char* name, const Groups& g) {
    rows.push_back({std::string("grouped_product/") + name, [g] { return GroupedProduct(g); }});
  };
  add("bfloat16_ragged", {DataType::kBfloat16, 80, 64, {17, 0, 1, 40, 6, 0, 8, 131}});
  add("bfloat16_even", {DataType::kBfloat16, 128, 128, {32, 64, 16, 48}});
  add("float16_ragged", {DataType::kFloat16, 72, 96, {5, 33, 0, 2}});
  add("float32_small", {DataType::kFloat32, 8, 12, {3, 0, 1, 2}});
  const auto choose = [&rows](const char* name, const Choice& c) {
    rows.push_back({std::string("expert_choice/") + name, [c] { return ExpertChoice(c); }});
  };
  choose("bfloat16_64", {DataType::kBfloat16, 70, 64, 8});
  choose("float32_8", {DataType::kFloat32, 33, 8, 2});
  return rows;
}

}  // namespace cudnn_ci
