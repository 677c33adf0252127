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

TEST(AttentionScaledTest, WhatCannotBeAskedForTogetherIsNamed) {
  AttentionProblemSpec spec = SpecOf(AttentionMask::kNone, AttentionLogits::kOrdinary);
  EXPECT_TRUE(ProblemsOf(spec).empty());
  spec.backward = true;
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

class AttentionScaledFaultTest : public testing::TestWithParam<Kind> {};

TEST_P(AttentionScaledFaultTest, IsNoticedAnywhere) {
  const JudgedAttention judged(SpecOf(GetParam().mask, AttentionLogits::kFarNegative));
  ASSERT_TRUE(judged.SoundIsRight());
  Random random(12);
  for (int i = 0; i < Positions(); ++i) {
    AttentionFault fault;
    fault.first = Below(&random, 3) * kTile, fault.last = fault.first + kTile;
    GetParam().set(&fault);
    const std::int64_t b = Below(&random, 2), h = fault.kv_head >= 0 ? Below(&random, 2) : Below(&random, 4);
    EXPECT_FALSE(judged.AllRight(judged.InMemory(judged.With(b, h, fault))))
        << "b=" << b << " h=" << h << " rows from " << fault.first;
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }
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
