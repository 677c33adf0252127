#include "framework/problem.h"

#include <nlohmann/json.hpp>

#include "common/numeric/attention_numbers.h"

namespace cudnn_ci {
namespace {

using Numbers = std::vector<double>;

// The strides, and a filter of neither 3x3 nor 5x5, leave the libraries no transform (FFT, Winograd), whose
// results are rounded. Every input element meets the filter, so that the gradients have no fringe that is
// left to choice.
constexpr int kN = 2, kC = 4, kH = 9, kW = 8, kK = 8, kR = 3, kS = 2, kStride = 2, kPadH = 1, kPadW = 0;
constexpr int kP = (kH + 2 * kPadH - kR) / kStride + 1, kQ = (kW + 2 * kPadW - kS) / kStride + 1;
constexpr int kRows = 5, kInner = 7, kColumns = 6;

// splitmix64 (https://prng.di.unimi.it/splitmix64.c): from -2 to 2.
class SmallIntegers {
 public:
  explicit SmallIntegers(std::uint64_t seed) : state_(seed) {}
  Numbers Draw(int count) {
    Numbers numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(static_cast<double>(Next() % 5) - 2);
    return numbers;
  }

 private:
  std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::uint64_t state_;
};

// Calls visit(x, w, y), the places of an input, a filter and an output element, for each product of the
// convolution.
template <class Visit>
void ForEachProduct(const Visit& visit) {
  const auto place = [](int a, int b, int c, int d, int bs, int cs, int ds) {
    return ((a * bs + b) * cs + c) * ds + d;
  };
  for (int i = 0; i < kN * kK * kP * kQ * kC * kR * kS; ++i) {
    const int s = i % kS, r = i / kS % kR, c = i / (kS * kR) % kC, q = i / (kS * kR * kC) % kQ,
              p = i / (kS * kR * kC * kQ) % kP, k = i / (kS * kR * kC * kQ * kP) % kK,
              n = i / (kS * kR * kC * kQ * kP * kK);
    const int h = p * kStride + r - kPadH, w = q * kStride + s - kPadW;
    if (h < 0 || h >= kH || w < 0 || w >= kW) continue;
    visit(place(n, c, h, w, kC, kH, kW), place(k, c, r, s, kC, kR, kS), place(n, k, p, q, kK, kP, kQ));
  }
}

// Key lengths of 64 (mod 128) with scores far below zero are where a release of cuDNN was wrong.
AttentionProblemSpec Attention() {
  AttentionProblemSpec spec;
  spec.shape.queries = 64;
  spec.shape.keys = 192;
  spec.logits = AttentionLogits::kFarNegative;
  return spec;
}

Numbers Wide(const std::vector<float>& numbers) { return {numbers.begin(), numbers.end()}; }

nlohmann::json ShapeOf(const AttentionTensor& t) { return {t.batch, t.heads, t.length, t.size}; }

}  // namespace

Problem MakeProblem(std::uint64_t seed) {
  SmallIntegers draw(seed);
  const Numbers x = draw.Draw(kN * kC * kH * kW), w = draw.Draw(kK * kC * kR * kS),
                g = draw.Draw(kN * kK * kP * kQ), a = draw.Draw(kRows * kInner),
                b = draw.Draw(kInner * kColumns);
  Problem problem;
  Numbers &y = problem.expected["y"], &dx = problem.expected["dx"], &dw = problem.expected["dw"];
  y.resize(g.size());
  dx.resize(x.size());
  dw.resize(w.size());
  ForEachProduct([&](int at_x, int at_w, int at_y) {
    y[at_y] += x[at_x] * w[at_w];
    dx[at_x] += g[at_y] * w[at_w];
    dw[at_w] += g[at_y] * x[at_x];
  });
  problem.expected["copy"] = x;
  for (const double value : a) problem.expected["elementwise"].push_back(2 * value + 1);
  Numbers& matmul = problem.expected["matmul"];
  matmul.resize(kRows * kColumns);
  for (int i = 0; i < kRows; ++i)
    for (int k = 0; k < kInner; ++k)
      for (int j = 0; j < kColumns; ++j) matmul[i * kColumns + j] += a[i * kInner + k] * b[k * kColumns + j];
  const AttentionProblemSpec spec = problem.attention = Attention();
  const AttentionNumbers attention = MakeAttentionNumbers(spec, seed);
  problem.expected["o"] = Wide(attention.o);
  problem.expected["dq"] = Wide(attention.dq);
  problem.expected["dk"] = Wide(attention.dk);
  problem.expected["dv"] = Wide(attention.dv);
  problem.json = nlohmann::json{{"x", x},
                                {"x_shape", {kN, kC, kH, kW}},
                                {"w", w},
                                {"w_shape", {kK, kC, kR, kS}},
                                {"g", g},
                                {"g_shape", {kN, kK, kP, kQ}},
                                {"stride", {kStride, kStride}},
                                {"pad", {kPadH, kPadW}},
                                {"a", a},
                                {"a_shape", {kRows, kInner}},
                                {"b", b},
                                {"b_shape", {kInner, kColumns}},
                                {"q", attention.q},
                                {"q_shape", ShapeOf(spec.Q())},
                                {"k", attention.k},
                                {"k_shape", ShapeOf(spec.K())},
                                {"v", attention.v},
                                {"v_shape", ShapeOf(spec.V())},
                                {"do", attention.d_o}}
                     .dump();
  return problem;
}

}  // namespace cudnn_ci
