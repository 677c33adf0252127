#include "common/numeric/attention_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/numeric/attention_bias.h"
#include "common/numeric/attention_codes.h"
#include "common/numeric/attention_keys.h"
#include "common/numeric/attention_scales.h"
#include "common/numeric/attention_tables.h"

namespace cudnn_ci {
namespace {

constexpr float kKeyDigit = 16, kQueryDigit = 8, kQueryConstant = 16;
constexpr double kDigitScore = kKeyDigit * kQueryDigit;
// Of O, where partial sums are combined by weights that ex2.approx and lg2.approx give, whose errors are
// 2^-22 (PTX ISA); the weights are of parts whose sizes differ. Measured where the sum is 0: 3.8e-6 at most.
constexpr float kPartialSumError = 0x1p-18F;
constexpr float kPoison =
    96;  // of what does not count; large, and no NaN: 0 * NaN is NaN in right kernels too
constexpr int kTries = 8, kDraws = 512, kGradients = 3;
constexpr std::size_t kFewTies = 4;

using Random = std::mt19937_64;
using Numbers = std::vector<float>;

// 0 of nothing.
std::int64_t Below(Random* random, std::int64_t n) {
  return n < 1 ? 0 : static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(n));
}

// Most numbers are told by the digits that the type lacks: this is asked of each element of each row.
bool Fits(DataType type, float value) {
  constexpr std::uint32_t kNotOfBfloat16 = 0xFFFF, kNotOfFloat16 = 0x1FFF;
  const float magnitude = std::fabs(value);
  if (magnitude == 0) return true;
  if (magnitude < 0x1p-14F || magnitude > 32768 || SizeOf(type) != 2) return RoundTo(type, value) == value;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits & (type == DataType::kFloat16 ? kNotOfFloat16 : kNotOfBfloat16)) == 0;
}

class Maker {
 public:
  Maker(const AttentionProblemSpec& spec, std::uint64_t seed)
      : spec_(spec), shape_(spec.shape), random_(seed) {
    const auto sized = [](const AttentionTensor& tensor) {
      return std::vector<float>(static_cast<std::size_t>(tensor.Count()));
    };
    numbers_ = {sized(spec.Q()),     sized(spec.K()), sized(spec.V()), sized(spec.O()), sized(spec.O()),
                sized(spec.Stats()), sized(spec.Q()), sized(spec.K()), sized(spec.V())};
    if (!HasBias(shape_.mask)) return;
    bias_.emplace(shape_);
    numbers_.bias.reserve(static_cast<std::size_t>(spec.Bias().Count()));
    for (std::int64_t b = 0; b < shape_.BiasBatch(); ++b)
      for (std::int64_t h = 0; h < shape_.BiasHeads(); ++h)
        for (std::int64_t i = 0; i < shape_.queries; ++i)
          for (std::int64_t j = 0; j < shape_.keys; ++j)
            numbers_.bias.push_back(static_cast<float>(bias_->At(b, h, i, j)));
    if (spec.bias_gradient) numbers_.d_bias = numbers_.allowed[AttentionRole::kDbias] = sized(spec.Bias());
  }

  // The largest magnitude of the gradient of the scores.
  float most_of_ds() const { return most_of_ds_; }

  AttentionNumbers Make() {
    for (std::int64_t b = 0; b < shape_.batch; ++b)
      for (std::int64_t g = 0; g < shape_.kv_heads; ++g) MakeHead(b, g);
    std::vector<float>& allowed = numbers_.allowed[AttentionRole::kStats];
    for (const float stats : numbers_.stats)
      allowed.push_back(static_cast<float>(AttentionStatsBound(stats)));
    // V is 1 or -1 and the probabilities add up to 1: so do the magnitudes of what is summed.
    if (SharesKeysAmongBlocks(shape_))
      numbers_.allowed[AttentionRole::kO].assign(numbers_.o.size(), kPartialSumError);
    return std::move(numbers_);
  }

 private:
  float* Row(std::vector<float>* tensor, std::int64_t head, std::int64_t length, std::int64_t s,
             std::int64_t size) const {
    return tensor->data() + (head * length + s) * size;
  }
  float* KeyRow(std::vector<float>* tensor, std::int64_t key) const {
    return Row(tensor, kv_head_, shape_.keys, key, shape_.head_size);
  }
  float* ValueRow(std::vector<float>* tensor, std::int64_t key) const {
    return Row(tensor, kv_head_, shape_.keys, key, shape_.v_head_size);
  }

