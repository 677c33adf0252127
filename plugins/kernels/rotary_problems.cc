// Rotary position embeddings, in both styles: of halves (GPT-NeoX; Llama as Hugging Face has it), where
// element i turns with i + half, and interleaved (GPT-J; RoFormer's), where 2 i turns with 2 i + 1. Cosines
// and sines are inputs, so they need be none of an angle: they are 1/2, 1 or 2 with either sign, x is a whole
// number of at most 7 but 0. Each product and each sum is then a multiple of 1/2 of at most 28, which
// bfloat16 has: exact, whatever a kernel rounds to 16 bits between. A position is a row of the tables; each
// row is some token's, tokens come in no order. What lies behind the turned elements stays as it is.
#include <memory>
#include <nlohmann/json.hpp>

#include "common/numeric/random_data.h"
#include "kernels/problem_parts.h"

namespace cudnn_ci {
namespace {

using Values = std::vector<double>;

constexpr std::uint64_t kSeed = 31;

struct Rotary {
  DataType type;
  bool interleaved;
  std::int64_t tokens, positions, q_heads, k_heads, head_size, turned;  // turned: of the head's elements
};

struct Tables {
  Values cos, sin;
  std::vector<std::int64_t> position;  // of each token
};

Values WholeNumbers(std::int64_t count, std::uint64_t seed) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t drawn = Draw(seed, i, 14) - 7;
    values.push_back(static_cast<double>(drawn < 0 ? drawn : drawn + 1));
  }
  return values;
}

Values Factors(std::int64_t count, std::uint64_t seed) {
  constexpr double kFactors[] = {0.5, -0.5, 1, -1, 2, -2};
  Values values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(kFactors[Draw(seed, i, 6)]);
  return values;
}

Values Turned(const Rotary& r, const Tables& tables, const Values& x) {
  Values turned = x;
  const std::int64_t half = r.turned / 2,
                     heads = static_cast<std::int64_t>(x.size()) / r.head_size / r.tokens;
  for (std::int64_t row = 0; row < r.tokens * heads; ++row)
    for (std::int64_t i = 0; i < half; ++i) {
      const std::int64_t begin = row * r.head_size;
      const std::size_t first = At(begin + (r.interleaved ? 2 * i : i)),
                        second = At(begin + (r.interleaved ? 2 * i + 1 : i + half)),
                        place = At(tables.position[At(row / heads)] * half + i);
      turned[first] = x[first] * tables.cos[place] - x[second] * tables.sin[place];
      turned[second] = x[second] * tables.cos[place] + x[first] * tables.sin[place];
    }
  return turned;
}

KernelOutput OutputOf(const char* name, DataType type, std::vector<std::int64_t> shape, Values values) {
  const auto expected = std::make_shared<const Values>(std::move(values));
  return {name, type, std::move(shape), [expected](std::int64_t index, KernelArithmetic) {
            return ElementRule{(*expected)[At(index)], 0};
          }};
}

KernelProblem RotaryOf(const Rotary& r) {
  Tables tables = {Factors(r.positions * r.turned / 2, kSeed), Factors(r.positions * r.turned / 2, kSeed + 1),
                   Order(r.tokens, kSeed + 2)};
  for (std::int64_t& position : tables.position) position %= r.positions;
  const std::vector<std::int64_t> q_shape = {r.tokens, r.q_heads, r.head_size},
                                  k_shape = {r.tokens, r.k_heads, r.head_size},
                                  table = {r.positions, r.turned / 2};
  const Values q = WholeNumbers(r.tokens * r.q_heads * r.head_size, kSeed + 3),
               k = WholeNumbers(r.tokens * r.k_heads * r.head_size, kSeed + 4);
  KernelProblem problem;
  problem.attributes = nlohmann::json{{"interleaved", r.interleaved}, {"rotary_size", r.turned}}.dump();
  problem.inputs = {InputOf("q", r.type, q_shape, q), InputOf("k", r.type, k_shape, k),
                    InputOf("cos", DataType::kFloat32, table, tables.cos),
                    InputOf("sin", DataType::kFloat32, table, tables.sin),
                    InputOf("positions", DataType::kInt32, {r.tokens},
                            Values(tables.position.begin(), tables.position.end()))};
  problem.outputs = {OutputOf("q", r.type, q_shape, Turned(r, tables, q)),
                     OutputOf("k", r.type, k_shape, Turned(r, tables, k))};
  return problem;
}

}  // namespace

std::vector<KernelProblemRow> RotaryProblems() {
  std::vector<KernelProblemRow> rows;
  const auto add = [&rows](const char* name, const Rotary& r) {
    rows.push_back({std::string("rotary_embedding/") + name, [r] { return RotaryOf(r); }});
  };
  add("bfloat16_halves", {DataType::kBfloat16, false, 37, 29, 8, 2, 128, 128});
  add("bfloat16_interleaved", {DataType::kBfloat16, true, 37, 29, 4, 4, 64, 64});
  add("float16_halves_partial", {DataType::kFloat16, false, 21, 21, 4, 1, 128, 64});
  add("float16_interleaved_partial", {DataType::kFloat16, true, 21, 21, 4, 1, 256, 64});
  add("float32_halves_small", {DataType::kFloat32, false, 5, 4, 2, 1, 16, 16});
  add("float32_interleaved_small", {DataType::kFloat32, true, 5, 4, 2, 1, 16, 8});
  return rows;
}

}  // namespace cudnn_ci
