// Normal data of attention: what float32 and roundings to 16 bits give lies within the bounds, and arithmetic
// that is shorter, or a part that is lost, does not.
#include <gmock/gmock.h>

#include <cmath>

#include "attention_judged.h"
#include "common/numeric/attention_normal.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

// How a kernel computes rows [first, last) of one head of queries; the others as it should.
struct Arithmetic {
  std::int64_t first = 0, last = 0;
  bool scores_rounded = false, exp_coarse = false, sums_rounded = false, p_by_3_bits = false;
  bool ds_by_3_bits = false, delta_rounded = false, statistics_rounded = false;

  bool Hits(std::int64_t row) const { return row >= first && row < last; }
};

// To so many bits, the leading one among them.
double ToBits(double value, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

// An attention in float32 whose probabilities, and the gradient of whose scores, are rounded to the type; by
// tiles of keys, with a maximum that grows, as FlashAttention has it.
class FloatAttention {
 public:
  explicit FloatAttention(const JudgedAttention& judged)
      : spec_(judged.spec()), s_(spec_.shape), n_(judged.numbers()) {}

  JudgedAttention::Values Of(std::int64_t b, std::int64_t h, const Arithmetic& how) const {
    JudgedAttention::Values out;
    for (const AttentionTensor& tensor : spec_.Outputs())
      out.emplace_back(static_cast<std::size_t>(tensor.length * tensor.size));
    for (std::int64_t i = 0; i < s_.queries; ++i) {
      const Arithmetic row = how.Hits(i) ? how : Arithmetic{};
      if (spec_.backward)
        Backward(b, h, i, row, &out);
      else
        Forward(b, h, i, row, &out);
    }
    return out;
  }

 private:
  static std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
  const float* QRow(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return &n_.q[At(((b * s_.q_heads + h) * s_.queries + i) * s_.head_size)];
  }
  const float* KeyRow(const std::vector<float>& t, std::int64_t b, std::int64_t h, std::int64_t j,
                      std::int64_t size) const {
    return &t[At(((b * s_.kv_heads + h / s_.Group()) * s_.keys + j) * size)];
  }
  float Short(float value) const { return static_cast<float>(RoundTo(spec_.type, value)); }
  static float Dot(const float* a, const float* b, std::int64_t n) {
    float sum = 0;
    for (std::int64_t d = 0; d < n; ++d) sum += a[d] * b[d];
    return sum;
  }
  float Score(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, const Arithmetic& how) const {
    const float s = Dot(QRow(b, h, i), KeyRow(n_.k, b, h, j, s_.head_size), s_.head_size) * spec_.Scale();
    return how.scores_rounded ? Short(s) : s;
  }
  static float Exp(float x, const Arithmetic& how) {
    const float e = std::exp2(x * 1.44269504F);
    return how.exp_coarse ? static_cast<float>(ToBits(e, 6)) : e;
  }

  void Forward(std::int64_t b, std::int64_t h, std::int64_t i, const Arithmetic& how,
               JudgedAttention::Values* out) const {
    const KeyRange range = s_.Visible(b, i);
    float most = -1e30F, sum = 0;
    std::vector<float> o(At(s_.v_head_size));
    for (std::int64_t from = range.begin; from < range.end; from += kTile) {
      const std::int64_t to = std::min(range.end, from + kTile);
      float larger = most;
      for (std::int64_t j = from; j < to; ++j) larger = std::max(larger, Score(b, h, i, j, how));
      const float rescale = Exp(most - larger, how);
      sum *= rescale;
      for (float& x : o) x *= rescale;
      most = larger;
      for (std::int64_t j = from; j < to; ++j) {
        const float p = Exp(Score(b, h, i, j, how) - most, how);
        sum += p;
        const float weight = how.p_by_3_bits ? static_cast<float>(ToBits(p, 3)) : Short(p);
        const float* v = KeyRow(n_.v, b, h, j, s_.v_head_size);
        for (std::int64_t d = 0; d < s_.v_head_size; ++d) {
          float& x = o[At(d)];
          x += weight * v[d];
          if (how.sums_rounded) x = Short(x);
        }
      }
    }
    for (std::int64_t d = 0; d < s_.v_head_size; ++d) (*out)[0][At(i * s_.v_head_size + d)] = o[At(d)] / sum;
    const float stats = most + std::log(sum);
    (*out)[1][At(i)] = how.statistics_rounded ? Short(stats) : stats;
  }

  void Backward(std::int64_t b, std::int64_t h, std::int64_t i, const Arithmetic& how,
                JudgedAttention::Values* out) const {
    const KeyRange range = s_.Visible(b, i);
    const std::int64_t row = (b * s_.q_heads + h) * s_.queries + i;
    const float* d_o = &n_.d_o[At(row * s_.v_head_size)];
    float delta = Dot(d_o, &n_.o[At(row * s_.v_head_size)], s_.v_head_size);
    if (how.delta_rounded) delta = static_cast<float>(ToBits(delta, 4));
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const float p = Exp(Score(b, h, i, j, how) - n_.stats[At(row)], how);
      const float dp = Dot(d_o, KeyRow(n_.v, b, h, j, s_.v_head_size), s_.v_head_size);
      float ds = Short(p * (dp - delta));
      if (how.ds_by_3_bits) ds = static_cast<float>(ToBits(ds, 3));
      const float weight = how.p_by_3_bits ? static_cast<float>(ToBits(p, 3)) : Short(p);
      const auto add = [&](std::size_t output, std::int64_t to, std::int64_t size, float factor,
                           const float* x) {
        for (std::int64_t d = 0; d < size; ++d) {
          double& sum = (*out)[output][At(to * size + d)];
          sum = static_cast<float>(sum) + factor * x[d];
          if (how.sums_rounded) sum = Short(static_cast<float>(sum));
        }
      };
      add(0, i, s_.head_size, ds * spec_.Scale(), KeyRow(n_.k, b, h, j, s_.head_size));
      add(1, j, s_.head_size, ds * spec_.Scale(), QRow(b, h, i));
      add(2, j, s_.v_head_size, weight, d_o);
    }
  }

  const AttentionProblemSpec& spec_;
  const AttentionShape& s_;
  const AttentionNumbers& n_;
};