  float Sign() { return Below(&random_, 2) == 0 ? -1.0F : 1.0F; }

  void MakeHead(std::int64_t b, std::int64_t g) {
    kv_head_ = b * shape_.kv_heads + g;
    const KeyPlanLimits limits = {RoomForCodes(shape_.head_size), MostKeysOfASet()};
    const KeyPlan plan = PlanKeys(shape_, b, g, bias_ ? &*bias_ : nullptr, limits, &random_);
    const KeyCodes codes(plan, shape_.keys, shape_.head_size, &random_);
    for (std::int64_t j = 0; j < shape_.keys; ++j) MakeKey(codes, j, j < shape_.Keys(b));
    const std::int64_t first_head = b * shape_.q_heads + g * shape_.Group();
    for (std::int64_t h = 0; h < shape_.Group(); ++h)
      for (std::int64_t i = 0; i < shape_.queries; ++i) MakeQuery(codes, first_head + h, i);
    partial_dk_.assign(static_cast<std::size_t>(shape_.Group()), {});
    partial_dv_ = partial_dk_;
    for (Numbers& partial : partial_dk_)
      partial.assign(static_cast<std::size_t>(shape_.keys * shape_.head_size), 0);
    for (Numbers& partial : partial_dv_)
      partial.assign(static_cast<std::size_t>(shape_.keys * shape_.v_head_size), 0);
    for (const KeyQuestion& question : plan.questions) {
      const Asked asked = {question.keys, codes.OfSet(question.set), question.head,
                           first_head + question.head, question.query};
      Ask(asked, b);
      for (int attempt = 0; attempt < kTries && !MakeGradients(codes, asked); ++attempt) {
      }
    }
  }

  // So that the sums fit the type: O has at most the digits of the number of keys, less one. The gradients of
  // many keys have more than 8 bits hold.
  std::int64_t MostKeysOfASet() const {
    if (!spec_.Scaled()) return 2048;
    return spec_.backward ? 4 : 32;
  }

  // V is nowhere 0, so that three of its elements never cancel: each value shows in a gradient.
  void MakeKey(const KeyCodes& codes, std::int64_t j, bool counts) {
    float* k = KeyRow(&numbers_.k, j);
    float* v = ValueRow(&numbers_.v, j);
    for (std::int64_t d = 0; d < shape_.v_head_size; ++d) v[d] = counts ? Sign() : kPoison;
    for (const std::int64_t d : codes.Free()) k[d] = static_cast<float>(Below(&random_, 5) - 2);
    const double constant =
        (ScoreOf(spec_.logits) - kDigitScore * static_cast<double>(codes.digits())) / kQueryConstant;
    k[codes.constant()] = counts ? static_cast<float>(constant) : kPoison;
    for (const std::int64_t d : codes.OfKey(j)) k[d] = kKeyDigit;
  }

  // What a query has that sees no key.
  void MakeQuery(const KeyCodes& codes, std::int64_t q_head, std::int64_t i) {
    Row(&numbers_.q, q_head, shape_.queries, i, shape_.head_size)[codes.constant()] = kQueryConstant;
    float* o = Row(&numbers_.o, q_head, shape_.queries, i, shape_.v_head_size);
    float* d_o = Row(&numbers_.d_o, q_head, shape_.queries, i, shape_.v_head_size);
    std::fill(d_o, d_o + shape_.v_head_size, kPoison);
    std::fill(o, o + shape_.v_head_size, 1.0F);
  }

  // A query, and the keys that share its softmax.
  struct Asked {
    const std::vector<std::int64_t>& keys;
    const std::vector<std::int64_t>& code;
    std::int64_t head, q_head, query;  // head: among those that share the keys
  };

