// A bias that is added to the scores: its exact data, and what a kernel that takes a wrong one would return.
#include <gmock/gmock.h>

#include "attention_judged.h"
#include "common/numeric/attention_bias.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

struct Kind {
  const char* name;
  bool backward;
  AttentionBiasShape bias;
  AttentionLogits logits;
  void (*set)(Random*, const AttentionShape&, AttentionFault*);
  AttentionMask mask = AttentionMask::kBias;
};

constexpr auto kOne = AttentionBiasShape::k11ss;
constexpr auto kHeads = AttentionBiasShape::k1hss;
constexpr auto kEntries = AttentionBiasShape::kB1ss;
constexpr auto kAll = AttentionBiasShape::kBhss;
constexpr auto kOrdinary = AttentionLogits::kOrdinary;
constexpr auto kNegative = AttentionLogits::kFarNegative;
constexpr auto kCausal = AttentionMask::kBiasCausal;
constexpr auto kPadding = AttentionMask::kBiasPadding;

const Kind kKinds[] = {
    {"left_out", false, kOne, kOrdinary, [](Random*, auto&, auto* f) { f->no_bias = true; }},
    {"left_out_far_negative", false, kAll, kNegative, [](Random*, auto&, auto* f) { f->no_bias = true; }},
    {"doubled", false, kOne, kOrdinary, [](Random*, auto&, auto* f) { f->bias_factor = 2; }},
    {"scaled_by_log2_e", false, kAll, kOrdinary, [](Random*, auto&, auto* f) { f->bias_factor = 1.4427; }},
    {"of_the_next_row", false, kOne, kOrdinary, [](Random*, auto&, auto* f) { f->bias_row = 1; }},
    {"of_the_next_tile_of_rows", false, kAll, kOrdinary,
     [](Random*, auto&, auto* f) { f->bias_row = kTile; }},
    {"of_the_next_key", false, kOne, kOrdinary, [](Random*, auto&, auto* f) { f->bias_key = 1; }},
    {"of_the_next_tile_of_keys", false, kAll, kNegative,
     [](Random*, auto&, auto* f) { f->bias_key = kTile; }},
    {"of_the_next_head", false, kHeads, kOrdinary, [](Random*, auto&, auto* f) { f->bias_head = 1; }},
    {"of_the_other_entry", false, kEntries, kOrdinary, [](Random*, auto&, auto* f) { f->bias_entry = 1; }},
    {"of_another_head_and_entry", false, kAll, kOrdinary,
     [](Random*, auto&, auto* f) { f->bias_head = f->bias_entry = 1; }},
    {"gradient_left_out", true, kOne, kOrdinary, [](Random*, auto&, auto* f) { f->no_bias = true; }},
    {"gradient_left_out_far_negative", true, kAll, kNegative,
     [](Random*, auto&, auto* f) { f->no_bias = true; }},
    {"gradient_of_the_next_row", true, kHeads, kOrdinary, [](Random*, auto&, auto* f) { f->bias_row = 1; }},
    {"gradient_of_the_next_key", true, kOne, kOrdinary, [](Random*, auto&, auto* f) { f->bias_key = 1; }},
    {"gradient_of_the_next_head", true, kAll, kOrdinary, [](Random*, auto&, auto* f) { f->bias_head = 1; }},
    {"gradient_of_the_other_entry", true, kEntries, kNegative,
     [](Random*, auto&, auto* f) { f->bias_entry = 1; }},
    {"d_bias_lost", true, kHeads, kOrdinary, [](Random*, auto&, auto* f) { f->d_bias_lost = true; }},
    {"d_bias_of_one_entry_lost", true, kOne, kOrdinary,
     [](Random*, auto&, auto* f) { f->d_bias_lost = true; }},
    {"d_bias_without_delta", true, kAll, kOrdinary, [](Random*, auto&, auto* f) { f->d_bias_of_p = true; }},
    {"d_bias_twice", true, kAll, kOrdinary, [](Random*, auto&, auto* f) { f->d_bias_twice = true; }},
    {"d_bias_of_a_lost_tile", true, kAll, kOrdinary,
     [](Random* random, const AttentionShape& s, auto* f) {
       f->lost_begin = Below(random, s.keys / kTile) * kTile, f->lost_end = f->lost_begin + kTile;
       f->first = 0, f->last = s.queries;
     }},
    {"left_out_beside_causal", false, kAll, kOrdinary, [](Random*, auto&, auto* f) { f->no_bias = true; },
     kCausal},
    {"causal_mask_left_out", false, kOne, kOrdinary,
     [](Random*, auto&, auto* f) { f->more_behind = 1 << 20; }, kCausal},
    {"one_key_more_than_causal", false, kAll, kOrdinary, [](Random*, auto&, auto* f) { f->more_behind = 1; },
     kCausal},
    {"one_key_fewer_than_causal", false, kAll, kNegative,
     [](Random*, auto&, auto* f) { f->more_behind = -1; }, kCausal},
    {"gradient_left_out_beside_causal", true, kHeads, kOrdinary,
     [](Random*, auto&, auto* f) { f->no_bias = true; }, kCausal},
    {"gradient_without_the_causal_mask", true, kAll, kNegative,
     [](Random*, auto&, auto* f) { f->more_behind = 1 << 20; }, kCausal},
    {"gradient_one_key_more_than_causal", true, kOne, kOrdinary,
     [](Random*, auto&, auto* f) { f->more_behind = 1; }, kCausal},
    {"d_bias_lost_beside_causal", true, kAll, kOrdinary,
     [](Random*, auto&, auto* f) { f->d_bias_lost = true; }, kCausal},
    {"left_out_beside_lengths", false, kOne, kOrdinary, [](Random*, auto&, auto* f) { f->no_bias = true; },
     kPadding},
    {"lengths_left_out", false, kEntries, kOrdinary,
     [](Random*, auto&, auto* f) { f->more_behind = 1 << 20; }, kPadding},
    {"one_key_behind_the_length", false, kAll, kNegative, [](Random*, auto&, auto* f) { f->more_behind = 1; },
     kPadding},
    {"one_key_before_the_length_lost", false, kAll, kOrdinary,
     [](Random*, auto&, auto* f) { f->more_behind = -1; }, kPadding},
    {"gradient_left_out_beside_lengths", true, kOne, kOrdinary,
     [](Random*, auto&, auto* f) { f->no_bias = true; }, kPadding},
    {"gradient_one_key_behind_the_length", true, kAll, kOrdinary,
     [](Random*, auto&, auto* f) { f->more_behind = 1; }, kPadding},
};

