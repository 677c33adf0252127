// Attention with an exact softmax (common/numeric/attention_numbers.h), as frameworks and kernels take it.
//
// KernelArithmetic::kOnlineSoftmax: FlashAttention's (https://arxiv.org/abs/2307.08691, 3.1) keeps the sums
// of a part of the keys and combines parts by weights 2^x. ex2.approx and lg2.approx are off by 2^-22 (PTX
// ISA), so where keys of one code lie in several parts, a sum that is exactly 0 may come out as some 2^-18
// (measured at most: 3.8e-6). All that is not 0 has few digits and is rounded to them. The gradient of the
// scores is P (dP - D) with D, the sum of O dO, of that O: off by 2^-18 for each of the three elements of dO
// that are not 0. So dQ may be off by that times the largest magnitude of K, for probabilities add up to 1,
// and dK by that times Q's, for each query that gives the key a probability. In float32 probabilities are not
// rounded before they are summed: they are off by AttentionStatsBound, relatively, and so are dV and the
// gradients of the scores, of 6 P at most: V is -1 or 1, dO has three elements.
//
// KernelArithmetic::kRecomputedSoftmax: the memory-efficient attention of xFormers and PyTorch
// (https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/transformers/cuda/mem_eff_attention,
// kernel_backward.h) sums forward without a loss: keys of one code have the same maximum, whose weight is
// 2^0. Its backward pass takes exp(score - logarithm of the sum), and that logarithm, about as large as the
// score, was rounded to float32: the same AttentionStatsBound, and nothing of partial sums. Rounded to 16
// bits probabilities and gradients are exact: the bound is far below half a unit of them.
//
// KernelArithmetic::kRoundedPartials: FlashInfer's decode and prefill (include/flashinfer/attention/ of
// https://github.com/flashinfer-ai/flashinfer: decode.cuh, prefill.cuh, scheduler.cuh, cascade.cuh) split
// the keys into chunks of one size, of 128 keys at least; those of hopper/ do not split them. Within a chunk
// all is float32: o / d of the chunk, where d counts its keys of the query's code, is rounded to the type of
// O and stored (SingleDecodeWithKVCacheDispatched gives params.o = tmp, of DTypeO), the logarithm of d in
// float32. MergeStates adds the parts, with the weights 2^(lse - maximum), in float32. So a chunk with n of
// the N keys is off by n / N of half a unit of its own part: AddPartialsError adds these up for each size of
// chunks and takes the largest. The weights: an lse is at most 64, off by 2^-19 of float32's rounding and by
// 11 2^-22 of lg2.approx, and parts are merged twice; with ex2.approx's 2^-22 that is less than 2^-16 for
// numerator and denominator together, of magnitudes that add up to 1 at most.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/numeric/attention_numbers.h"
#include "common/numeric/parallel.h"
#include "kernels/problem_parts.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;
using Numbers = std::vector<float>;
using Spec = AttentionProblemSpec;

constexpr std::uint64_t kSeed = 20260;
constexpr double kPartialSums = 0x1p-18, kGradientsOfARow = 3, kMergedWeights = 0x1p-16;
constexpr std::int64_t kLeastChunk = 128;
// Of the scores. With frameworks' own, 1 / sqrt(head size), in its place keys that do not match would get a
// probability that shows. The numbers are made for 1.
constexpr float kScale = 4;

// The tensor as its layout has it, all of its elements once.
KernelInput InputOf(const char* name, const Spec& spec, const AttentionTensor& tensor,
                    const Numbers& numbers) {
  const DataType type = spec.TypeOf(tensor);
  const auto strides = tensor.Strides();
  KernelInput input = {name,
                       NameOf(type),
                       {tensor.batch, tensor.heads, tensor.length, tensor.size},
                       {strides.begin(), strides.end()},
                       std::vector<unsigned char>(At(tensor.Places()) * SizeOf(type))};
  tensor.ForRows([&](std::int64_t place, std::int64_t index) {
    for (std::int64_t d = 0; d < tensor.size; ++d)
      Store(type, numbers[At(index + d)], &input.bytes[At(place + d) * SizeOf(type)]);
  });
  return input;
}

// For interfaces that take any mask: 1 where a query sees a key. A query that does not count sees what the
// others see, for a row without a key is NaN.
KernelInput VisibleOf(const AttentionShape& shape) {
  KernelInput input = {"visible",
                       "bool",
                       {shape.batch, 1, shape.queries, shape.keys},
                       {shape.queries * shape.keys, shape.queries * shape.keys, shape.keys, 1},
                       {}};
  for (std::int64_t b = 0; b < shape.batch; ++b)
    for (std::int64_t i = 0; i < shape.queries; ++i) {
      KeyRange range = shape.Visible(b, i);
      if (HasLengths(shape.mask)) range = {0, shape.Keys(b)};
      for (std::int64_t j = 0; j < shape.keys; ++j) input.bytes.push_back(j >= range.begin && j < range.end);
    }
  return input;
}

