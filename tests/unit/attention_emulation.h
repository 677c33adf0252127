// An attention computed the plain way on the CPU, head by head, and what may be wrong with it: for tests of
// the exact data. It knows nothing of how those are made.
#ifndef CUDNN_CI_TESTS_UNIT_ATTENTION_EMULATION_H_
#define CUDNN_CI_TESTS_UNIT_ATTENTION_EMULATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "attention/data.h"
#include "common/numeric/attention_numbers.h"

namespace cudnn_ci {

// What a faulty kernel does in rows [first, last) of one head of queries.
struct AttentionFault {
  std::int64_t first = 0, last = 0;
  int more_behind = 0, more_before = 0;       // keys that it sees too many (or, below 0, too few)
  std::int64_t lost_begin = 0, lost_end = 0;  // keys that it leaves out
  std::int64_t kv_head = -1;                  // another head of keys and values
  std::int64_t row_shift = 0;                 // of the rows of V, or of the gradient of O, that it reads
  double scale = 1;                           // of the scores
  double gradient_scale = 1;                  // of dQ
  double o_factor = 1;                        // of O
  bool not_normalised = false, no_rescaling = false, swapped_dimensions = false, log2_statistics = false;
  bool unwritten = false, no_delta = false, nan = false, twice = false, stale_statistics = false;
  bool swap_dk_dv = false, dk_of_row_zero = false;
  bool step = false;  // of exp(): 1 of 0, else 0
  // Of the bias: it is left out; its factor; it, or its gradient, is of another row, key, head or entry.
  bool no_bias = false, d_bias_of_p = false, d_bias_lost = false, d_bias_twice = false;
  double bias_factor = 1;
  std::int64_t bias_row = 0, bias_key = 0, bias_head = 0, bias_entry = 0;

  bool Hits(std::int64_t row) const { return row >= first && row < last; }
};

class AttentionEmulation {
 public:
  AttentionEmulation(const AttentionProblemSpec& spec, const AttentionNumbers& numbers)
      : spec_(spec), shape_(spec.shape), n_(numbers) {}

  struct Outputs {
    std::vector<double> o, stats, dq, dk, dv, d_bias;  // of one head of queries; the last three its share
    double amax_s = 0, amax_o = 0, amax_dp = 0;
  };

  Outputs Forward(std::int64_t b, std::int64_t h, const AttentionFault& fault = {}) const {
    Outputs out;
    out.o.assign(Size(shape_.queries * shape_.v_head_size), 0);
    out.stats.assign(Size(shape_.queries), 0);
    for (std::int64_t i = 0; i < shape_.queries; ++i) {
      const bool hit = fault.Hits(i);
      const std::int64_t g = hit && fault.kv_head >= 0 ? fault.kv_head : h / shape_.Group();
      const std::vector<double> s = Scores(b, h, g, i, hit ? fault : AttentionFault{});
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (const double score : s) most = std::max(most, score);
      if (most == -std::numeric_limits<double>::infinity()) continue;
      double first_tile = most;  // of the keys in the first half, as an online softmax meets them
      if (hit && fault.no_rescaling) {
        first_tile = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < s.size() / 2; ++j) first_tile = std::max(first_tile, s[j]);
      }
      for (std::size_t j = 0; j < s.size(); ++j) {
        const double exponent = s[j] - (j < s.size() / 2 ? first_tile : most);
        const double p = hit && fault.step ? exponent >= 0 : std::exp(static_cast<float>(exponent));
        if (!(p > 0)) continue;
        sum += p;
        out.amax_s = std::max(out.amax_s, p);
        const std::int64_t key = static_cast<std::int64_t>(j) + (hit ? fault.row_shift : 0);
        const std::int64_t row = std::clamp<std::int64_t>(key, 0, shape_.keys - 1);
        for (std::int64_t d = 0; d < shape_.v_head_size; ++d)
          out.o[Size(i * shape_.v_head_size + (hit && fault.swapped_dimensions ? d ^ 1 : d))] +=
              p * V(b, g, row, d);
      }
      for (std::int64_t d = 0; d < shape_.v_head_size; ++d) {
        double& o = out.o[Size(i * shape_.v_head_size + d)];
        if (!(hit && fault.not_normalised)) o /= sum;
        if (hit && fault.nan) o = std::nan("");
        if (hit) o *= fault.o_factor;
        out.amax_o = std::max(out.amax_o, std::fabs(o));
        o *= Scale(AttentionRole::kScaleO);
      }
      out.stats[Size(i)] = most + std::log(sum);
      if (hit && fault.log2_statistics) out.stats[Size(i)] /= std::log(2.0);
      if (hit && fault.stale_statistics) out.stats[Size(i)] = i > 0 ? out.stats[Size(i - 1)] + 1 : 1;
    }
    return out;
  }

