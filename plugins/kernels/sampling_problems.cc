// Sampling, where it is deterministic: a token that is the only one left, and what is left as probabilities.
//
// Probabilities are whole numbers of 2^-23 that add up to 1, so that float32 has each sum of some of them
// in every order. What is kept adds up to 1/2 or, in every second row, to 1/4: renormalised, it is twice or
// four times what it was. A kernel may multiply by a reciprocal that is off by 2^-22 (PTX ISA, rcp.approx
// and div.full), which rounds once more: less than 2^-21 together. Limits lie amid what is kept and what is
// not, so that no rounding moves a token over them: a sum is off the limit of top-p by half of the least
// kept probability. Two of those that are kept are equal; none that is kept is equal to one that is not,
// which implementations decide in their own ways.
//
// A token is drawn where the most likely one alone is kept, which has 1/64 of the probability: a kernel that
// ignores its limit takes another one in some row. Greedy: the largest of a row of logits, 1 above another.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/numeric/random_data.h"
#include "kernels/problem_parts.h"

namespace cudnn_ci {
namespace {

using Values = std::vector<double>;

constexpr std::int64_t kWhole = 1 << 23;  // the probability 1
constexpr double kQuotientError = 0x1p-21;

enum class Limit { kGreedy, kTopK, kTopP, kMinP };

struct Sampling {
  Limit limit;
  bool draw;  // a token, else probabilities
  DataType type;
  std::int64_t rows, vocabulary;
  std::int64_t least_kept = 1;  // so many tokens of the first row; others keep one or two more
};

// What a probability that is kept is multiplied by.
std::int64_t Times(std::int64_t row) { return 2 + row % 2 * 2; }

// Numbers around their average that add up to `sum`, the least of them half of it.
std::vector<std::int64_t> Rest(std::int64_t count, std::int64_t sum, std::uint64_t seed) {
  const std::int64_t average = sum / count;
  std::vector<std::int64_t> rest(At(count), average);
  for (std::int64_t i = 0; i + 1 < count; i += 2) {
    const std::int64_t off = Draw(seed, i, average / 2 + 1);
    rest[At(i)] += off, rest[At(i + 1)] -= off;
  }
  for (std::int64_t i = 0; i < sum - average * count; ++i) ++rest[At(i)];
  return rest;
}

// Three numbers or more that add up to `sum`, of which the first two are equal, the largest, and the third is
// the least, 3/4 of their average.
std::vector<std::int64_t> Kept(std::int64_t count, std::int64_t sum) {
  const std::int64_t average = sum / count, eighth = average / 8, step = average / 128;
  std::vector<std::int64_t> kept = {average + eighth, average + eighth,
                                    average - 2 * eighth + (sum - average * count)};
  for (std::int64_t i = 3; i + 1 < count; i += 2) {
    kept.push_back(average + (i - 2) * step / 2);
    kept.push_back(average - (i - 2) * step / 2);
  }
  if (count % 2 == 0) kept.push_back(average);
  return kept;
}

struct SampledRow {
  Values inputs;           // by token
  std::vector<bool> kept;  // likewise
  std::int64_t most_likely = 0;
  double limit = 0;
};

SampledRow RowOfLogits(const Sampling& s, std::int64_t row) {
  const std::vector<std::int64_t> tokens = Order(s.vocabulary, SeedOf("greedy") + At(row));
  SampledRow made = {Values(At(s.vocabulary)), {}, tokens[0], 0};
  for (std::int64_t i = 0; i < s.vocabulary; ++i)
    made.inputs[At(tokens[At(i)])] =
        i < 2 ? static_cast<double>(101 - i) : static_cast<double>(Draw(At(row), i, 200) - 100);
  return made;
}

SampledRow RowOfProbabilities(const Sampling& s, std::int64_t row) {
  const std::uint64_t seed = SeedOf("sampling") + At(row);
  const std::int64_t count = s.draw ? 1 : s.least_kept + row % 3;
  const std::int64_t sum = s.draw ? std::max(kWhole / 64, 4 * kWhole / s.vocabulary) : kWhole / Times(row);
  std::vector<std::int64_t> parts = s.draw ? std::vector<std::int64_t>{sum} : Kept(count, sum);
  const std::int64_t most = parts.front(), least = *std::min_element(parts.begin(), parts.end());
  const std::vector<std::int64_t> rest = Rest(s.vocabulary - count, kWhole - sum, seed);
  const std::int64_t next = *std::max_element(rest.begin(), rest.end());
  parts.insert(parts.end(), rest.begin(), rest.end());
  const std::vector<std::int64_t> tokens = Order(s.vocabulary, seed);
  SampledRow made = {Values(parts.size()), std::vector<bool>(parts.size()), tokens[0], 0};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    made.inputs[At(tokens[i])] = static_cast<double>(parts[i]) / kWhole;
    made.kept[At(tokens[i])] = static_cast<std::int64_t>(i) < count;
  }
  if (s.limit == Limit::kTopK) made.limit = static_cast<double>(count);
  if (s.limit == Limit::kTopP) made.limit = static_cast<double>(2 * sum - least) / (2 * kWhole);
  // In whole 1/1024 of the most likely one.
  if (s.limit == Limit::kMinP) made.limit = static_cast<double>((least + next) * 512 / most) / 1024;
  return made;
}

KernelInput LimitOf(Limit limit, const Values& limits) {
  const auto rows = static_cast<std::int64_t>(limits.size());
  if (limit == Limit::kTopK) return InputOf("top_k", DataType::kInt32, {rows}, limits);
  return InputOf(limit == Limit::kTopP ? "top_p" : "min_p", DataType::kFloat32, {rows}, limits);
}

KernelProblem SamplingOf(const Sampling& s) {
  const bool greedy = s.limit == Limit::kGreedy;
  const auto tokens = std::make_shared<Values>(), left = std::make_shared<Values>();
  Values inputs, limits;
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const SampledRow made = greedy ? RowOfLogits(s, row) : RowOfProbabilities(s, row);
    inputs.insert(inputs.end(), made.inputs.begin(), made.inputs.end());
    tokens->push_back(static_cast<double>(made.most_likely));
    limits.push_back(made.limit);
    for (std::int64_t i = 0; !s.draw && i < s.vocabulary; ++i)
      left->push_back(made.kept[At(i)] ? static_cast<double>(Times(row)) * made.inputs[At(i)] : 0);
  }
  KernelProblem problem;
  problem.attributes = nlohmann::json{{"draw", s.draw}}.dump();
  problem.inputs = {InputOf(greedy ? "logits" : "probs", s.type, {s.rows, s.vocabulary}, inputs)};
  if (!greedy) problem.inputs.push_back(LimitOf(s.limit, limits));
  if (s.draw)
    problem.outputs = {{"tokens", DataType::kInt32, {s.rows}, [tokens](std::int64_t i, KernelArithmetic) {
                          return ElementRule{(*tokens)[At(i)], 0};
                        }}};
  else
    problem.outputs = {
        {"renormalised", s.type, {s.rows, s.vocabulary}, [left](std::int64_t i, KernelArithmetic) {
           return ElementRule{(*left)[At(i)], (*left)[At(i)] * kQuotientError};
         }}};
  return problem;
}

}  // namespace