// How much probability all queries give each key, by plain scores.
Numbers WeightsOf(const Spec& spec, const AttentionNumbers& n) {
  const AttentionShape& s = spec.shape;
  Numbers weights(At(s.batch * s.kv_heads * s.keys));
  std::vector<double> scores(At(s.keys));
  for (std::int64_t row = 0; row < s.batch * s.q_heads * s.queries; ++row) {
    const std::int64_t head = row / s.queries, b = head / s.q_heads, i = row % s.queries;
    const std::int64_t kv_head = b * s.kv_heads + head % s.q_heads / s.Group();
    const KeyRange range = s.Visible(b, i);
    double most = -INFINITY, sum = 0;
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const float *q = &n.q[At(row * s.head_size)], *k = &n.k[At((kv_head * s.keys + j) * s.head_size)];
      double& score = scores[At(j)] = 0;
      for (std::int64_t d = 0; d < s.head_size; ++d) score += static_cast<double>(kScale * q[d]) * k[d];
      most = std::max(most, score);
    }
    for (std::int64_t j = range.begin; j < range.end; ++j) sum += std::exp(scores[At(j)] - most);
    for (std::int64_t j = range.begin; j < range.end; ++j)
      weights[At(kv_head * s.keys + j)] += static_cast<float>(std::exp(scores[At(j)] - most) / sum);
  }
  return weights;
}

// Half a unit in the last place of a part of this magnitude, at most 1, as the type has it.
double HalfUnit(DataType type, double magnitude) {
  if (magnitude == 0 || magnitude == 1) return 0;
  const int digits = type == DataType::kBfloat16 ? 8 : type == DataType::kFloat16 ? 11 : 24;
  return std::ldexp(1, std::ilogb(magnitude) - digits);
}

// Of the keys before each one: how many are of the query's code, and the sum of their V, element by element.
struct KeysBefore {
  std::vector<std::int64_t> count;
  std::vector<double> sum;  // [key][element]
};

KeysBefore KeysOfRow(const AttentionShape& s, const AttentionNumbers& n, std::int64_t row) {
  const std::int64_t head = row / s.queries, b = head / s.q_heads;
  const std::int64_t kv_head = b * s.kv_heads + head % s.q_heads / s.Group();
  const KeyRange range = s.Visible(b, row % s.queries);
  std::vector<double> scores(At(s.keys), -INFINITY);
  for (std::int64_t j = range.begin; j < range.end; ++j) {
    const float *q = &n.q[At(row * s.head_size)], *k = &n.k[At((kv_head * s.keys + j) * s.head_size)];
    scores[At(j)] = 0;
    for (std::int64_t d = 0; d < s.head_size; ++d) scores[At(j)] += static_cast<double>(kScale * q[d]) * k[d];
  }
  const double most = *std::max_element(scores.begin(), scores.end());
  KeysBefore before = {{0}, std::vector<double>(At((s.keys + 1) * s.v_head_size))};
  for (std::int64_t j = 0; j < s.keys; ++j) {
    const bool matches = scores[At(j)] == most && most > -INFINITY;
    before.count.push_back(before.count.back() + (matches ? 1 : 0));
    const double* const sum = &before.sum[At(j * s.v_head_size)];
    for (std::int64_t d = 0; d < s.v_head_size; ++d)
      before.sum[At((j + 1) * s.v_head_size + d)] =
          sum[d] + (matches ? n.v[At((kv_head * s.keys + j) * s.v_head_size + d)] : 0);
  }
  return before;
}

// Of one row of O: how far from it what is combined from rounded parts may be.
void AddPartialsError(const Spec& spec, const AttentionNumbers& n, std::int64_t row, float* errors) {
  const AttentionShape& s = spec.shape;
  const KeysBefore before = KeysOfRow(s, n, row);
  const auto all = static_cast<double>(before.count.back());
  for (std::int64_t chunk = kLeastChunk; chunk < s.keys; ++chunk)
    for (std::int64_t d = 0; d < s.v_head_size; ++d) {
      double error = 0;
      for (std::int64_t begin = 0; begin < s.keys; begin += chunk) {
        const std::int64_t end = std::min(begin + chunk, s.keys);
        const auto count = static_cast<double>(before.count[At(end)] - before.count[At(begin)]);
        const double sum =
            before.sum[At(end * s.v_head_size + d)] - before.sum[At(begin * s.v_head_size + d)];
        if (count > 0) error += count / all * HalfUnit(spec.type, std::fabs(sum / count));
      }
      errors[d] = std::max(errors[d], static_cast<float>(error));
    }
}