constexpr std::int64_t kRows = 128;

AttentionProblemSpec SpecOf(bool backward, AttentionMask mask, DataType type) {
  AttentionProblemSpec spec;
  spec.shape = {2, 4, 2, kRows, kRows, 64, 64, mask, 48, {}, {}};
  spec.layout = AttentionLayout::kBshd;
  spec.type = type;
  spec.backward = backward;
  spec.data = AttentionData::kNormal;
  return spec;
}

// The outputs with those of one head of queries in place of the emulation's. Gradients of keys are rounded
// for each head of queries before they are added.
JudgedAttention::Values WithHead(const JudgedAttention& judged, std::int64_t b, std::int64_t h,
                                 const Arithmetic& how) {
  const FloatAttention kernel(judged);
  const AttentionShape& s = judged.spec().shape;
  JudgedAttention::Values all = judged.sound();
  const std::int64_t g = h / s.Group(), first = g * s.Group();
  for (std::size_t o = 0; o < all.size(); ++o) {
    const AttentionTensor& tensor = judged.outputs()[o];
    const std::int64_t head = b * tensor.heads + (tensor.heads == s.q_heads ? h : g),
                       size = tensor.length * tensor.size;
    for (std::int64_t other = first; other < first + s.Group(); ++other) {
      if (tensor.heads == s.q_heads && other != h) continue;
      const JudgedAttention::Values part = kernel.Of(b, other, other == h ? how : Arithmetic{});
      for (std::int64_t i = 0; i < size; ++i) {
        double& to = all[o][static_cast<std::size_t>(head * size + i)];
        const double value = part[o][static_cast<std::size_t>(i)];
        const bool shared = tensor.heads != s.q_heads;
        to = (shared && other > first ? to : 0) + (shared ? RoundTo(judged.spec().type, value) : value);
      }
    }
  }
  return all;
}