  void Ask(const Asked& asked, std::int64_t b) {
    float* q = Row(&numbers_.q, asked.q_head, shape_.queries, asked.query, shape_.head_size);
    float* o = Row(&numbers_.o, asked.q_head, shape_.queries, asked.query, shape_.v_head_size);
    float* d_o = Row(&numbers_.d_o, asked.q_head, shape_.queries, asked.query, shape_.v_head_size);
    std::fill(o, o + shape_.v_head_size, 0.0F);
    std::fill(d_o, d_o + shape_.v_head_size, 0.0F);
    for (const std::int64_t d : asked.code) q[d] = kQueryDigit;
    const auto ties = static_cast<float>(asked.keys.size());
    for (const std::int64_t j : asked.keys) {
      const float* v = ValueRow(&numbers_.v, j);
      for (std::int64_t d = 0; d < shape_.v_head_size; ++d) o[d] += v[d] / ties;
    }
    const double bias =
        bias_ ? bias_->At(b, asked.q_head % shape_.q_heads, asked.query, asked.keys.front()) : 0;
    numbers_.stats[static_cast<std::size_t>(asked.q_head * shape_.queries + asked.query)] =
        static_cast<float>(ScoreOf(spec_.logits) + bias + std::log(static_cast<double>(ties)));
  }

  // Three entries of +-1 of the gradient of O. Where many keys share a softmax, such that the mean of what
  // they give is an integer: the gradient of the scores has few digits then.
  struct OutputGradient {
    std::array<std::int64_t, kGradients> at{};
    std::array<float, kGradients> sign{};
    float mean = 0;
  };
  OutputGradient Draw(const Asked& asked) {
    const float* o = Row(&numbers_.o, asked.q_head, shape_.queries, asked.query, shape_.v_head_size);
    const std::int64_t part = shape_.v_head_size / kGradients;
    OutputGradient drawn;
    for (int attempt = 0; attempt < kDraws; ++attempt) {
      drawn.mean = 0;
      for (std::size_t n = 0; n < kGradients; ++n) {
        drawn.at[n] = static_cast<std::int64_t>(n) * part + Below(&random_, part);
        drawn.sign[n] = Sign();
        drawn.mean += drawn.sign[n] * o[drawn.at[n]];
      }
      if (asked.keys.size() <= kFewTies || drawn.mean == std::floor(drawn.mean)) break;
    }
    return drawn;
  }

  // False where a sum would need more digits than the type has: then nothing has changed. What 8 bits do not
  // hold of the gradient of the scores they do not hold of its product with the keys either, which has dozens
  // of elements: 17/16 is the one such number.
  bool MakeGradients(const KeyCodes& codes, const Asked& asked) {
    const OutputGradient drawn = Draw(asked);
    const std::vector<std::int64_t>& keys = asked.keys;
    const auto ties = static_cast<float>(keys.size());
    std::vector<float> ds;
    bool fits = true;
    for (const std::int64_t j : keys) {
      float dp = 0;
      for (std::size_t n = 0; n < kGradients; ++n)
        dp += drawn.sign[n] * ValueRow(&numbers_.v, j)[drawn.at[n]];
      ds.push_back((dp - drawn.mean) / ties);
      fits &= keys.size() <= kFewTies || Fits(spec_.type, ds.back());
    }
    float* dq = Row(&numbers_.dq, asked.q_head, shape_.queries, asked.query, shape_.head_size);
    for (std::size_t n = 0; n < keys.size(); ++n)
      for (std::int64_t d = 0; d < shape_.head_size; ++d) dq[d] += ds[n] * KeyRow(&numbers_.k, keys[n])[d];
    for (std::int64_t d = 0; d < shape_.head_size; ++d) fits &= Fits(spec_.type, dq[d]);
    if (!fits || !AddGradients(codes, asked, drawn, ds, 1)) {
      if (fits) AddGradients(codes, asked, drawn, ds, -1);
      std::fill(dq, dq + shape_.head_size, 0.0F);
      return false;
    }
    float* d_o = Row(&numbers_.d_o, asked.q_head, shape_.queries, asked.query, shape_.v_head_size);
    for (std::size_t n = 0; n < kGradients; ++n) d_o[drawn.at[n]] = drawn.sign[n];
    for (const float s : ds) most_of_ds_ = std::max(most_of_ds_, std::fabs(s));
    return true;
  }