// For each element of O, without a bias.
Numbers PartialsError(const Spec& spec, const AttentionNumbers& n) {
  const AttentionShape& s = spec.shape;
  Numbers errors(n.o.size());
  ParallelFor(s.batch * s.q_heads * s.queries, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      AddPartialsError(spec, n, row, &errors[At(row * s.v_head_size)]);
  });
  return errors;
}

float Largest(const Numbers& numbers) {
  float most = 0;
  for (const float x : numbers) most = std::max(most, std::fabs(x));
  return most;
}

struct Expectation {
  Spec spec;
  AttentionNumbers numbers;
  double most_q = 0, most_k = 0;  // the largest magnitudes
  // Of a backward pass: how far from its number a probability may be, relatively, and how much probability
  // all queries give each key.
  double relative = 0;
  Numbers weights;
  Numbers partials;  // without a backward pass: for each element of O, if its parts are rounded

  double Allowed(AttentionRole role, std::int64_t index, KernelArithmetic arithmetic) const {
    if (arithmetic == KernelArithmetic::kExact) return 0;
    const bool rounded = arithmetic == KernelArithmetic::kRoundedPartials && role == AttentionRole::kO;
    if (rounded && !partials.empty()) return kMergedWeights + static_cast<double>(partials[At(index)]);
    const double partial = arithmetic == KernelArithmetic::kRecomputedSoftmax ? 0 : kPartialSums;
    const double of_scores = kGradientsOfARow * (partial + 2 * relative) * kScale;
    switch (role) {
      case AttentionRole::kO:
        return partial;
      case AttentionRole::kDq:
        return of_scores * most_k;
      case AttentionRole::kDk:
        return of_scores * most_q * weights[At(index / spec.shape.head_size)];
      default:
        return relative * weights[At(index / spec.shape.v_head_size)];
    }
  }
  bool Counts(const AttentionTensor& tensor, std::int64_t index) const {
    if (!HasLengths(spec.shape.mask)) return true;
    const std::int64_t row = index / tensor.size, b = row / tensor.length / tensor.heads;
    return row % tensor.length < (IsByKey(tensor.role) ? spec.shape.Keys(b) : spec.shape.Queries(b));
  }
};

KernelOutput OutputOf(const char* name, const AttentionTensor& tensor, AttentionRole role,
                      const std::shared_ptr<const Expectation>& e) {
  const auto rule = [tensor, role, e](std::int64_t index, KernelArithmetic arithmetic) {
    ElementRule r;
    r.expected = e->numbers.Of(role)[At(index)];
    const auto allowed = e->numbers.allowed.find(role);
    if (allowed != e->numbers.allowed.end()) r.allowed = allowed->second[At(index)];
    r.allowed = std::max(r.allowed, e->Allowed(role, index, arithmetic));
    r.ignored = !e->Counts(tensor, index);
    return r;
  };
  return {name, e->spec.type, {tensor.batch, tensor.heads, tensor.length, tensor.size}, rule};
}

KernelProblem Attention(const Spec& spec) {
  const AttentionShape& s = spec.shape;
  auto e =
      std::make_shared<Expectation>(Expectation{spec, MakeAttentionNumbers(spec, kSeed), 0, 0, 0, {}, {}});
  for (float& x : e->numbers.q) x /= kScale;
  for (float& x : e->numbers.dq) x *= kScale;
  const AttentionNumbers& n = e->numbers;
  KernelProblem problem;
  problem.attention = spec;
  json attributes = {{"mask", Name(s.mask)}, {"scale", kScale}, {"backward", spec.backward}};
  if (s.window > 0) attributes["window"] = s.window;
  if (HasLengths(s.mask)) attributes.update({{"q_lengths", s.q_length}, {"kv_lengths", s.kv_length}});
  problem.attributes = attributes.dump();
  problem.inputs = {InputOf("q", spec, spec.Q(), n.q), InputOf("k", spec, spec.K(), n.k),
                    InputOf("v", spec, spec.V(), n.v)};
  if (HasBias(s.mask)) problem.inputs.push_back(InputOf("bias", spec, spec.Bias(), n.bias));
  if (s.mask != AttentionMask::kNone && !HasBias(s.mask)) problem.inputs.push_back(VisibleOf(s));
  problem.outputs = {OutputOf("o", spec.O(), AttentionRole::kO, e)};
  if (!spec.backward) {
    if (!HasBias(s.mask)) e->partials = PartialsError(spec, n);
    return problem;
  }
  e->most_q = Largest(n.q), e->most_k = Largest(n.k);
  e->weights = WeightsOf(spec, n);
  if (spec.type == DataType::kFloat32) e->relative = AttentionStatsBound(ScoreOf(spec.logits));
  problem.inputs.push_back(InputOf("do", spec, spec.O(), n.d_o));
  problem.outputs.push_back(OutputOf("dq", spec.Q(), AttentionRole::kDq, e));
  problem.outputs.push_back(OutputOf("dk", spec.K(), AttentionRole::kDk, e));
  problem.outputs.push_back(OutputOf("dv", spec.V(), AttentionRole::kDv, e));
  return problem;
}