  Outputs Backward(std::int64_t b, std::int64_t h, const AttentionFault& fault = {}) const {
    Outputs out;
    const std::int64_t d_size = shape_.head_size, v_size = shape_.v_head_size;
    out.dq.assign(Size(shape_.queries * d_size), 0);
    out.dk.assign(Size(shape_.keys * d_size), 0);
    out.dv.assign(Size(shape_.keys * v_size), 0);
    out.d_bias.assign(Size(shape_.queries * shape_.keys), 0);
    for (std::int64_t i = 0; i < shape_.Queries(b); ++i) {
      const bool hit = fault.Hits(i);
      const std::int64_t g = hit && fault.kv_head >= 0 ? fault.kv_head : h / shape_.Group();
      const std::vector<double> s = Scores(b, h, g, i, hit ? fault : AttentionFault{});
      const std::int64_t stats_row = hit && fault.stale_statistics ? (i + 1) % shape_.Queries(b) : i;
      const double lse = n_.stats[Size(QueryHead(b, h) * shape_.queries + stats_row)];
      const std::int64_t o_row = hit ? (i + fault.row_shift) % shape_.Queries(b) : i;
      double delta = 0;
      for (std::int64_t d = 0; d < v_size; ++d) delta += Do(b, h, o_row, d) * O(b, h, i, d);
      if (hit && fault.no_delta) delta = 0;
      const int times = hit && fault.twice ? 2 : 1;
      for (std::size_t j = 0; j < s.size(); ++j) {
        const double exponent = s[j] - (hit && fault.not_normalised ? ScoreOf(spec_.logits) : lse);
        double p = std::exp(static_cast<float>(exponent));
        if (hit && fault.step) p = s[j] == *std::max_element(s.begin(), s.end());
        if (!(p > 0)) continue;
        const auto key = static_cast<std::int64_t>(j);
        double dp = 0;
        for (std::int64_t d = 0; d < v_size; ++d) dp += Do(b, h, o_row, d) * V(b, g, key, d);
        if (!(hit && fault.d_bias_lost))
          out.d_bias[Size(i * shape_.keys + key)] =
              (hit && fault.d_bias_twice ? 2 : 1) * p * (dp - (hit && fault.d_bias_of_p ? 0 : delta));
        out.amax_dp = std::max(out.amax_dp, std::fabs(p * (dp - delta)));
        // Kernels multiply with matrix units, which take the tensors' type.
        const double ds = times * RoundTo(spec_.type, p * (dp - delta) * Scale(AttentionRole::kScaleDp)) *
                          Scale(AttentionRole::kDescaleDp);
        const double weight =
            times * RoundTo(spec_.type, p * Scale(AttentionRole::kScaleS)) * Scale(AttentionRole::kDescaleS);
        for (std::int64_t d = 0; d < d_size; ++d) {
          const std::int64_t to = hit && fault.swapped_dimensions ? d ^ 1 : d;
          out.dq[Size(i * d_size + to)] += (hit ? fault.gradient_scale : 1) * spec_.Scale() * ds *
                                           K(b, g, key, d) * Scale(AttentionRole::kDescaleK) *
                                           Scale(AttentionRole::kScaleDq);
          out.dk[Size((hit && fault.dk_of_row_zero ? 0 : key) * d_size + d)] +=
              spec_.Scale() * ds * Q(b, h, i, d) * Scale(AttentionRole::kDescaleQ) *
              Scale(AttentionRole::kScaleDk);
        }
        for (std::int64_t d = 0; d < v_size; ++d)
          out.dv[Size(key * v_size + d)] += weight * Do(b, h, o_row, d) * Scale(AttentionRole::kScaleDv);
      }
      if (hit && fault.nan)
        for (std::int64_t d = 0; d < d_size; ++d) out.dq[Size(i * d_size + d)] = std::nan("");
    }
    if (fault.swap_dk_dv) std::swap(out.dk, out.dv);
    return out;
  }