TEST(AttentionNormalTest, AcceptsWhatFloat32GivesAndIsNotFarAbove) {
  for (const bool backward : {false, true})
    for (const AttentionMask mask : {AttentionMask::kNone, AttentionMask::kCausal})
      for (const DataType type : {DataType::kBfloat16, DataType::kFloat16}) {
        const AttentionProblemSpec spec = SpecOf(backward, mask, type);
        const JudgedAttention judged(spec);
        EXPECT_TRUE(judged.SoundIsRight());
        const AttentionNumbers want = MakeNormalAttention(spec, 20250);
        const JudgedAttention::Values got = WithHead(judged, 1, 2, {});
        EXPECT_TRUE(judged.AllRight(judged.InMemory(got))) << backward << Name(mask);
        for (std::size_t o = 0; o < got.size(); ++o) {
          const AttentionRole role = judged.outputs()[o].role;
          double share = 0;
          for (std::size_t i = 0; i < got[o].size(); ++i)
            share = std::max(share, std::fabs(got[o][i] - want.Of(role)[i]) / want.allowed.at(role)[i]);
          // Of the statistics the sums' worst case is most.
          EXPECT_GT(share, role == AttentionRole::kStats ? 0.001 : 0.05) << Name(role) << Name(mask);
          EXPECT_LT(share, 1) << Name(role) << Name(mask);
        }
      }
}

struct Kind {
  const char* name;
  bool backward;
  AttentionMask mask;
  void (*set)(Arithmetic*);
};
constexpr auto kNone = AttentionMask::kNone;
constexpr auto kCausal = AttentionMask::kCausal;
const Kind kKinds[] = {
    {"scores_in_16_bits", false, kNone, [](Arithmetic* a) { a->scores_rounded = true; }},
    {"exp_to_6_bits", false, kNone, [](Arithmetic* a) { a->exp_coarse = true; }},
    {"sums_in_16_bits", false, kNone, [](Arithmetic* a) { a->sums_rounded = true; }},
    {"probabilities_by_3_bits", false, kCausal, [](Arithmetic* a) { a->p_by_3_bits = true; }},
    {"statistics_in_16_bits", false, kCausal, [](Arithmetic* a) { a->statistics_rounded = true; }},
    {"gradient_exp_to_6_bits", true, kCausal, [](Arithmetic* a) { a->exp_coarse = true; }},
    {"gradient_sums_in_16_bits", true, kNone, [](Arithmetic* a) { a->sums_rounded = true; }},
    {"gradient_probabilities_by_3_bits", true, kCausal, [](Arithmetic* a) { a->p_by_3_bits = true; }},
    {"gradient_of_scores_by_3_bits", true, kCausal, [](Arithmetic* a) { a->ds_by_3_bits = true; }},
    {"delta_by_4_bits", true, kCausal, [](Arithmetic* a) { a->delta_rounded = true; }},
};

// Each takes a hundred milliseconds.
int FewerPositions() { return (Positions() + 3) / 4; }

class AttentionShortTest : public testing::TestWithParam<Kind> {};