struct Sizes {
  std::int64_t batch, q_heads, kv_heads, queries, keys, head_size;
};

Spec SpecOf(DataType type, const Sizes& z, AttentionMask mask = AttentionMask::kNone) {
  Spec spec;
  spec.type = type;
  spec.layout = AttentionLayout::kBshd;
  AttentionShape& s = spec.shape;
  s.batch = z.batch, s.q_heads = z.q_heads, s.kv_heads = z.kv_heads;
  s.queries = z.queries, s.keys = z.keys, s.head_size = s.v_head_size = z.head_size;
  s.mask = mask;
  if (mask == AttentionMask::kSlidingWindow) s.window = 96;
  for (std::int64_t b = 0; HasLengths(mask) && b < z.batch; ++b) {
    s.q_length.push_back(static_cast<std::int32_t>(z.queries - 1 - b * z.queries / z.batch));
    s.kv_length.push_back(static_cast<std::int32_t>(z.keys - 1 - b * z.keys / z.batch));
  }
  return spec;
}

Spec Backward(Spec spec, AttentionLogits logits = AttentionLogits::kOrdinary) {
  spec.backward = true;
  spec.logits = logits;
  return spec;
}

// Queries of another size than the keys: no scores can be taken.
KernelProblem SizesDiffer() {
  KernelProblem problem = Attention(SpecOf(DataType::kBfloat16, {1, 2, 2, 64, 64, 64}));
  const KernelProblem other = Attention(SpecOf(DataType::kBfloat16, {1, 2, 2, 64, 64, 128}));
  problem.inputs[0] = other.inputs[0];
  problem.outputs.clear();
  return problem;
}

}  // namespace

std::vector<KernelProblemRow> AttentionProblems() {
  using Mask = AttentionMask;
  constexpr DataType kBf16 = DataType::kBfloat16, kFp16 = DataType::kFloat16, kFp32 = DataType::kFloat32;
  std::vector<KernelProblemRow> rows;
  const auto add = [&rows](const char* name, const Spec& spec) {
    rows.push_back({name, [spec] { return Attention(spec); }});
  };
  // Key lengths of 64 (mod 128) with scores far below zero are where a release of cuDNN was wrong.
  add("attention/bfloat16_far_negative",
      Backward(SpecOf(kBf16, {1, 2, 2, 64, 192, 64}), AttentionLogits::kFarNegative));
  add("attention/float16_causal_grouped", Backward(SpecOf(kFp16, {1, 4, 2, 136, 136, 128}, Mask::kCausal)));
  add("attention/bfloat16_long", Backward(SpecOf(kBf16, {1, 1, 1, 96, 1500, 128})));
  add("attention/bfloat16_odd", Backward(SpecOf(kBf16, {2, 1, 1, 77, 131, 72})));
  add("attention/bfloat16_wide", Backward(SpecOf(kBf16, {1, 1, 1, 96, 96, 256}, Mask::kCausal)));
  add("attention/float16_far_positive",
      Backward(SpecOf(kFp16, {1, 2, 1, 64, 256, 64}), AttentionLogits::kFarPositive));
  add("attention/float32_plain", Backward(SpecOf(kFp32, {1, 2, 2, 48, 160, 64})));
  add("attention/float32_small", Backward(SpecOf(kFp32, {1, 2, 1, 3, 12, 64})));
  add("attention/float16_bias", SpecOf(kFp16, {1, 2, 2, 48, 128, 64}, Mask::kBias));
  add("attention/bfloat16_decode", SpecOf(kBf16, {2, 8, 2, 1, 1000, 128}));
  add("attention/float16_decode", SpecOf(kFp16, {1, 8, 2, 1, 4000, 64}));
  add("attention/bfloat16_bottom_right", SpecOf(kBf16, {1, 2, 2, 65, 257, 64}, Mask::kCausalBottomRight));
  add("attention/float16_lengths", SpecOf(kFp16, {3, 1, 1, 70, 200, 64}, Mask::kPadding));
  add("attention/bfloat16_prefill", SpecOf(kBf16, {2, 4, 2, 33, 300, 64}, Mask::kCausalBottomRight));
  add("attention/bfloat16_lengths", SpecOf(kBf16, {3, 4, 2, 70, 200, 64}, Mask::kPadding));
  add("attention/bfloat16_window", SpecOf(kBf16, {1, 1, 1, 200, 200, 64}, Mask::kSlidingWindow));
  rows.push_back({"attention/sizes_differ", SizesDiffer});
  return rows;
}

}  // namespace cudnn_ci
