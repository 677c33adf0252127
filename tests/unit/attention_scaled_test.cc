// Attention in 8 bits with scales: its exact data, and what a kernel with a wrong scale would return.
#include <gmock/gmock.h>

#include "attention_judged.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

AttentionProblemSpec SpecOf(AttentionMask mask, AttentionLogits logits) {
  AttentionProblemSpec spec;
  spec.shape = {2, 4, 2, 192, 192, 64, 64, mask, 48, {}, {}};
  spec.layout = AttentionLayout::kBshd;
  spec.type = DataType::kFloat8E4m3;
  spec.logits = logits;
  return spec;
}

TEST(AttentionScaledTest, DataFitTheTypeAndASoundKernelIsRight) {
  for (const AttentionMask mask :
       {AttentionMask::kNone, AttentionMask::kCausal, AttentionMask::kSlidingWindow})
    for (const AttentionLogits logits :
         {AttentionLogits::kOrdinary, AttentionLogits::kFarNegative, AttentionLogits::kFarPositive}) {
      const AttentionProblemSpec spec = SpecOf(mask, logits);
      const AttentionNumbers n = MakeAttentionNumbers(spec, 1);
      for (const std::vector<float>* tensor : {&n.q, &n.k, &n.v, &n.o})
        for (const float value : *tensor) ASSERT_EQ(RoundTo(spec.type, value), value) << Name(mask);
      EXPECT_EQ(n.Of(AttentionRole::kAmaxO)[0], 1);
      EXPECT_EQ(n.Of(AttentionRole::kAmaxS)[0], 1);
      EXPECT_TRUE(JudgedAttention(spec).SoundIsRight()) << Name(mask);
    }
}

AttentionProblemSpec BackwardOf(AttentionMask mask, AttentionLogits logits) {
  AttentionProblemSpec spec = SpecOf(mask, logits);
  spec.backward = true;
  return spec;
}

// How many rows' gradients are left: those that fit the type.
double ShareOfRows(const std::vector<float>& rows, std::size_t size) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < rows.size(); at += size)
    count += std::any_of(rows.begin() + static_cast<std::ptrdiff_t>(at),
                         rows.begin() + static_cast<std::ptrdiff_t>(at + size),
                         [](float value) { return value != 0; });
  return static_cast<double>(count * size) / static_cast<double>(rows.size());
}

TEST(AttentionScaledTest, GradientsFitTheTypeAndASoundKernelIsRight) {
  for (const AttentionMask mask :
       {AttentionMask::kNone, AttentionMask::kCausal, AttentionMask::kSlidingWindow})
    for (const AttentionLogits logits :
         {AttentionLogits::kOrdinary, AttentionLogits::kFarNegative, AttentionLogits::kFarPositive}) {
      const AttentionProblemSpec spec = BackwardOf(mask, logits);
      const AttentionNumbers n = MakeAttentionNumbers(spec, 1);
      for (const std::vector<float>* tensor : {&n.q, &n.k, &n.v, &n.o, &n.d_o, &n.dq, &n.dk, &n.dv})
        for (const float value : *tensor) ASSERT_EQ(RoundTo(spec.type, value), value) << Name(mask);
      EXPECT_GT(ShareOfRows(n.d_o, 64), 0.5) << Name(mask);
      EXPECT_GT(ShareOfRows(n.dq, 64), 0.15) << Name(mask);
      EXPECT_GT(ShareOfRows(n.dk, 64), 0.2) << Name(mask);
      EXPECT_GE(n.Of(AttentionRole::kAmaxDp)[0], 0.5);
      EXPECT_TRUE(JudgedAttention(spec).SoundIsRight()) << Name(mask);
    }
}

