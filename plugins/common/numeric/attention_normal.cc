// The definition of attention in float64, and its bounds.
//
// What a kernel does is that of FlashAttention-2 (Dao 2023, https://arxiv.org/abs/2307.08691, algorithms 1
// and 2), and of the graph that cudnn-frontend builds: products of the 16-bit inputs are summed in float32 by
// tensor cores; scores, softmax and the gradient of the scores are float32; probabilities and that gradient
// are rounded to the tensors' type before they are multiplied again; outputs are rounded once at the end, but
// for dK and dV of grouped heads, which are rounded for each head of queries before they are added.
//
// A sum of n products on tensor cores errs by 4 n u sum |a b|, u = 2^-24 (Fasi, Higham, Mikaitis, Pranesh
// 2021, Numerical behavior of NVIDIA tensor cores, PeerJ CS 7:e330: they cut off, and align to the largest).
// ex2.approx errs by 2^-22 of its result (PTX ISA); an error of its argument becomes a relative one of the
// result; the argument is the score and the largest one, each times the scale and log2(e), so that it errs
// by some u of either. The roundings to the type, of u = 2^-8 (bfloat16) or 2^-11 (float16), err by
// u sum |a b| at most, and all but once in 10^13 by 8 u sqrt(sum (a b)^2) (Higham and Mary 2019, A New
// Approach to Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41(5): 2 exp(-8^2 / 2)); the
// smaller holds. Below 2^-14 float16 rounds to multiples of 2^-24.
#include "common/numeric/attention_normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/numeric/attention_tables.h"
#include "common/numeric/parallel.h"
#include "common/numeric/repeat.h"

namespace cudnn_ci {
namespace {

constexpr double kUnit32 = 0x1p-24, kExp = 0x1p-22, kCutOff = 4, kSigmas = 8;
constexpr double kFewRoundings = 8;  // in float32, of what is no sum
constexpr float kPoison = 96;        // behind a length: large, and no NaN, which masked products keep

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

// Sums of products of a weight, which was rounded to the type, with a vector; each of `count` vectors of
// `size` elements.
class Sums {
 public:
  Sums(std::int64_t count, std::int64_t size) : size_(size) {
    for (std::vector<double>* all : {&value_, &sizes_, &errors_, &squares_}) all->assign(At(count * size), 0);
  }
  // `error`: of the weight, but for its rounding.
  void Add(std::int64_t vector, double weight, double error, const double* x) {
    double *const value = &value_[At(vector * size_)], *const sizes = &sizes_[At(vector * size_)],
                  *const errors = &errors_[At(vector * size_)],
                  *const squares = &squares_[At(vector * size_)];
    for (std::int64_t d = 0; d < size_; ++d) {
      const double product = weight * x[d];
      value[d] += product;
      sizes[d] += std::fabs(product);
      errors[d] += error * std::fabs(x[d]);
      squares[d] += product * product;
    }
  }
  double Value(std::int64_t i) const { return value_[At(i)]; }
  double Bound(std::int64_t i, std::int64_t terms, double unit) const {
    const double rounding = unit * std::min(sizes_[At(i)], kSigmas * std::sqrt(squares_[At(i)]));
    const double sum = (kCutOff * static_cast<double>(terms) + kFewRoundings) * kUnit32 * sizes_[At(i)];
    return errors_[At(i)] + rounding + sum;
  }

 private:
  const std::int64_t size_;
  std::vector<double> value_, sizes_, errors_, squares_;
};

struct Dot {
  double value = 0, sizes = 0;
};
Dot DotOf(const double* a, const double* b, std::int64_t n) {
  Dot dot;
  for (std::int64_t d = 0; d < n; ++d) {
    const double product = a[d] * b[d];
    dot.value += product;
    dot.sizes += std::fabs(product);
  }
  return dot;
}
// Of a sum on tensor cores.
double ErrorOf(const Dot& dot, std::int64_t n) {
  return kCutOff * static_cast<double>(n) * kUnit32 * dot.sizes;
}

class Definition {
 public:
  Definition(const AttentionProblemSpec& spec, std::uint64_t seed)
      : spec_(spec),
        shape_(spec.shape),
        d_(shape_.head_size),
        dv_(shape_.v_head_size),
        scale_(spec.Scale()),
        half_(spec.type == DataType::kFloat16),
        unit_(half_ ? 0x1p-11 : 0x1p-8),
        tiny_(half_ ? 0x1p-25 : 0) {
    const auto fill = [&](std::vector<float>* to, const AttentionTensor& tensor, std::uint64_t number) {
      const NormalData data(spec.type, seed + number);
      for (std::int64_t i = 0; i < tensor.Count(); ++i) to->push_back(static_cast<float>(data.At(i)));
    };
    fill(&n_.q, spec.Q(), 1), fill(&n_.k, spec.K(), 2), fill(&n_.v, spec.V(), 3);
    PoisonBehindLengths(spec.K(), &n_.k), PoisonBehindLengths(spec.V(), &n_.v);
    const std::size_t o = At(spec.O().Count()), stats = At(spec.Stats().Count());
    n_.o.resize(o), n_.stats.resize(stats);
    if (!spec.backward) {
      n_.allowed[AttentionRole::kO].resize(o), n_.allowed[AttentionRole::kStats].resize(stats);
      return;
    }
    fill(&n_.d_o, spec.O(), 4);
    PoisonBehindLengths(spec.O(), &n_.d_o);
    n_.dq.resize(n_.q.size()), n_.dk.resize(n_.k.size()), n_.dv.resize(n_.v.size());
    n_.allowed[AttentionRole::kDq].resize(n_.q.size());
    n_.allowed[AttentionRole::kDk].resize(n_.k.size());
    n_.allowed[AttentionRole::kDv].resize(n_.v.size());
  }