TEST_P(AttentionShortTest, IsNoticedAnywhere) {
  const JudgedAttention judged(SpecOf(GetParam().backward, GetParam().mask, DataType::kBfloat16));
  Random random(10);
  for (int i = 0; i < FewerPositions(); ++i) {
    Arithmetic how;
    how.first = Below(&random, kRows / kTile) * kTile, how.last = how.first + kTile;
    GetParam().set(&how);
    const std::int64_t b = Below(&random, 2), h = Below(&random, 4);
    EXPECT_FALSE(judged.AllRight(judged.InMemory(WithHead(judged, b, h, how))))
        << "b=" << b << " h=" << h << " rows from " << how.first;
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(All, AttentionShortTest, testing::ValuesIn(kKinds), NameOf);

struct Lost {
  const char* name;
  bool backward;
  AttentionMask mask;
  void (*set)(Random*, AttentionFault*);
};
const Lost kLost[] = {
    {"tile_of_keys", false, kNone,
     [](Random* random, AttentionFault* f) {
       f->lost_begin = Below(random, kRows / 32) * 32, f->lost_end = f->lost_begin + 32;
     }},
    {"one_key_more", false, kCausal, [](Random*, AttentionFault* f) { f->more_behind = 1; }},
    {"group", false, kNone, [](Random*, AttentionFault* f) { f->kv_head = 1; }},
    {"scale", false, kNone, [](Random*, AttentionFault* f) { f->scale = 0.9; }},
    {"rescaling", false, kNone, [](Random*, AttentionFault* f) { f->no_rescaling = true; }},
    {"number", false, kNone, [](Random*, AttentionFault* f) { f->nan = true; }},
    {"gradient_tile_of_keys", true, kNone,
     [](Random* random, AttentionFault* f) {
       f->lost_begin = Below(random, kRows / 32) * 32, f->lost_end = f->lost_begin + 32;
     }},
    {"gradient_group", true, kNone, [](Random*, AttentionFault* f) { f->kv_head = 1; }},
    {"gradient_scale", true, kNone, [](Random*, AttentionFault* f) { f->gradient_scale = 0.9; }},
    {"delta", true, kNone, [](Random*, AttentionFault* f) { f->no_delta = true; }},
    {"statistics", true, kNone, [](Random*, AttentionFault* f) { f->stale_statistics = true; }},
    {"added_twice", true, kCausal, [](Random*, AttentionFault* f) { f->twice = true; }},
};

class AttentionLostTest : public testing::TestWithParam<Lost> {};

TEST_P(AttentionLostTest, IsNoticedAnywhere) {
  const JudgedAttention judged(SpecOf(GetParam().backward, GetParam().mask, DataType::kBfloat16));
  Random random(11);
  for (int i = 0; i < FewerPositions(); ++i) {
    AttentionFault fault;
    fault.first = Below(&random, kRows / kTile) * kTile, fault.last = fault.first + kTile;
    GetParam().set(&random, &fault);
    const std::int64_t b = Below(&random, 2), h = fault.kv_head >= 0 ? Below(&random, 2) : Below(&random, 4);
    EXPECT_FALSE(judged.AllRight(judged.InMemory(judged.With(b, h, fault))))
        << "b=" << b << " h=" << h << " rows from " << fault.first;
  }
}

std::string NameOfLost(const testing::TestParamInfo<Lost>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(All, AttentionLostTest, testing::ValuesIn(kLost), NameOfLost);

TEST(AttentionNormalTest, HasNoBias) {
  EXPECT_THROW(MakeNormalAttention(SpecOf(false, AttentionMask::kBias, DataType::kBfloat16), 1),
               std::logic_error);
  EXPECT_EQ(SpecOf(false, kNone, DataType::kBfloat16).Scale(), 0.125F);
}

// What lies behind a length is poison that shows, and is not judged.
TEST(AttentionNormalTest, HasLengths) {
  for (const bool backward : {false, true}) {
    AttentionProblemSpec spec = SpecOf(backward, AttentionMask::kPadding, DataType::kBfloat16);
    spec.shape.q_length = {kRows - 1, 70}, spec.shape.kv_length = {kRows - 1, 66};
    const JudgedAttention judged(spec);
    EXPECT_TRUE(judged.SoundIsRight()) << backward;
    AttentionFault one_more;
    one_more.last = kRows, one_more.more_behind = 1;
    EXPECT_FALSE(judged.AllRight(judged.InMemory(judged.With(1, 2, one_more)))) << backward;
  }
}

}  // namespace
}  // namespace cudnn_ci