// Gradients of a few queries would be all 0, and a kernel that writes zeros right, if many keys shared a
// softmax: they would have more digits than the type.
TEST(AttentionScaledTest, AFewQueriesHaveGradients) {
  for (const std::int64_t queries : {1, 2, 6}) {
    AttentionProblemSpec spec = BackwardOf(AttentionMask::kNone, AttentionLogits::kOrdinary);
    spec.shape = {1, 8, 1, queries, 488, 128, 128, AttentionMask::kNone, 0, {}, {}};
    EXPECT_GT(ShareOfRows(MakeAttentionNumbers(spec, 1).d_o, 128), 0.5) << queries;
  }
}

TEST(AttentionScaledTest, MoreKeysThanCodesWithNumbersOfTheTypeAreRefused) {
  AttentionProblemSpec spec = SpecOf(AttentionMask::kNone, AttentionLogits::kOrdinary);
  spec.shape.keys = 4096;
  EXPECT_TRUE(ProblemsOf(spec).empty());
  spec.shape.keys = 4097;
  EXPECT_EQ(ProblemsOf(spec).at(0).field, "length");
  spec.shape.head_size = spec.shape.v_head_size = 128;
  EXPECT_TRUE(ProblemsOf(spec).empty());
}

// All digits of the codes that many keys need.
TEST(AttentionScaledTest, DataOfManyKeysFitTheType) {
  AttentionProblemSpec spec = SpecOf(AttentionMask::kNone, AttentionLogits::kFarNegative);
  spec.shape = {1, 1, 1, 16, 4096, 64, 64, AttentionMask::kNone, 0, {}, {}};
  for (const float value : MakeAttentionNumbers(spec, 1).k) ASSERT_EQ(RoundTo(spec.type, value), value);
}

TEST(AttentionScaledTest, OperandsAreScalesAndMagnitudes) {
  AttentionProblemSpec spec = SpecOf(AttentionMask::kNone, AttentionLogits::kOrdinary);
  const Operands operands = AttentionOperands(spec);
  ASSERT_EQ(operands.inputs.size(), 9U);
  EXPECT_EQ(operands.inputs[8].name, "scale of O");
  EXPECT_EQ(operands.inputs[8].type, DataType::kFloat32);
  EXPECT_FALSE(operands.inputs[3].seed) << "random scales are none";
  EXPECT_TRUE(operands.inputs[2].seed);
  ASSERT_EQ(operands.outputs.size(), 4U);
  EXPECT_EQ(operands.outputs[3].name, "amax of O");
  spec.statistics = false;
  EXPECT_EQ(AttentionOperands(spec).outputs.size(), 3U);
}

TEST(AttentionScaledTest, OperandsOfGradientsAreScalesAndMagnitudes) {
  const Operands operands = AttentionOperands(BackwardOf(AttentionMask::kNone, AttentionLogits::kOrdinary));
  std::string inputs, outputs;
  for (std::size_t i = 6; i < operands.inputs.size(); ++i) inputs += operands.inputs[i].name + ", ";
  for (const Operand& output : operands.outputs) outputs += output.name + ", ";
  EXPECT_EQ(inputs,
            "descale of Q, descale of K, descale of V, descale of O, descale of dO, descale of S, "
            "descale of dP, scale of S, scale of dQ, scale of dK, scale of dV, scale of dP, ");
  EXPECT_EQ(outputs, "dQ, dK, dV, amax of dQ, amax of dK, amax of dV, amax of dP, ");
  EXPECT_EQ(operands.outputs[0].type, DataType::kFloat8E4m3);
  EXPECT_EQ(operands.outputs[6].type, DataType::kFloat32);
}

TEST(AttentionScaledTest, WhatCannotBeAskedForTogetherIsNamed) {
  AttentionProblemSpec spec = SpecOf(AttentionMask::kNone, AttentionLogits::kOrdinary);
  EXPECT_TRUE(ProblemsOf(spec).empty());
  spec.backward = true;
  EXPECT_TRUE(ProblemsOf(spec).empty());
  spec.type = DataType::kFloat8E5m2;
  EXPECT_EQ(ProblemsOf(spec).at(0).field, "dtype");
  for (const AttentionMask mask : {AttentionMask::kBias, AttentionMask::kPadding})
    EXPECT_EQ(ProblemsOf(SpecOf(mask, AttentionLogits::kOrdinary)).at(0).field, "mask");
  spec = SpecOf(AttentionMask::kNone, AttentionLogits::kOrdinary);
  spec.data = AttentionData::kNormal;
  EXPECT_EQ(ProblemsOf(spec).at(0).field, "data");
}