  AttentionNumbers Make() {
    ParallelFor(shape_.batch * shape_.kv_heads, 1, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t g = begin; g < end; ++g) MakeHead(g);
    });
    return std::move(n_);
  }

 private:
  // What does not count shows where it is read.
  void PoisonBehindLengths(const AttentionTensor& tensor, std::vector<float>* numbers) const {
    for (std::int64_t b = 0; b < tensor.batch; ++b) {
      const std::int64_t length = IsByKey(tensor.role) ? shape_.Keys(b) : shape_.Queries(b);
      for (std::int64_t h = 0; h < tensor.heads; ++h) {
        const auto head = numbers->begin() + (b * tensor.heads + h) * tensor.length * tensor.size;
        std::fill(head + length * tensor.size, head + tensor.length * tensor.size, kPoison);
      }
    }
  }

  static std::vector<double> Wide(const std::vector<float>& from, std::int64_t begin, std::int64_t count) {
    return {from.begin() + begin, from.begin() + begin + count};
  }

  // A head of keys and all heads of queries that have it.
  void MakeHead(std::int64_t kv_head) {
    const std::int64_t b = kv_head / shape_.kv_heads, g = kv_head % shape_.kv_heads, keys = shape_.keys;
    const std::vector<double> k = Wide(n_.k, kv_head * keys * d_, keys * d_),
                              v = Wide(n_.v, kv_head * keys * dv_, keys * dv_);
    for (std::int64_t h = g * shape_.Group(); h < (g + 1) * shape_.Group(); ++h) {
      Sums dk(keys, d_), dv(keys, dv_);
      for (std::int64_t i = 0; i < shape_.Queries(b); ++i) {
        const Row row = MakeRow(b, b * shape_.q_heads + h, i, k);
        Forward(row, v);
        if (spec_.backward) Backward(row, k, v, &dk, &dv);
      }
      if (!spec_.backward) continue;
      Take(dk, kv_head * keys * d_, scale_, AttentionRole::kDk, &n_.dk);
      Take(dv, kv_head * keys * dv_, 1, AttentionRole::kDv, &n_.dv);
    }
  }

  // A query and the scores of the keys that it sees.
  struct Row {
    std::int64_t index = 0;  // of the query among all
    KeyRange range;
    std::vector<double> q, s, error;  // error: of the score, and of what is taken with it
    double most = 0;
  };

  Row MakeRow(std::int64_t b, std::int64_t q_head, std::int64_t i, const std::vector<double>& k) const {
    Row row;
    row.index = q_head * shape_.queries + i;
    row.range = shape_.Visible(b, i);
    row.q = Wide(n_.q, row.index * d_, d_);
    row.most = -std::numeric_limits<double>::infinity();
    for (std::int64_t j = row.range.begin; j < row.range.end; ++j) {
      const Dot dot = DotOf(row.q.data(), &k[At(j * d_)], d_);
      row.s.push_back(scale_ * dot.value);
      row.error.push_back(scale_ * ErrorOf(dot, d_) + kFewRoundings * kUnit32 * std::fabs(row.s.back()) +
                          kExp);
      row.most = std::max(row.most, row.s.back());
    }
    return row;
  }

