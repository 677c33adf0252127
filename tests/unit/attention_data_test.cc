// The exact data of attention against a plain softmax in double precision: expectations are right, and the
// type holds them.
#include <gmock/gmock.h>

#include <cmath>

#include "attention_emulation.h"

namespace cudnn_ci {
namespace {

struct Sample {
  const char* name;
  std::int64_t q_heads, kv_heads, queries, keys, d, dv;
  AttentionMask mask;
  AttentionBiasShape bias = AttentionBiasShape::k11ss;
};
constexpr Sample kSamples[] = {
    {"plain", 2, 2, 64, 64, 64, 64, AttentionMask::kNone},
    {"one_query", 2, 1, 1, 128, 128, 128, AttentionMask::kNone},
    {"one_key", 1, 1, 3, 1, 64, 64, AttentionMask::kNone},
    {"causal", 4, 1, 127, 127, 64, 64, AttentionMask::kCausal},
    {"more_queries", 2, 2, 96, 40, 64, 64, AttentionMask::kCausal},
    {"bottom_right", 2, 2, 64, 320, 64, 64, AttentionMask::kCausalBottomRight},
    {"window", 2, 2, 200, 200, 64, 64, AttentionMask::kSlidingWindow},
    {"padding", 2, 2, 65, 129, 192, 128, AttentionMask::kPadding},
    {"many_keys", 1, 1, 32, 2048, 64, 64, AttentionMask::kNone},
    {"bias", 4, 2, 65, 129, 64, 64, AttentionMask::kBias},
    {"bias_of_few_keys", 2, 2, 9, 3, 64, 64, AttentionMask::kBias, AttentionBiasShape::kBhss},
    {"bias_by_entry", 2, 2, 64, 320, 64, 64, AttentionMask::kBias, AttentionBiasShape::kB1ss},
    {"bias_by_head", 2, 1, 128, 128, 192, 128, AttentionMask::kBias, AttentionBiasShape::k1hss},
    {"bias_of_each", 2, 2, 100, 1000, 64, 64, AttentionMask::kBias, AttentionBiasShape::kBhss},
    {"bias_causal", 4, 2, 127, 127, 64, 64, AttentionMask::kBiasCausal, AttentionBiasShape::kBhss},
    {"bias_causal_more_queries", 2, 2, 96, 40, 64, 64, AttentionMask::kBiasCausal},
    {"bias_padding", 4, 2, 65, 129, 64, 64, AttentionMask::kBiasPadding, AttentionBiasShape::kB1ss},
};

AttentionProblemSpec SpecOf(const Sample& sample) {
  AttentionProblemSpec spec;
  AttentionShape& s = spec.shape;
  s = {2,
       sample.q_heads,
       sample.kv_heads,
       sample.queries,
       sample.keys,
       sample.d,
       sample.dv,
       sample.mask,
       48,
       {},
       {},
       sample.bias};
  spec.backward = HasBias(s.mask);
  spec.bias_gradient = HasBias(s.mask) && !HasLengths(s.mask);
  if (HasLengths(s.mask)) s.q_length = {64, 30}, s.kv_length = {128, 1};
  return spec;
}

// A window may hold nothing but three keys that would share a code.
TEST(AttentionData, EachWindowHasAKeyThatMatchesAlone) {
  AttentionProblemSpec spec;
  spec.backward = true;
  for (const std::int64_t queries : {64, 70, 200})
    for (std::int64_t window = 1; window < 20; ++window) {
      spec.shape = {2,
                    2,
                    2,
                    queries,
                    std::min<std::int64_t>(queries, 64 + queries / 2),
                    64,
                    64,
                    AttentionMask::kSlidingWindow,
                    window,
                    {},
                    {},
                    AttentionBiasShape::k11ss};
      if (!ProblemsOf(spec.shape).empty()) spec.shape.keys = queries;
      EXPECT_NO_THROW(MakeAttentionNumbers(spec, 1)) << queries << " queries, window " << window;
    }
  for (std::int64_t window = 4; window < 40; ++window) {  // the last queries see less than a window
    spec.shape = {2,      4,  4,  64 + window - 1,          64, 64, 64, AttentionMask::kSlidingWindow,
                  window, {}, {}, AttentionBiasShape::k11ss};
    EXPECT_NO_THROW(MakeAttentionNumbers(spec, 1)) << "window " << window;
  }
}

class AttentionSamples : public testing::TestWithParam<Sample> {};

std::string NameOf(const testing::TestParamInfo<Sample>& info) { return info.param.name; }

// The largest difference of rows [0, rows) of one head.
double Worst(const std::vector<double>& got, const std::vector<float>& want, std::int64_t head,
             std::int64_t rows, std::int64_t length, std::int64_t size, DataType type) {
  double worst = 0;
  for (std::int64_t i = 0; i < rows * size; ++i) {
    const double expected = want[static_cast<std::size_t>(head * length * size + i)];
    worst = std::max(worst, std::fabs(RoundTo(type, got[static_cast<std::size_t>(i)]) - expected));
  }
  return worst;
}

// Of one head of queries to the gradient of a bias that heads and entries may share.
void AddShare(const std::vector<double>& share, const AttentionShape& s, std::int64_t b, std::int64_t h,
              std::vector<double>* whole) {
  if (whole->empty()) return;
  const std::int64_t head = b % s.BiasBatch() * s.BiasHeads() + h % s.BiasHeads();
  for (std::size_t i = 0; i < share.size(); ++i)
    (*whole)[static_cast<std::size_t>(head) * share.size() + i] += share[i];
}

// Elements of the bias's gradient that are off by more than is allowed.
std::int64_t CountBeyond(const std::vector<double>& d_bias, const AttentionNumbers& numbers) {
  std::int64_t beyond = 0;
  for (std::size_t i = 0; i < d_bias.size(); ++i)
    beyond += std::fabs(d_bias[i] - numbers.d_bias[i]) > numbers.allowed.at(AttentionRole::kDbias)[i];
  return beyond;
}

TEST_P(AttentionSamples, AgreesWithAPlainSoftmax) {
  for (const DataType type : {DataType::kBfloat16, DataType::kFloat16})
    for (const AttentionLogits logits :
         {AttentionLogits::kOrdinary, AttentionLogits::kFarNegative, AttentionLogits::kFarPositive}) {
      AttentionProblemSpec spec = SpecOf(GetParam());
      spec.type = type, spec.logits = logits;
      const AttentionShape& s = spec.shape;
      const AttentionNumbers numbers = MakeAttentionNumbers(spec, 1);
      const AttentionEmulation emulation(spec, numbers);
      std::vector<double> d_bias(numbers.d_bias.size());
      for (std::int64_t b = 0; b < s.batch; ++b)
        for (std::int64_t g = 0; g < s.kv_heads; ++g) {
          std::vector<double> dk(static_cast<std::size_t>(s.keys * s.head_size)),
              dv(static_cast<std::size_t>(s.keys * s.v_head_size));
          for (std::int64_t h = g * s.Group(); h < (g + 1) * s.Group(); ++h) {
            const std::int64_t head = b * s.q_heads + h;
            const auto forward = emulation.Forward(b, h), backward = emulation.Backward(b, h);
            EXPECT_EQ(Worst(forward.o, numbers.o, head, s.Queries(b), s.queries, s.v_head_size, type), 0);
            for (std::int64_t i = 0; i < s.Queries(b); ++i) {
              const double want = numbers.stats[static_cast<std::size_t>(head * s.queries + i)];
              EXPECT_LE(std::fabs(forward.stats[static_cast<std::size_t>(i)] - want),
                        AttentionStatsBound(want));
            }
            EXPECT_EQ(Worst(backward.dq, numbers.dq, head, s.Queries(b), s.queries, s.head_size, type), 0);
            AddShare(backward.d_bias, s, b, h, &d_bias);
            for (std::size_t i = 0; i < dk.size(); ++i) dk[i] += backward.dk[i];
            for (std::size_t i = 0; i < dv.size(); ++i) dv[i] += backward.dv[i];
          }
          const std::int64_t head = b * s.kv_heads + g;
          EXPECT_EQ(Worst(dk, numbers.dk, head, s.Keys(b), s.keys, s.head_size, type), 0);
          EXPECT_EQ(Worst(dv, numbers.dv, head, s.Keys(b), s.keys, s.v_head_size, type), 0);
        }
      EXPECT_EQ(CountBeyond(d_bias, numbers), 0);
    }
}

bool AnyNotZero(const std::vector<float>& values) {
  return std::any_of(values.begin(), values.end(), [](float v) { return v != 0; });
}

TEST_P(AttentionSamples, FitsTheTypeAndIsNotTrivial) {
  AttentionProblemSpec spec = SpecOf(GetParam());
  const AttentionNumbers n = MakeAttentionNumbers(spec, 1);
  for (const std::vector<float>* tensor : {&n.q, &n.k, &n.v, &n.o, &n.d_o, &n.dq, &n.dk, &n.dv})
    for (const float value : *tensor) EXPECT_EQ(RoundTo(spec.type, value), value);
  EXPECT_TRUE(AnyNotZero(n.o));
  EXPECT_TRUE(AnyNotZero(n.dv));
  EXPECT_EQ(AnyNotZero(n.dq) && AnyNotZero(n.dk), spec.shape.keys > 1);
  for (const float value : n.bias) EXPECT_EQ(RoundTo(spec.type, value), value);
  EXPECT_EQ(AnyNotZero(n.d_bias), spec.bias_gradient);
}

INSTANTIATE_TEST_SUITE_P(All, AttentionSamples, testing::ValuesIn(kSamples), NameOf);

TEST(AttentionDataTest, AreTheSameForTheSameSeedAloneAndMostRowsHaveAGradient) {
  AttentionProblemSpec spec = SpecOf(kSamples[3]);
  const AttentionNumbers one = MakeAttentionNumbers(spec, 1), again = MakeAttentionNumbers(spec, 1);
  EXPECT_EQ(one.k, again.k);
  EXPECT_EQ(one.dq, again.dq);
  EXPECT_NE(one.k, MakeAttentionNumbers(spec, 2).k);
  std::int64_t with = 0;
  const std::int64_t rows = spec.O().Count() / 64;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = one.d_o.data() + r * 64;
    with += std::any_of(row, row + 64, [](float v) { return v != 0; });
  }
  EXPECT_GT(with, rows * 9 / 10);
}

TEST(AttentionShapeTest, MasksAreWhatTheirNamesSay) {
  AttentionShape s = {1, 1, 1, 4, 6, 64, 64, AttentionMask::kNone, 2, {}, {}};
  const auto range = [&s](AttentionMask mask, std::int64_t query) {
    s.mask = mask;
    const KeyRange r = s.Visible(0, query);
    return std::pair(r.begin, r.end);
  };
  EXPECT_EQ(range(AttentionMask::kNone, 3), std::pair(0L, 6L));
  EXPECT_EQ(range(AttentionMask::kCausal, 1), std::pair(0L, 2L));
  EXPECT_EQ(range(AttentionMask::kCausalBottomRight, 0), std::pair(0L, 3L));
  EXPECT_EQ(range(AttentionMask::kCausalBottomRight, 3), std::pair(0L, 6L));
  EXPECT_EQ(range(AttentionMask::kSlidingWindow, 0), std::pair(0L, 1L));
  EXPECT_EQ(range(AttentionMask::kSlidingWindow, 3), std::pair(2L, 4L));
  s.q_length = {2}, s.kv_length = {5};
  EXPECT_EQ(range(AttentionMask::kPadding, 1), std::pair(0L, 5L));
  EXPECT_EQ(range(AttentionMask::kPadding, 2), std::pair(0L, 0L));
  EXPECT_EQ(range(AttentionMask::kBias, 1), std::pair(0L, 6L));
  EXPECT_EQ(range(AttentionMask::kBiasCausal, 1), std::pair(0L, 2L));
  EXPECT_EQ(range(AttentionMask::kBiasPadding, 1), std::pair(0L, 5L));
  EXPECT_EQ(range(AttentionMask::kBiasPadding, 2), std::pair(0L, 0L));
}

TEST(AttentionShapeTest, WhatCannotBeIsNamed) {
  const auto field = [](const AttentionShape& s) {
    const auto problems = ProblemsOf(s);
    return problems.empty() ? std::string() : problems.front().field;
  };
  EXPECT_EQ(field({}), "");
  EXPECT_EQ(field({0}), "batch");
  EXPECT_EQ(field({1, 3, 2}), "heads");
  EXPECT_EQ(field({1, 1, 1, 0}), "length");
  EXPECT_EQ(field({1, 1, 1, 8, 8, 32}), "head_size");
  EXPECT_EQ(field({1, 1, 1, 9, 8, 64, 64, AttentionMask::kCausalBottomRight}), "length");
  EXPECT_EQ(field({1, 1, 1, 8, 8, 64, 64, AttentionMask::kSlidingWindow, 0}), "window");
  // cuDNN takes it as an int.
  EXPECT_EQ(field({1, 1, 1, 8, 8, 64, 64, AttentionMask::kSlidingWindow, (std::int64_t{1} << 32) + 5}),
            "window");
  EXPECT_EQ(field({64, 64, 64, 4096, 4096, 128, 128}), "batch");
}

TEST(AttentionTensorTest, PlacesFollowTheLayout) {
  AttentionTensor tensor = {2, 3, 5, 8, AttentionLayout::kBshd};
  EXPECT_EQ(tensor.Strides(), (std::array<std::int64_t, 4>{120, 8, 24, 1}));
  tensor.all_parts = 3 * 24;
  for (const AttentionLayout layout :
       {AttentionLayout::kBhsd, AttentionLayout::kBshd, AttentionLayout::kBs3hd, AttentionLayout::kBsh3d}) {
    tensor.layout = layout;
    const auto strides = tensor.Strides();
    const std::int64_t offset = strides[0] + 2 * strides[1] + 4 * strides[2] + 7;
    EXPECT_EQ(tensor.Place(offset), "(b=1,h=2,s=4,d=7)");
    EXPECT_EQ(tensor.IndexAt(offset), ((1 * 3 + 2) * 5 + 4) * 8 + 7);
  }
  tensor = {1, 2, 3, 4, AttentionLayout::kBhsd, AttentionRole::kDbias};
  EXPECT_EQ(tensor.Place(23), "(b=0,h=1,q=2,kv=3)");
}

// Every element of a packed operand is of one of its parts, once.
TEST(AttentionTensorTest, PartsShareAnOperandWithoutOverlapOrGap) {
  for (const AttentionLayout layout : {AttentionLayout::kBs3hd, AttentionLayout::kBsh3d}) {
    AttentionProblemSpec spec;
    const std::int64_t kv_heads = layout == AttentionLayout::kBs3hd ? 1 : 2;
    spec.shape = {2, 2, kv_heads, 3, 3, 64, 64, AttentionMask::kNone, 0, {}, {}};
    spec.layout = layout, spec.backward = true;
    const std::vector<AttentionTensor> parts = spec.Outputs();
    ASSERT_EQ(parts.size(), 3U);
    std::int64_t count = 0;
    for (const AttentionTensor& part : parts) {
      EXPECT_EQ(part.operand, 0U);
      count += part.Count();
      part.ForRows([&](std::int64_t place, std::int64_t index) { EXPECT_EQ(part.IndexAt(place), index); });
    }
    for (std::int64_t place = 0; place < count; ++place) {
      std::int64_t of = 0;
      for (const AttentionTensor& part : parts) of += part.IndexAt(place) >= 0;
      EXPECT_EQ(of, 1) << place;
    }
    EXPECT_EQ(spec.Inputs()[3].operand, 1U);
    EXPECT_EQ(spec.Inputs()[3].layout, AttentionLayout::kBshd);
  }
}

TEST(AttentionSpecTest, WhatCannotBeAskedForTogetherIsNamed) {
  const auto field = [](auto change) {
    AttentionProblemSpec spec;
    spec.shape = {1, 2, 1, 8, 8, 64, 64, AttentionMask::kBias, 0, {}, {}, AttentionBiasShape::k11ss};
    change(&spec);
    const auto problems = ProblemsOf(spec);
    return problems.empty() ? std::string() : problems.front().field;
  };
  EXPECT_EQ(field([](auto* s) { s->layout = AttentionLayout::kBs3hd; }), "");
  EXPECT_EQ(field([](auto* s) { s->layout = AttentionLayout::kBsh3d; }), "layout");
  EXPECT_EQ(field([](auto* s) { s->layout = AttentionLayout::kBs3hd, s->shape.keys = 9; }), "layout");
  EXPECT_EQ(field([](auto* s) { s->layout = AttentionLayout::kBs3hd, s->shape.head_size = 128; }), "layout");
  EXPECT_EQ(field([](auto* s) { s->bias_gradient = true; }), "");
  EXPECT_EQ(field([](auto* s) { s->bias_gradient = true, s->shape.mask = AttentionMask::kNone; }),
            "bias_gradient");
  EXPECT_EQ(field([](auto* s) {
              s->shape.bias_shape = AttentionBiasShape::kBhss, s->shape.mask = AttentionMask::kNone;
            }),
            "bias");
  EXPECT_EQ(field([](auto* s) { s->data = AttentionData::kNormal; }), "data");
  EXPECT_EQ(field([](auto* s) {
              s->data = AttentionData::kNormal, s->shape.mask = AttentionMask::kNone;
              s->logits = AttentionLogits::kFarNegative;
            }),
            "logits");
}

TEST(AttentionDataTest, BitsRepeatWhereCudnnSaysSo) {
  AttentionProblemSpec spec;
  spec.shape.queries = spec.shape.keys = 128;
  EXPECT_TRUE(RepeatsBits(spec, false, false));
  EXPECT_FALSE(RepeatsBits(spec, false, true));
  spec.shape.queries = 64;
  EXPECT_TRUE(RepeatsBits(spec, false, false)) << "no tile of a few rows";
  spec.shape.queries = 1;
  EXPECT_FALSE(RepeatsBits(spec, false, false));
  spec.backward = true;
  EXPECT_TRUE(RepeatsBits(spec, true, false));
  EXPECT_FALSE(RepeatsBits(spec, false, false));
  EXPECT_FALSE(RepeatsBits(spec, true, true));
}

}  // namespace
}  // namespace cudnn_ci