 private:
  static std::size_t Size(std::int64_t n) { return static_cast<std::size_t>(n); }
  std::int64_t QueryHead(std::int64_t b, std::int64_t h) const { return b * shape_.q_heads + h; }
  double Q(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) const {
    return n_.q[Size((QueryHead(b, h) * shape_.queries + i) * shape_.head_size + d)];
  }
  double K(std::int64_t b, std::int64_t g, std::int64_t j, std::int64_t d) const {
    return n_.k[Size(((b * shape_.kv_heads + g) * shape_.keys + j) * shape_.head_size + d)];
  }
  double V(std::int64_t b, std::int64_t g, std::int64_t j, std::int64_t d) const {
    return n_.v[Size(((b * shape_.kv_heads + g) * shape_.keys + j) * shape_.v_head_size + d)] *
           Scale(AttentionRole::kDescaleV);
  }
  double O(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) const {
    return At(n_.o, b, h, i, d) * Scale(AttentionRole::kDescaleO);
  }
  double Do(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) const {
    return At(n_.d_o, b, h, i, d) * Scale(AttentionRole::kDescaleDo);
  }
  double At(const std::vector<float>& t, std::int64_t b, std::int64_t h, std::int64_t i,
            std::int64_t d) const {
    return t[Size((QueryHead(b, h) * shape_.queries + i) * shape_.v_head_size + d)];
  }

  // 1 where there is none.
  double Scale(AttentionRole role) const {
    const auto scale = n_.others.find(role);
    return scale == n_.others.end() ? 1 : scale->second.front();
  }
  double Bias(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j,
              const AttentionFault& fault) const {
    if (n_.bias.empty() || fault.no_bias) return 0;
    const std::int64_t entry = (b + fault.bias_entry) % shape_.BiasBatch(),
                       head = (h + fault.bias_head) % shape_.BiasHeads(),
                       row = (i + fault.bias_row) % shape_.queries, key = (j + fault.bias_key) % shape_.keys;
    return fault.bias_factor *
           n_.bias[Size(((entry * shape_.BiasHeads() + head) * shape_.queries + row) * shape_.keys + key)];
  }

  // Of all keys; minus infinity of those that the query does not see.
  std::vector<double> Scores(std::int64_t b, std::int64_t h, std::int64_t g, std::int64_t i,
                             const AttentionFault& fault) const {
    std::vector<double> s(Size(shape_.keys), -std::numeric_limits<double>::infinity());
    KeyRange range = shape_.Visible(b, i);
    if (range.Count() == 0) return s;
    range.end = std::clamp<std::int64_t>(range.end + fault.more_behind, 0, shape_.keys);
    range.begin = std::clamp<std::int64_t>(range.begin - fault.more_before, 0, range.end);
    std::vector<std::int64_t> dimensions;  // the others add nothing
    for (std::int64_t d = 0; d < shape_.head_size; ++d)
      if (Q(b, h, i, d) != 0) dimensions.push_back(d);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      if (j >= fault.lost_begin && j < fault.lost_end) continue;
      double score = 0;
      for (const std::int64_t d : dimensions) score += Q(b, h, i, d) * K(b, g, j, d);
      score *= Scale(AttentionRole::kDescaleQ) * Scale(AttentionRole::kDescaleK);
      s[Size(j)] = score * spec_.Scale() * fault.scale + Bias(b, h, i, j, fault);
    }
    return s;
  }

  const AttentionProblemSpec& spec_;
  const AttentionShape& shape_;
  const AttentionNumbers& n_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_ATTENTION_EMULATION_H_