struct Kind {
  const char* name;
  AttentionMask mask;
  void (*set)(AttentionFault*);
};
constexpr auto kNone = AttentionMask::kNone;
const Kind kKinds[] = {
    {"descale_of_q_left_out", kNone, [](AttentionFault* f) { f->scale = 2; }},
    {"descale_of_q_twice", kNone, [](AttentionFault* f) { f->scale = 0.5; }},
    {"descale_of_v_left_out", kNone, [](AttentionFault* f) { f->o_factor = 4; }},
    {"descale_of_s_left_out", kNone, [](AttentionFault* f) { f->o_factor = 64; }},
    {"scale_of_o_left_out", kNone, [](AttentionFault* f) { f->o_factor = 0.125; }},
    {"scale_of_o_and_descale_of_v_left_out", kNone, [](AttentionFault* f) { f->o_factor = 0.5; }},
    {"one_key_more", AttentionMask::kCausal, [](AttentionFault* f) { f->more_behind = 1; }},
    {"one_key_fewer", AttentionMask::kCausal, [](AttentionFault* f) { f->more_behind = -1; }},
    {"group_swapped", kNone, [](AttentionFault* f) { f->kv_head = 1; }},
    {"not_normalised", kNone, [](AttentionFault* f) { f->not_normalised = true; }},
    {"rows_of_v_off_by_one", kNone, [](AttentionFault* f) { f->row_shift = 1; }},
    {"dimensions_swapped", kNone, [](AttentionFault* f) { f->swapped_dimensions = true; }},
    {"statistics_by_base_2", kNone, [](AttentionFault* f) { f->log2_statistics = true; }},
    {"nan", kNone, [](AttentionFault* f) { f->nan = true; }},
};

// In a tile of rows at random places.
void ExpectNoticedAnywhere(const JudgedAttention& judged, const Kind& kind, std::uint64_t seed) {
  ASSERT_TRUE(judged.SoundIsRight());
  Random random(seed);
  for (int i = 0; i < Positions(); ++i) {
    AttentionFault fault;
    fault.first = Below(&random, 3) * kTile, fault.last = fault.first + kTile;
    kind.set(&fault);
    const std::int64_t b = Below(&random, 2), h = fault.kv_head >= 0 ? Below(&random, 2) : Below(&random, 4);
    EXPECT_FALSE(judged.AllRight(judged.InMemory(judged.With(b, h, fault))))
        << "b=" << b << " h=" << h << " rows from " << fault.first;
  }
}

class AttentionScaledFaultTest : public testing::TestWithParam<Kind> {};

TEST_P(AttentionScaledFaultTest, IsNoticedAnywhere) {
  const JudgedAttention judged(SpecOf(GetParam().mask, AttentionLogits::kFarNegative));
  ExpectNoticedAnywhere(judged, GetParam(), 12);
}