std::vector<KernelProblemRow> SamplingProblems() {
  constexpr DataType kFp32 = DataType::kFloat32;
  std::vector<KernelProblemRow> rows;
  const auto add = [&rows](const char* name, const Sampling& s) {
    rows.push_back({std::string("sampling/") + name, [s] { return SamplingOf(s); }});
  };
  add("bfloat16_greedy", {Limit::kGreedy, true, DataType::kBfloat16, 8, 32000});
  add("float32_greedy_small", {Limit::kGreedy, true, kFp32, 3, 40});
  add("float32_draw_top_k", {Limit::kTopK, true, kFp32, 64, 4096});
  add("float32_draw_top_p", {Limit::kTopP, true, kFp32, 64, 4096});
  add("float32_draw_min_p", {Limit::kMinP, true, kFp32, 64, 4096});
  add("float32_draw_min_p_small", {Limit::kMinP, true, kFp32, 3, 40});
  add("float32_top_k", {Limit::kTopK, false, kFp32, 33, 1000, 5});
  add("float32_top_p", {Limit::kTopP, false, kFp32, 33, 1000, 5});
  add("float32_min_p", {Limit::kMinP, false, kFp32, 33, 1000, 5});
  add("float32_top_k_wide", {Limit::kTopK, false, kFp32, 2, 128256, 20});
  add("float32_top_p_wide", {Limit::kTopP, false, kFp32, 2, 128256, 20});
  add("float32_top_k_small", {Limit::kTopK, false, kFp32, 3, 40, 3});
  add("float32_top_p_small", {Limit::kTopP, false, kFp32, 3, 40, 3});
  return rows;
}

}  // namespace cudnn_ci
