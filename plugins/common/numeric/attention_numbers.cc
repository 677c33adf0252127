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
#include "common/numeric/attention_scales.h"
#include "common/numeric/attention_tables.h"

namespace cudnn_ci {
namespace {

constexpr float kKeyDigit = 16, kQueryDigit = 8, kQueryConstant = 16;
constexpr double kDigitScore = kKeyDigit * kQueryDigit;
constexpr float kPoison =
    96;  // of what does not count; large, and no NaN: 0 * NaN is NaN in right kernels too
constexpr int kMostTies = 4, kTries = 32, kGradients = 3;

using Random = std::mt19937_64;

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

// The keys of one head: which of them share a code, and the code of each group.
class Codes {
 public:
  // Keys whose part of a bias differs get different codes.
  Codes(const AttentionShape& shape, const AttentionBias* bias, Random* random)
      : dimensions_(Shuffled(shape.head_size, random)), bias_(bias) {
    group_of_.reserve(static_cast<std::size_t>(shape.keys));
    std::vector<bool> closed;
    for (std::int64_t j = 0; j < shape.keys; ++j) {
      const bool alone = IsAlone(j, shape);
      const std::int64_t group =
          alone ? static_cast<std::int64_t>(members_.size()) : Choose(j, closed, random);
      if (group == static_cast<std::int64_t>(members_.size())) {
        members_.emplace_back();
        closed.push_back(alone || Below(random, 5) == 0);
      }
      group_of_.push_back(group);
      members_[static_cast<std::size_t>(group)].push_back(j);
    }
    ChooseDigits(shape.head_size / 2 - 1, random);
  }