  void Forward(const Row& row, const std::vector<double>& v) {
    double sum = 0, sum_error = 0;
    for (std::size_t n = 0; n < row.s.size(); ++n) sum += std::exp(row.s[n] - row.most);
    const double lse = row.most + std::log(sum);
    const double of_most = kFewRoundings * kUnit32 * std::fabs(row.most);
    Sums o(1, dv_);
    for (std::size_t n = 0; n < row.s.size(); ++n) {
      const double p = std::exp(row.s[n] - lse), error = p * (row.error[n] + of_most);
      sum_error += error;
      o.Add(0, p, error + tiny_, &v[At((row.range.begin + static_cast<std::int64_t>(n)) * dv_)]);
    }
    const std::int64_t keys = row.range.Count();
    sum_error += (static_cast<double>(keys) + kFewRoundings) * kUnit32;
    n_.stats[At(row.index)] = static_cast<float>(lse);
    for (std::int64_t d = 0; d < dv_; ++d) {
      const double value = o.Value(d);
      n_.o[At(row.index * dv_ + d)] = static_cast<float>(spec_.backward ? RoundTo(spec_.type, value) : value);
      if (!spec_.backward)
        n_.allowed.at(AttentionRole::kO)[At(row.index * dv_ + d)] =
            static_cast<float>(o.Bound(d, keys, unit_) + std::fabs(value) * sum_error);
    }
    if (!spec_.backward)
      n_.allowed.at(AttentionRole::kStats)[At(row.index)] =
          static_cast<float>(AttentionStatsBound(lse) + sum_error);
  }

  void Backward(const Row& row, const std::vector<double>& k, const std::vector<double>& v, Sums* dk,
                Sums* dv) {
    const std::vector<double> d_o = Wide(n_.d_o, row.index * dv_, dv_), o = Wide(n_.o, row.index * dv_, dv_);
    const double lse = n_.stats[At(row.index)], of_lse = kFewRoundings * kUnit32 * std::fabs(lse);
    const Dot delta = DotOf(d_o.data(), o.data(), dv_);
    Sums dq(1, d_);
    for (std::size_t n = 0; n < row.s.size(); ++n) {
      const std::int64_t j = row.range.begin + static_cast<std::int64_t>(n);
      const double p = std::exp(row.s[n] - lse), of_p = row.error[n] + of_lse;
      const Dot dp = DotOf(d_o.data(), &v[At(j * dv_)], dv_);
      const double ds = p * (dp.value - delta.value);
      const double of_ds =
          p * (ErrorOf(dp, dv_) + ErrorOf(delta, dv_)) + std::fabs(ds) * (of_p + kFewRoundings * kUnit32);
      // It may be rounded before or behind the scale.
      dq.Add(0, ds, of_ds + tiny_ / scale_, &k[At(j * d_)]);
      dk->Add(j, ds, of_ds + tiny_ / scale_, row.q.data());
      dv->Add(j, p, p * of_p + tiny_, d_o.data());
    }
    std::vector<float>& allowed = n_.allowed.at(AttentionRole::kDq);
    for (std::int64_t d = 0; d < d_; ++d) {
      n_.dq[At(row.index * d_ + d)] = static_cast<float>(scale_ * dq.Value(d));
      allowed[At(row.index * d_ + d)] = static_cast<float>(scale_ * dq.Bound(d, row.range.Count(), unit_));
    }
  }

  // Adds what one head of queries gives to the gradients of keys or values.
  void Take(const Sums& part, std::int64_t begin, double scale, AttentionRole role, std::vector<float>* to) {
    std::vector<float>& allowed = n_.allowed.at(role);
    const std::int64_t count = shape_.keys * (role == AttentionRole::kDk ? d_ : dv_);
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = scale * part.Value(i);
      const double rounded = shape_.Group() > 1 ? unit_ * std::fabs(value) + tiny_ : 0;
      (*to)[At(begin + i)] += static_cast<float>(value);
      allowed[At(begin + i)] += static_cast<float>(scale * part.Bound(i, shape_.queries, unit_) + rounded +
                                                   kUnit32 * std::fabs(value));
    }
  }

  const AttentionProblemSpec& spec_;
  const AttentionShape& shape_;
  const std::int64_t d_, dv_;
  const double scale_;
  const bool half_;
  const double unit_, tiny_;
  AttentionNumbers n_;
};

}  // namespace

AttentionNumbers MakeNormalAttention(const AttentionProblemSpec& spec, std::uint64_t seed) {
  if (const std::vector<AttentionProblemText> problems = ProblemsOf(spec.shape); !problems.empty())
    throw std::logic_error(problems.front().field + " " + problems.front().why);
  if (HasBias(spec.shape.mask))
    throw std::logic_error(std::string("no normal data with ") + Name(spec.shape.mask));
  AttentionNumbers numbers = Definition(spec, seed).Make();
  StoreTables(spec, &numbers);
  return numbers;
}

}  // namespace cudnn_ci