const Kind kGradientKinds[] = {
    {"one_key_more", AttentionMask::kCausal, [](AttentionFault* f) { f->more_behind = 1; }},
    {"one_key_fewer", AttentionMask::kCausal, [](AttentionFault* f) { f->more_behind = -1; }},
    {"causal_mask_left_out", AttentionMask::kCausal, [](AttentionFault* f) { f->more_behind = 1 << 20; }},
    {"group_swapped", kNone, [](AttentionFault* f) { f->kv_head = 1; }},
    {"keys_lost", kNone,
     [](AttentionFault* f) { f->lost_begin = 64, f->lost_end = 128, f->first = 0, f->last = 192; }},
    {"not_normalised", kNone, [](AttentionFault* f) { f->not_normalised = true; }},
    {"statistics_of_the_next_row", kNone, [](AttentionFault* f) { f->stale_statistics = true; }},
    {"gradient_of_the_next_row", kNone, [](AttentionFault* f) { f->row_shift = 1; }},
    {"dimensions_swapped", kNone, [](AttentionFault* f) { f->swapped_dimensions = true; }},
    {"delta_left_out", kNone, [](AttentionFault* f) { f->no_delta = true; }},
    {"scale_left_out", kNone, [](AttentionFault* f) { f->gradient_scale = 0.125; }},
    {"tile_added_twice", kNone, [](AttentionFault* f) { f->twice = true; }},
    {"dk_and_dv_swapped", kNone, [](AttentionFault* f) { f->swap_dk_dv = true; }},
    {"dk_of_the_first_row", kNone, [](AttentionFault* f) { f->dk_of_row_zero = true; }},
    {"nan", kNone, [](AttentionFault* f) { f->nan = true; }},
};

class AttentionScaledGradientFaultTest : public testing::TestWithParam<Kind> {};

TEST_P(AttentionScaledGradientFaultTest, IsNoticedAnywhere) {
  const JudgedAttention judged(BackwardOf(GetParam().mask, AttentionLogits::kFarNegative));
  ExpectNoticedAnywhere(judged, GetParam(), 13);
}

// A kernel that takes 1 for a scale, in one head.
class AttentionScaleTest : public testing::TestWithParam<AttentionRole> {};

TEST_P(AttentionScaleTest, OfGradientsIsMissedAnywhere) {
  const JudgedAttention judged(BackwardOf(kNone, AttentionLogits::kFarNegative));
  AttentionNumbers seen = judged.numbers();
  ASSERT_NE(seen.others.at(GetParam())[0], 1) << "it could not be missed";
  seen.others[GetParam()] = {1};
  Random random(14);
  for (int i = 0; i < Positions(); ++i) {
    const std::int64_t b = Below(&random, 2), h = Below(&random, 4);
    EXPECT_FALSE(judged.AllRight(judged.InMemory(judged.With(b, h, {}, seen)))) << "b=" << b << " h=" << h;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionScaleTest,
                         testing::Values(AttentionRole::kDescaleQ, AttentionRole::kDescaleV,
                                         AttentionRole::kDescaleO, AttentionRole::kDescaleDo,
                                         AttentionRole::kDescaleS, AttentionRole::kDescaleDp,
                                         AttentionRole::kScaleS, AttentionRole::kScaleDq,
                                         AttentionRole::kScaleDk, AttentionRole::kScaleDv,
                                         AttentionRole::kScaleDp));

TEST(AttentionScaledTest, WrongMagnitudesOfGradientsAreNoticed) {
  const JudgedAttention judged(BackwardOf(kNone, AttentionLogits::kOrdinary));
  for (std::size_t output = 3; output < 7; ++output)
    for (const double factor : {0.0, 0.5, 0.99, 1.01, 2.0, -1.0, std::nan("")}) {
      JudgedAttention::Values values = judged.sound();
      values[output][0] *= factor;
      EXPECT_FALSE(judged.AllRight(judged.InMemory(values))) << output << " " << factor;
    }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(All, AttentionScaledGradientFaultTest, testing::ValuesIn(kGradientKinds), NameOf);
INSTANTIATE_TEST_SUITE_P(All, AttentionScaledFaultTest, testing::ValuesIn(kKinds), NameOf);

TEST(AttentionScaledTest, WrongMagnitudesAreNoticed) {
  const JudgedAttention judged(SpecOf(kNone, AttentionLogits::kOrdinary));
  for (const std::size_t output : {2U, 3U})
    for (const double wrong : {0.0, 0.5, 8.0, 64.0, -1.0, std::nan("")}) {
      JudgedAttention::Values values = judged.sound();
      values[output][0] = wrong;
      EXPECT_FALSE(judged.AllRight(judged.InMemory(values))) << output << " " << wrong;
    }
}

}  // namespace
}  // namespace cudnn_ci
