// What a faulty attention kernel would return, at random places: the judge notices it everywhere.
#include <gmock/gmock.h>

#include <cstring>

#include "attention_judged.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

struct Kind {
  const char* name;
  bool backward;
  AttentionMask mask;
  AttentionLogits logits;
  void (*set)(Random*, const AttentionShape&, AttentionFault*);
};

constexpr auto kNone = AttentionMask::kNone;
constexpr auto kCausal = AttentionMask::kCausal;
constexpr auto kWindow = AttentionMask::kSlidingWindow;
constexpr auto kOrdinary = AttentionLogits::kOrdinary;
constexpr auto kNegative = AttentionLogits::kFarNegative;
constexpr auto kPositive = AttentionLogits::kFarPositive;

void LoseKeys(Random* random, const AttentionShape& s, AttentionFault* f) {
  f->lost_begin = Below(random, s.keys / 32) * 32;
  f->lost_end = f->lost_begin + 32;
  f->first = 0, f->last = s.queries;
}

// The first tile of rows has no key before its window.
void BehindTheFirstTile(AttentionFault* f) {
  if (f->first == 0) f->first = kTile, f->last = 2 * kTile;
}

// A tile of rows is hit unless a kind says otherwise.
const Kind kKinds[] = {
    {"one_key_more", false, kCausal, kOrdinary, [](Random*, auto&, auto* f) { f->more_behind = 1; }},
    {"one_key_fewer", false, kCausal, kOrdinary, [](Random*, auto&, auto* f) { f->more_behind = -1; }},
    {"causal_mask_left_out", false, kCausal, kOrdinary,
     [](Random*, auto&, auto* f) { f->more_behind = 1 << 20; }},
    {"window_one_wider", false, kWindow, kOrdinary,
     [](Random*, auto&, auto* f) { BehindTheFirstTile(f), f->more_before = 1; }},
    {"window_one_narrower", false, kWindow, kOrdinary,
     [](Random*, auto&, auto* f) { BehindTheFirstTile(f), f->more_before = -1; }},
    {"window_left_out", false, kWindow, kOrdinary,
     [](Random*, auto&, auto* f) { BehindTheFirstTile(f), f->more_before = 1 << 20; }},
    {"tile_of_keys_lost", false, kNone, kOrdinary, LoseKeys},
    {"tile_of_keys_lost_far_negative", false, kNone, kNegative, LoseKeys},
    {"last_keys_lost", false, kNone, kOrdinary,
     [](Random*, const AttentionShape& s, auto* f) {
       f->lost_begin = s.keys - 16, f->lost_end = s.keys, f->first = 0, f->last = s.queries;
     }},
    {"group_swapped", false, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->kv_head = 1; }},
    {"scale_left_out", false, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->scale = 0.125; }},
    {"scale_slightly_off", false, kNone, kPositive, [](Random*, auto&, auto* f) { f->scale = 1.0001; }},
    {"not_normalised", false, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->not_normalised = true; }},
    {"not_rescaled", false, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->no_rescaling = true; }},
    {"statistics_by_base_2", false, kNone, kNegative,
     [](Random*, auto&, auto* f) { f->log2_statistics = true; }},
    {"stale_statistics", false, kNone, kOrdinary,
     [](Random*, auto&, auto* f) { f->stale_statistics = true; }},
    {"rows_of_v_off_by_one", false, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->row_shift = 1; }},
    {"dimensions_swapped", false, kNone, kOrdinary,
     [](Random*, auto&, auto* f) { f->swapped_dimensions = true; }},
    {"nan", false, kNone, kPositive, [](Random*, auto&, auto* f) { f->nan = true; }},
    {"unwritten", false, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->unwritten = true; }},
    {"gradient_one_key_more", true, kCausal, kOrdinary, [](Random*, auto&, auto* f) { f->more_behind = 1; }},
    {"gradient_one_key_fewer", true, kCausal, kOrdinary,
     [](Random*, auto&, auto* f) { f->more_behind = -1; }},
    {"gradient_mask_left_out", true, kCausal, kNegative,
     [](Random*, auto&, auto* f) { f->more_behind = 1 << 20; }},
    {"gradient_window_one_wider", true, kWindow, kOrdinary,
     [](Random*, auto&, auto* f) { BehindTheFirstTile(f), f->more_before = 1; }},
    {"gradient_keys_lost", true, kNone, kOrdinary, LoseKeys},
    {"gradient_keys_lost_far_negative", true, kNone, kNegative, LoseKeys},
    {"gradient_group_swapped", true, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->kv_head = 1; }},
    {"gradient_scale_left_out", true, kNone, kOrdinary,
     [](Random*, auto&, auto* f) { f->gradient_scale = 0.125; }},
    {"delta_left_out", true, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->no_delta = true; }},
    {"statistics_of_the_next_row", true, kNone, kOrdinary,
     [](Random*, auto&, auto* f) { f->stale_statistics = true; }},
    {"gradient_not_normalised", true, kNone, kOrdinary,
     [](Random*, auto&, auto* f) { f->not_normalised = true; }},
    {"gradient_of_the_next_row", true, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->row_shift = 1; }},
    {"gradient_dimensions_swapped", true, kNone, kOrdinary,
     [](Random*, auto&, auto* f) { f->swapped_dimensions = true; }},
    {"gradient_nan", true, kNone, kNegative, [](Random*, auto&, auto* f) { f->nan = true; }},
    {"gradient_unwritten", true, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->unwritten = true; }},
    {"tile_added_twice", true, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->twice = true; }},
    {"dk_and_dv_swapped", true, kNone, kOrdinary, [](Random*, auto&, auto* f) { f->swap_dk_dv = true; }},
    {"dk_of_the_first_row", true, kNone, kOrdinary,
     [](Random*, auto&, auto* f) { f->dk_of_row_zero = true; }},
};