  std::size_t digits() const { return sizes_.size(); }
  // The dimension that is 1 in digit `digit` of a key's code.
  std::int64_t Dimension(std::int64_t key, std::size_t digit) const {
    std::int64_t code = code_of_[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(key)])],
                 from = 0;
    for (std::size_t i = 0; i < digit; ++i) {
      code /= sizes_[i];
      from += sizes_[i];
    }
    return dimensions_[static_cast<std::size_t>(from + code % sizes_[digit])];
  }
  std::int64_t constant() const { return dimensions_[static_cast<std::size_t>(used_)]; }
  // The dimensions in which every query is 0.
  std::vector<std::int64_t> Free() const { return {dimensions_.begin() + used_ + 1, dimensions_.end()}; }
  // The keys of a range that have the code of `key`.
  std::vector<std::int64_t> Matching(std::int64_t key, const KeyRange& range) const {
    std::vector<std::int64_t> found;
    for (const std::int64_t j : members_[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(key)])])
      if (j >= range.begin && j < range.end) found.push_back(j);
    return found;
  }

 private:
  // These have a code that no other key has, so that every query sees one that matches alone: those that
  // begin at the first key see that, a whole window one of each `window` keys, and what is left of it at the
  // end the last key.
  static bool IsAlone(std::int64_t key, const AttentionShape& shape) {
    if (key == 0 || shape.mask != AttentionMask::kSlidingWindow) return key == 0;
    return key % shape.window == 0 || key == shape.keys - 1;
  }
  static std::vector<std::int64_t> Shuffled(std::int64_t n, Random* random) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    for (std::int64_t i = n - 1; i > 0; --i)
      std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(Below(random, i + 1))]);
    return all;
  }

  // Neighbours share a code as often as keys that are far apart: a mask that is off by one shows.
  std::int64_t Choose(std::int64_t key, const std::vector<bool>& closed, Random* random) const {
    const auto groups = static_cast<std::int64_t>(members_.size());
    const std::int64_t dice = Below(random, 10);
    std::int64_t group = groups;
    if (key > 0 && dice < 3) group = group_of_.back();
    if (key > 0 && dice >= 3 && dice < 6) group = Below(random, groups);
    if (group == groups || closed[static_cast<std::size_t>(group)]) return groups;
    const std::vector<std::int64_t>& members = members_[static_cast<std::size_t>(group)];
    if (bias_ && bias_->OfKey(members.front()) != bias_->OfKey(key)) return groups;
    return members.size() < kMostTies ? group : groups;
  }

  // As few digits as name all groups: each makes the scores larger.
  void ChooseDigits(std::int64_t room, Random* random) {
    const auto groups = static_cast<std::int64_t>(members_.size());
    std::int64_t codes = 0;
    for (std::int64_t n = 1; codes < groups; ++n) {
      if (n > room / 2) throw std::logic_error("more keys than codes");
      sizes_.clear();
      codes = 1;
      for (std::int64_t i = 0; i < n; ++i) {
        sizes_.push_back(room / n + (i < room % n ? 1 : 0));
        codes = std::min(codes * sizes_.back(), std::int64_t{1} << 40);
      }
    }
    used_ = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
    // Distinct: a step that has no divisor in common with the number of codes.
    std::int64_t step = 1 + Below(random, codes);
    while (std::gcd(step, codes) != 1) ++step;
    for (std::int64_t g = 0; g < groups; ++g) code_of_.push_back(g * step % codes);
  }

  const std::vector<std::int64_t> dimensions_;
  const AttentionBias* const bias_;
  std::vector<std::int64_t> group_of_, code_of_, sizes_;
  std::vector<std::vector<std::int64_t>> members_;
  std::int64_t used_ = 0;
};

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

  void MakeHead(std::int64_t b, std::int64_t g) {
    kv_head_ = b * shape_.kv_heads + g;
    const Codes codes(shape_, bias_ ? &*bias_ : nullptr, &random_);
    for (std::int64_t j = 0; j < shape_.keys; ++j) MakeKey(codes, j, j < shape_.Keys(b));
    for (std::int64_t h = g * shape_.Group(); h < (g + 1) * shape_.Group(); ++h) {
      partial_dk_.assign(static_cast<std::size_t>(shape_.keys * shape_.head_size), 0);
      partial_dv_.assign(static_cast<std::size_t>(shape_.keys * shape_.v_head_size), 0);
      for (std::int64_t i = 0; i < shape_.queries; ++i) MakeQuery(codes, b, h, i);
    }
  }

  void MakeKey(const Codes& codes, std::int64_t j, bool counts) {
    float* k = KeyRow(&numbers_.k, j);
    float* v = ValueRow(&numbers_.v, j);
    for (std::int64_t d = 0; d < shape_.v_head_size; ++d)
      v[d] = counts ? static_cast<float>(Below(&random_, 3) - 1) : kPoison;
    for (const std::int64_t d : codes.Free()) k[d] = static_cast<float>(Below(&random_, 5) - 2);
    const double constant =
        (ScoreOf(spec_.logits) - kDigitScore * static_cast<double>(codes.digits())) / kQueryConstant;
    k[codes.constant()] = counts ? static_cast<float>(constant) : kPoison;
    for (std::size_t i = 0; i < codes.digits(); ++i) k[codes.Dimension(j, i)] = kKeyDigit;
  }

  // The keys that a query matches: as many as a power of two. The last and the first one that it sees are
  // looked at most, since there masks and tiles end.
  template <class Shows>
  std::vector<std::int64_t> ChooseKeys(const Codes& codes, const KeyRange& range, Shows shows) {
    const auto matching = [&](std::int64_t key) {
      std::vector<std::int64_t> keys = codes.Matching(key, range);
      keys.erase(std::remove_if(keys.begin(), keys.end(), [&](std::int64_t j) { return !shows(j); }),
                 keys.end());
      return keys;
    };
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const std::int64_t dice = Below(&random_, 10);
      std::int64_t key = range.begin + Below(&random_, range.Count());
      if (dice < 4) key = range.end - 1;
      if (dice == 4 || (dice < 8 && dice > 4 && range.begin > 0)) key = range.begin;
      // Behind a gap, the first one.
      for (std::int64_t n = 0; n < range.Count() && !shows(key); ++n)
        key = key + 1 < range.end ? key + 1 : range.begin;
      std::vector<std::int64_t> keys = matching(key);
      if (!keys.empty() && keys.size() != 3) return keys;
    }
    for (std::int64_t key = range.begin; key < range.end; ++key)
      if (std::vector<std::int64_t> keys = matching(key); !keys.empty() && keys.size() != 3) return keys;
    throw std::logic_error("three keys with one code, and no other");
  }

  void MakeQuery(const Codes& codes, std::int64_t b, std::int64_t h, std::int64_t i) {
    const std::int64_t q_head = b * shape_.q_heads + h;
    float* q = Row(&numbers_.q, q_head, shape_.queries, i, shape_.head_size);
    float* o = Row(&numbers_.o, q_head, shape_.queries, i, shape_.v_head_size);
    float* d_o = Row(&numbers_.d_o, q_head, shape_.queries, i, shape_.v_head_size);
    q[codes.constant()] = kQueryConstant;
    const KeyRange range = shape_.Visible(b, i);
    if (range.Count() == 0) {
      std::fill(d_o, d_o + shape_.v_head_size, kPoison);
      std::fill(o, o + shape_.v_head_size, 1.0F);
      return;
    }
    const std::vector<std::int64_t> keys =
        ChooseKeys(codes, range, [&](std::int64_t j) { return !bias_ || bias_->Shows(b, h, i, j); });
    for (std::size_t digit = 0; digit < codes.digits(); ++digit)
      q[codes.Dimension(keys[0], digit)] = kQueryDigit;
    const auto ties = static_cast<float>(keys.size());
    for (const std::int64_t j : keys) {
      const float* v = ValueRow(&numbers_.v, j);
      for (std::int64_t d = 0; d < shape_.v_head_size; ++d) o[d] += v[d] / ties;
    }
    const double bias = bias_ ? bias_->At(b, h, i, keys[0]) : 0;
    numbers_.stats[static_cast<std::size_t>(q_head * shape_.queries + i)] =
        static_cast<float>(ScoreOf(spec_.logits) + bias + std::log(static_cast<double>(ties)));
    MakeGradients(codes, keys, q_head, i);
  }

  // Three entries of +-1, or none where a sum would need more digits than the type has. What 8 bits do not
  // hold of the gradient of the scores they do not hold of its product with the keys either, which has dozens
  // of elements: 17/16 is the one such number.
  void MakeGradients(const Codes& codes, const std::vector<std::int64_t>& keys, std::int64_t q_head,
                     std::int64_t i) {
    std::array<std::int64_t, kGradients> at{};
    std::array<float, kGradients> sign{};
    for (int n = 0; n < kGradients; ++n) {
      const std::int64_t part = shape_.v_head_size / kGradients;
      at[static_cast<std::size_t>(n)] = n * part + Below(&random_, part);
      sign[static_cast<std::size_t>(n)] = Below(&random_, 2) == 0 ? -1.0F : 1.0F;
    }
    std::vector<float> ds;
    for (const std::int64_t j : keys) {
      float dp = 0;
      for (std::size_t n = 0; n < kGradients; ++n) dp += sign[n] * ValueRow(&numbers_.v, j)[at[n]];
      ds.push_back(dp);
    }
    const auto ties = static_cast<float>(keys.size());
    const float mean = std::accumulate(ds.begin(), ds.end(), 0.0F) / ties;
    for (float& s : ds) s = (s - mean) / ties;

    const float* q = Row(&numbers_.q, q_head, shape_.queries, i, shape_.head_size);
    std::vector<std::int64_t> where = {codes.constant()};
    for (std::size_t digit = 0; digit < codes.digits(); ++digit)
      where.push_back(codes.Dimension(keys[0], digit));
    const auto add = [&](float factor) {
      bool fits = true;
      for (std::size_t n = 0; n < keys.size(); ++n) {
        for (const std::int64_t d : where)
          fits &= AddTo(KeyRow(&numbers_.dk, keys[n]), &partial_dk_, keys[n], shape_.head_size, d,
                        factor * ds[n] * q[d]);
        for (std::size_t m = 0; m < kGradients; ++m)
          fits &= AddTo(ValueRow(&numbers_.dv, keys[n]), &partial_dv_, keys[n], shape_.v_head_size, at[m],
                        factor * sign[m] / ties);
        fits &= AddToBias(q_head, i, keys[n], ds[n], factor);
      }
      return fits;
    };
    float* dq = Row(&numbers_.dq, q_head, shape_.queries, i, shape_.head_size);
    for (std::size_t n = 0; n < keys.size(); ++n)
      for (std::int64_t d = 0; d < shape_.head_size; ++d) dq[d] += ds[n] * KeyRow(&numbers_.k, keys[n])[d];
    bool fits = add(1);
    for (std::int64_t d = 0; d < shape_.head_size; ++d) fits &= Fits(spec_.type, dq[d]);
    if (!fits) {
      add(-1);
      std::fill(dq, dq + shape_.head_size, 0.0F);
      return;
    }
    float* d_o = Row(&numbers_.d_o, q_head, shape_.queries, i, shape_.v_head_size);
    for (std::size_t n = 0; n < kGradients; ++n) d_o[at[n]] = sign[n];
    for (const float s : ds) most_of_ds_ = std::max(most_of_ds_, std::fabs(s));
  }

  // Both the sum of one head of queries and that of all that share the keys: kernels may round the first.
  bool AddTo(float* whole, std::vector<float>* partial, std::int64_t key, std::int64_t size, std::int64_t d,
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
  std::vector<float> partial_dk_, partial_dv_;  // of the keys of one head, by one head of queries
};

}  // namespace

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
  for (const AttentionTensor& tensor : spec.Inputs())
    if (tensor.role >= AttentionRole::kLengthsQ)
      numbers.others[tensor.role] = AttentionTable(spec, tensor.role);
  if (spec.Scaled()) StoreScaled(spec, maker.most_of_ds(), &numbers);
  return numbers;
}

}  // namespace cudnn_ci