class AttentionBiasFaultTest : public testing::TestWithParam<Kind> {};

TEST_P(AttentionBiasFaultTest, IsNoticedAnywhere) {
  AttentionProblemSpec spec;
  spec.shape = {2, 4, 2, 192, 192, 64, 64, GetParam().mask, 0, {}, {}, GetParam().bias};
  if (HasLengths(spec.shape.mask)) spec.shape.q_length = {191, 100}, spec.shape.kv_length = {180, 75};
  spec.layout = AttentionLayout::kBshd;
  spec.logits = GetParam().logits;
  spec.backward = GetParam().backward;
  spec.bias_gradient = spec.backward && !HasLengths(spec.shape.mask);
  const JudgedAttention judged(spec);
  ASSERT_TRUE(judged.SoundIsRight());
  Random random(8);
  const AttentionShape& s = spec.shape;
  for (int i = 0; i < Positions(); ++i) {
    AttentionFault fault;
    const std::int64_t b = Below(&random, s.batch), h = Below(&random, s.q_heads);
    fault.first = Below(&random, s.Queries(b) / kTile) * kTile;
    fault.last = fault.first + kTile;
    GetParam().set(&random, s, &fault);
    EXPECT_FALSE(judged.AllRight(judged.InMemory(judged.With(b, h, fault))))
        << "b=" << b << " h=" << h << " rows from " << fault.first;
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(All, AttentionBiasFaultTest, testing::ValuesIn(kKinds), NameOf);

TEST(AttentionBiasTest, EachRowSeesAKeyAndMostHideSome) {
  for (const std::int64_t keys : {1, 2, 17, 64, 65, 1000}) {
    AttentionShape shape = {
        2, 2, 2, 100, keys, 64, 64, AttentionMask::kBias, 0, {}, {}, AttentionBiasShape::kBhss};
    const AttentionBias bias(shape);
    std::int64_t hidden = 0;
    for (std::int64_t row = 0; row < 400; ++row) {
      std::int64_t shown = 0;
      for (std::int64_t j = 0; j < keys; ++j) shown += bias.Shows(row / 200, row / 100 % 2, row % 100, j);
      EXPECT_GT(shown, 0) << keys;
      hidden += shown < keys;
    }
    EXPECT_GT(hidden, keys > 16 ? 200 : -1) << keys;
  }
}

// A row that a causal mask leaves one key has it.
TEST(AttentionBiasTest, HidesNoFirstKeyBesideAnotherMask) {
  AttentionShape shape = {1, 1, 1, 100, 300, 64, 64, kCausal, 0, {}, {}};
  const AttentionBias beside(shape);
  for (std::int64_t i = 0; i < 100; ++i)
    for (const std::int64_t j : {std::int64_t{0}, i, i + 1}) EXPECT_TRUE(beside.Shows(0, 0, i, j)) << i;
  shape.mask = AttentionMask::kBias;
  const AttentionBias alone(shape);
  std::int64_t hidden = 0;
  for (std::int64_t i = 0; i < 100; ++i) hidden += !alone.Shows(0, 0, i, 0);
  EXPECT_GT(hidden, 20);
}

TEST(AttentionBiasTest, WhatCannotBeAskedForTogetherIsNamed) {
  AttentionProblemSpec spec;
  spec.shape = {1, 1, 1, 8, 8, 64, 64, kPadding, 0, {5}, {6}};
  EXPECT_TRUE(ProblemsOf(spec).empty());
  spec.backward = spec.bias_gradient = true;
  EXPECT_EQ(ProblemsOf(spec).at(0).field, "bias_gradient");
  spec.shape.mask = kCausal;
  EXPECT_TRUE(ProblemsOf(spec).empty());
  spec = {};
  spec.shape = {1, 1, 1, 8, 8, 64, 64, kPadding, 0, {5}, {6}};
  spec.layout = AttentionLayout::kThd;
  EXPECT_EQ(ProblemsOf(spec).at(0).field, "layout");
  spec.layout = AttentionLayout::kBhsd, spec.page_size = 4;
  EXPECT_EQ(ProblemsOf(spec).at(0).field, "page_size");
}

// exp() of the difference to any other key that is shown is 0 in float32: exp(-104) is less than half of its
// smallest number.
TEST(AttentionBiasTest, KeepsTheOtherKeysFarBelow) {
  AttentionShape shape = {1, 1, 1, 100, 300, 64, 64, AttentionMask::kBias, 0, {}, {}};
  const AttentionBias bias(shape);
  double most = -1e9, least = 1e9;
  for (std::int64_t j = 0; j < 300; ++j) {
    most = std::max(most, bias.OfKey(j)), least = std::min(least, bias.OfKey(j));
    EXPECT_EQ(std::fmod(bias.OfKey(j), 8), 0);
  }
  EXPECT_EQ(most - least, 24);
  for (std::int64_t i = 0; i < 100; ++i)
    for (std::int64_t j = 0; j < 300; ++j) EXPECT_EQ(bias.At(0, 0, i, j) < -1000, !bias.Shows(0, 0, i, j));
}

// What no head has alone is of all of them.
TEST(AttentionBiasTest, IsSharedAsItsShapeSays) {
  AttentionShape shape = {3, 4, 4, 50, 200, 64, 64, AttentionMask::kBias, 0, {}, {}};
  for (const AttentionBiasShape of : {kOne, kHeads, kEntries, kAll}) {
    shape.bias_shape = of;
    const AttentionBias bias(shape);
    bool by_head = false, by_entry = false;
    for (std::int64_t i = 0; i < 50; ++i)
      for (std::int64_t j = 0; j < 200; ++j) {
        by_head |= bias.At(0, 0, i, j) != bias.At(0, 1, i, j);
        by_entry |= bias.At(0, 0, i, j) != bias.At(1, 0, i, j);
      }
    EXPECT_EQ(by_head, of == kHeads || of == kAll) << Name(of);
    EXPECT_EQ(by_entry, of == kEntries || of == kAll) << Name(of);
    EXPECT_EQ(AttentionBiasShapeFrom(Name(of)), of);
  }
}

}  // namespace
}  // namespace cudnn_ci