AttentionProblemSpec SpecOf(const Kind& kind) {
  AttentionProblemSpec spec;
  spec.shape = {2, 4, 2, 192, 192, 64, 64, kind.mask, 48, {}, {}};
  spec.layout = AttentionLayout::kBshd;
  spec.logits = kind.logits;
  spec.backward = kind.backward;
  return spec;
}

class AttentionFaultTest : public testing::TestWithParam<Kind> {};

// Whether one of the outputs is not right, all heads but one of which are a sound kernel's.
bool Notices(const JudgedAttention& judged, std::int64_t b, std::int64_t h, const AttentionFault& fault) {
  JudgedAttention::Memory memory = judged.InMemory(judged.With(b, h, fault));
  const AttentionTensor& first = judged.outputs()[0];
  if (fault.unwritten)
    first.ForRows([&](std::int64_t place, std::int64_t index) {
      const std::int64_t row = index / first.size;
      if (row / first.length != b * first.heads + h || !fault.Hits(row % first.length)) return;
      for (std::int64_t d = 0; d < first.size; ++d)
        std::memcpy(judged.At(&memory, 0, place + d), "\xFE\xFF\xFE\xFF", 2);
    });
  return !judged.AllRight(memory);
}

TEST_P(AttentionFaultTest, IsNoticedAnywhere) {
  const JudgedAttention judged(SpecOf(GetParam()));
  ASSERT_TRUE(judged.SoundIsRight());
  Random random(7);
  const AttentionShape& s = judged.spec().shape;
  for (int i = 0; i < Positions(); ++i) {
    AttentionFault fault;
    fault.first = Below(&random, s.queries / kTile) * kTile;
    fault.last = fault.first + kTile;
    const std::int64_t b = Below(&random, s.batch);
    GetParam().set(&random, s, &fault);
    // Another group than its own: heads 0 and 1 have keys 0.
    const std::int64_t h = fault.kv_head >= 0 ? Below(&random, 2) : Below(&random, s.q_heads);
    EXPECT_TRUE(Notices(judged, b, h, fault)) << "b=" << b << " h=" << h << " rows from " << fault.first;
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(All, AttentionFaultTest, testing::ValuesIn(kKinds), NameOf);

// What is behind a length is never looked at, and what is before it always.
TEST(AttentionPaddingTest, WhatDoesNotCountIsNotJudged) {
  AttentionProblemSpec spec;
  spec.shape = {1, 1, 1, 8, 8, 64, 64, AttentionMask::kPadding, 0, {5}, {6}};
  const std::shared_ptr<const ReferenceSource> source = AttentionReference(spec);
  const std::shared_ptr<const ReferenceData> data = source->Get();
  const AttentionNumbers numbers = MakeAttentionNumbers(spec, 20250);
  std::vector<unsigned char> o(numbers.o.size() * 2);
  for (std::size_t i = 0; i < numbers.o.size(); ++i) Store(spec.type, numbers.o[i], o.data() + 2 * i);
  EXPECT_TRUE(data->Judge(0, 0, o.data()).AllMatch());
  Store(spec.type, 77, o.data() + 2 * (5 * 64));
  const Judgement behind = data->Judge(0, 0, o.data());
  EXPECT_TRUE(behind.AllMatch());
  EXPECT_EQ(behind.elements, 8 * 64);
  Store(spec.type, 77, o.data() + 2 * (5 * 64 - 1));
  const Judgement before = data->Judge(0, 0, o.data());
  EXPECT_EQ(before.wrong, 1);
  EXPECT_EQ(before.first_wrong, 5 * 64 - 1);
  EXPECT_EQ(before.first_got, 77);
  std::vector<unsigned char> lengths(4);
  data->Encode(3, lengths.data());
  EXPECT_EQ(lengths[0], 5);
  data->Encode(4, lengths.data());
  EXPECT_EQ(lengths[0], 6);
}

TEST(AttentionStatisticsTest, AreHeldToTheirBound) {
  AttentionProblemSpec spec;
  spec.shape = {1, 1, 1, 1, 1, 64, 64, AttentionMask::kNone, 0, {}, {}};
  spec.logits = AttentionLogits::kFarNegative;
  const std::shared_ptr<const ReferenceSource> source = AttentionReference(spec);
  const auto judge = [&](double value) {
    float stats = static_cast<float>(value);
    unsigned char bytes[4];
    std::memcpy(bytes, &stats, sizeof bytes);
    return source->Get()->Judge(1, 0, bytes).AllMatch();
  };
  EXPECT_TRUE(judge(-256));
  EXPECT_TRUE(judge(-256 + 0.9 * AttentionStatsBound(-256)));
  EXPECT_FALSE(judge(-256 + 1.2 * AttentionStatsBound(-256)));
  EXPECT_FALSE(judge(std::nan("")));
}

}  // namespace
}  // namespace cudnn_ci