  // To dK, dV and dBias, or, with a factor of -1, takes them off again. Whether all sums fit.
  bool AddGradients(const KeyCodes& codes, const Asked& asked, const OutputGradient& drawn,
                    const std::vector<float>& ds, float factor) {
    const float* q = Row(&numbers_.q, asked.q_head, shape_.queries, asked.query, shape_.head_size);
    Numbers& partial_dk = partial_dk_[static_cast<std::size_t>(asked.head)];
    Numbers& partial_dv = partial_dv_[static_cast<std::size_t>(asked.head)];
    const auto ties = static_cast<float>(asked.keys.size());
    bool fits = true;
    for (std::size_t n = 0; n < asked.keys.size(); ++n) {
      const std::int64_t key = asked.keys[n];
      const auto add_to_dk = [&](std::int64_t d) {
        fits &=
            AddTo(KeyRow(&numbers_.dk, key), &partial_dk, key, shape_.head_size, d, factor * ds[n] * q[d]);
      };
      add_to_dk(codes.constant());
      for (const std::int64_t d : asked.code) add_to_dk(d);
      for (std::size_t m = 0; m < kGradients; ++m)
        fits &= AddTo(ValueRow(&numbers_.dv, key), &partial_dv, key, shape_.v_head_size, drawn.at[m],
                      factor * drawn.sign[m] / ties);
      fits &= AddToBias(asked.q_head, asked.query, key, ds[n], factor);
    }
    return fits;
  }

  // Both the sum of one head of queries and that of all that share the keys: kernels may round the first.
  bool AddTo(float* whole, Numbers* partial, std::int64_t key, std::int64_t size, std::int64_t d,
             float value) const {
    float& part = (*partial)[static_cast<std::size_t>(key * size + d)];
    part += value;
    whole[d] += value;
    return Fits(spec_.type, part) && Fits(spec_.type, whole[d]);
  }

  // Of all heads and entries that share the bias.
  bool AddToBias(std::int64_t q_head, std::int64_t i, std::int64_t key, float ds, float factor) {
    if (numbers_.d_bias.empty()) return true;
    const std::int64_t b = shape_.BiasBatch() > 1 ? q_head / shape_.q_heads : 0,
                       h = shape_.BiasHeads() > 1 ? q_head % shape_.q_heads : 0;
    const auto at =
        static_cast<std::size_t>(((b * shape_.BiasHeads() + h) * shape_.queries + i) * shape_.keys + key);
    numbers_.d_bias[at] += factor * ds;
    const double bound =
        AttentionStatsBound(numbers_.stats[static_cast<std::size_t>(q_head * shape_.queries + i)]);
    numbers_.allowed[AttentionRole::kDbias][at] += factor * std::fabs(ds) * static_cast<float>(bound);
    return Fits(spec_.type, numbers_.d_bias[at]);
  }

  const AttentionProblemSpec& spec_;
  const AttentionShape& shape_;
  std::optional<AttentionBias> bias_;
  Random random_;
  AttentionNumbers numbers_;
  std::int64_t kv_head_ = 0;
  float most_of_ds_ = 0;
  std::vector<Numbers> partial_dk_, partial_dv_;  // of the keys of one head, by each head of queries
};

}  // namespace

bool SharesKeysAmongBlocks(const AttentionShape& shape) {
  constexpr std::int64_t kFewQueries = 16;
  return shape.queries <= kFewQueries && shape.queries < shape.keys;
}

double AttentionStatsBound(double expected) {
  constexpr double kRelative = 0x1p-19, kAbsolute = 0x1p-18;
  return std::fabs(expected) * kRelative + kAbsolute;
}

const std::vector<float>& AttentionNumbers::Of(AttentionRole role) const {
  if (const auto scale = others.find(role); scale != others.end()) return scale->second;
  const std::vector<float>* const all[] = {&q, &k, &v, &o, &d_o, &stats, &bias, &dq, &dk, &dv, &d_bias};
  return *all[static_cast<std::size_t>(role)];
}

AttentionNumbers MakeAttentionNumbers(const AttentionProblemSpec& spec, std::uint64_t seed) {
  if (const std::vector<AttentionProblemText> problems = ProblemsOf(spec.shape); !problems.empty())
    throw std::logic_error(problems.front().field + " " + problems.front().why);
  Maker maker(spec, seed);
  AttentionNumbers numbers = maker.Make();
  StoreTables(spec, &numbers);
  if (spec.Scaled()) StoreScaled(spec, maker.most_of_ds(), &numbers);
  return numbers;
}

}  // namespace cudnn_ci
