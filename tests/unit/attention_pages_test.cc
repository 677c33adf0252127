// K and V in pages that tables name, and sequences behind one another: what a kernel that takes a wrong page,
// offset or length would read or write, at random places.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "attention_judged.h"
#include "common/numeric/attention_tables.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kPage = 32;

// Where a kernel takes a row of a tensor to be.
using Place = std::int64_t (*)(const AttentionTensor&, std::int64_t b, std::int64_t h, std::int64_t s);

std::int64_t InPage(const AttentionTensor& t, std::int64_t page, std::int64_t h, std::int64_t s) {
  return ((page * t.heads + h) * t.page_size + s % t.page_size) * t.size;
}
std::int64_t Parts(const AttentionTensor& t) { return static_cast<std::int64_t>(t.pages.size()) / t.batch; }
std::int64_t PageOf(const AttentionTensor& t, std::int64_t b, std::int64_t s) {
  return t.pages[static_cast<std::size_t>(b * Parts(t) + s / t.page_size % Parts(t))];
}

std::int64_t NextPart(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return InPage(t, PageOf(t, b, s + t.page_size), h, s);
}
std::int64_t OtherEntry(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return InPage(t, PageOf(t, (b + 1) % t.batch, s), h, s);
}
// The fault shows only where the table says otherwise, as it nearly always does.
std::int64_t InOrder(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  const std::int64_t page = b * Parts(t) + s / t.page_size;
  return InPage(t, page == PageOf(t, b, s) ? page + 1 : page, h, s);
}
std::int64_t NextPage(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return InPage(t, PageOf(t, b, s) + 1, h, s);
}
std::int64_t NextPosition(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return InPage(t, PageOf(t, b, s), h, s + 1);
}
std::int64_t NextHead(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return InPage(t, PageOf(t, b, s), (h + 1) % t.heads, s);
}
// [page][positions][heads][size].
std::int64_t HeadsInside(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return ((PageOf(t, b, s) * t.page_size + (s + 1) % t.page_size) * t.heads + h) * t.size;
}

std::int64_t Behind(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return t.RowPlace(b, h, s) + t.heads * t.size;
}
std::int64_t Before(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return std::max<std::int64_t>(0, t.RowPlace(b, h, s) - t.heads * t.size);
}
std::int64_t AsIfOfFullLength(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return ((b * t.length + s + (b == 0 ? 1 : 0)) * t.heads + h) * t.size;
}
std::int64_t WithoutOffset(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return ((s + (b == 0 ? t.starts[1] : 0)) * t.heads + h) * t.size;
}
std::int64_t HeadsOutside(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  return ((t.starts[static_cast<std::size_t>(b)] * t.heads) + h * t.length + s + 1) * t.size;
}

struct Kind {
  const char* name;
  bool backward;
  AttentionLayout layout;
  std::size_t tensor;  // 0 to 2: Q, K, V, or their gradients
  Place place;
};
constexpr auto kBshd = AttentionLayout::kBshd;
constexpr auto kThd = AttentionLayout::kThd;
const Kind kKinds[] = {
    {"k_of_the_next_part", false, kBshd, 1, NextPart},
    {"v_of_the_next_part", false, kBshd, 2, NextPart},
    {"k_of_the_other_entry", false, kBshd, 1, OtherEntry},
    {"v_of_the_other_entry", false, kBshd, 2, OtherEntry},
    {"k_in_order", false, kBshd, 1, InOrder},
    {"v_in_order", false, kBshd, 2, InOrder},
    {"k_of_the_next_page", false, kBshd, 1, NextPage},
    {"v_of_the_next_page", false, kBshd, 2, NextPage},
    {"v_of_the_next_position", false, kBshd, 2, NextPosition},
    {"k_of_the_next_head", false, kBshd, 1, NextHead},
    {"k_by_positions", false, kBshd, 1, HeadsInside},
    {"v_by_positions", false, kBshd, 2, HeadsInside},
    {"thd_q_behind", false, kThd, 0, Behind},
    {"thd_k_behind", false, kThd, 1, Behind},
    {"thd_v_before", false, kThd, 2, Before},
    {"thd_q_as_if_of_full_length", false, kThd, 0, AsIfOfFullLength},
    {"thd_k_as_if_of_full_length", false, kThd, 1, AsIfOfFullLength},
    {"thd_v_without_offset", false, kThd, 2, WithoutOffset},
    {"thd_k_by_heads", false, kThd, 1, HeadsOutside},
    {"thd_dq_behind", true, kThd, 0, Behind},
    {"thd_dk_before", true, kThd, 1, Before},
    {"thd_dv_without_offset", true, kThd, 2, WithoutOffset},
    {"thd_dk_by_heads", true, kThd, 1, HeadsOutside},
};

AttentionProblemSpec SpecOf(const Kind& kind) {
  AttentionProblemSpec spec;
  spec.shape = {2, 4, 2, 192, 192, 64, 64, AttentionMask::kPadding, 0, {191, 100}, {180, 75}};
  spec.layout = kind.layout;
  spec.backward = kind.backward;
  if (kind.layout == kBshd) spec.page_size = kPage;
  return spec;
}

class AttentionPlacesTest : public testing::TestWithParam<Kind> {
 protected:
  // Rows that count.
  static std::int64_t Length(const AttentionProblemSpec& spec, std::int64_t b) {
    return GetParam().tensor == 0 ? spec.shape.Queries(b) : spec.shape.Keys(b);
  }

  static bool MisreadIsNoticed(const JudgedAttention& judged, std::int64_t b, std::int64_t h,
                               std::int64_t begin) {
    const AttentionTensor tensor = judged.spec().Inputs()[GetParam().tensor];
    const std::vector<float> memory = judged.InputMemory(tensor.operand);
    AttentionNumbers seen = judged.numbers();
    std::vector<float>* const all[] = {&seen.q, &seen.k, &seen.v};
    for (std::int64_t s = begin; s < std::min(begin + kPage, Length(judged.spec(), b)); ++s) {
      const std::int64_t from = GetParam().place(tensor, b, h, s),
                         to = ((b * tensor.heads + h) * tensor.length + s) * tensor.size;
      for (std::int64_t d = 0; d < tensor.size; ++d)
        (*all[GetParam().tensor])[static_cast<std::size_t>(to + d)] =
            memory[static_cast<std::size_t>(from + d) % memory.size()];
    }
    const std::int64_t q_head = h * judged.spec().shape.q_heads / tensor.heads;
    return !judged.AllRight(judged.InMemory(judged.With(b, q_head, {}, seen)));
  }

  static bool MisplacedIsNoticed(const JudgedAttention& judged, std::int64_t b, std::int64_t h,
                                 std::int64_t begin) {
    const std::size_t output = GetParam().tensor;
    const AttentionTensor& tensor = judged.outputs()[output];
    const JudgedAttention::Memory sound = judged.InMemory(judged.sound());
    JudgedAttention::Memory memory = sound;
    const std::int64_t end = std::min(begin + kPage, Length(judged.spec(), b)), places = tensor.Places();
    for (std::int64_t s = begin; s < end; ++s)
      std::memset(judged.At(&memory, output, tensor.RowPlace(b, h, s)), 0xFE, judged.RowBytes(output));
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t to = GetParam().place(tensor, b, h, s) % places;
      std::memcpy(judged.At(&memory, output, to),
                  sound[tensor.operand].data() + static_cast<std::size_t>(tensor.RowPlace(b, h, s)) * 2,
                  judged.RowBytes(output));
    }
    return !judged.AllRight(memory);
  }
};

TEST_P(AttentionPlacesTest, IsNoticedAnywhere) {
  const JudgedAttention judged(SpecOf(GetParam()));
  ASSERT_TRUE(judged.SoundIsRight());
  Random random(13);
  for (int i = 0; i < Positions(); ++i) {
    const std::int64_t b = Below(&random, 2), h = Below(&random, 2);
    // A part of which most counts.
    const std::int64_t begin = Below(&random, (Length(judged.spec(), b) + 8) / kPage) * kPage;
    const bool noticed =
        GetParam().backward ? MisplacedIsNoticed(judged, b, h, begin) : MisreadIsNoticed(judged, b, h, begin);
    EXPECT_TRUE(noticed) << "b=" << b << " h=" << h << " rows from " << begin;
  }
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) { return kind.param.name; }
INSTANTIATE_TEST_SUITE_P(All, AttentionPlacesTest, testing::ValuesIn(kKinds), NameOf);

TEST(AttentionTablesTest, NameEachPageOnceAndLeaveSome) {
  AttentionProblemSpec spec = SpecOf(kKinds[0]);
  spec.shape.keys = 190;
  const std::vector<float> k = AttentionTable(spec, AttentionRole::kPagesK),
                           v = AttentionTable(spec, AttentionRole::kPagesV);
  ASSERT_EQ(k.size(), 12U);
  EXPECT_EQ(std::set<float>(k.begin(), k.end()).size(), 12U);
  EXPECT_NE(k, v);
  EXPECT_FALSE(std::is_sorted(k.begin(), k.end()));
  EXPECT_EQ(spec.K().Places(), (12 + kSparePages) * 2 * kPage * 64);
  // All of what no row fills is large, and no NaN.
  const JudgedAttention judged(SpecOf(kKinds[0]));
  std::int64_t large = 0;
  for (const float value : judged.InputMemory(1)) large += value == 112;
  EXPECT_EQ(large, kSparePages * 2 * kPage * 64);
}

TEST(AttentionTablesTest, OffsetsAreWhereSequencesBegin) {
  const AttentionProblemSpec spec = SpecOf(kKinds[12]);
  EXPECT_THAT(AttentionTable(spec, AttentionRole::kOffsetsQ), ElementsAre(0, 191 * 256, 291 * 256));
  EXPECT_THAT(AttentionTable(spec, AttentionRole::kOffsetsK), ElementsAre(0, 180 * 128, 255 * 128));
  EXPECT_THAT(AttentionTable(spec, AttentionRole::kOffsetsO), ElementsAre(0, 191 * 256, 291 * 256));
  EXPECT_THAT(AttentionTable(spec, AttentionRole::kLengthsKv), ElementsAre(180, 75));
  const AttentionTensor q = spec.Q();
  EXPECT_EQ(q.Places(), 291 * 256);
  q.ForRows([&](std::int64_t place, std::int64_t index) { ASSERT_EQ(q.IndexAt(place), index); });
  EXPECT_EQ(q.IndexAt(q.Places()), -1);
  EXPECT_EQ(q.Place(191 * 256 + 64), "(b=1,h=1,s=0,d=0)");
}

TEST(AttentionTablesTest, WhatCannotBeAskedForTogetherIsNamed) {
  const auto field = [](auto change) {
    AttentionProblemSpec spec = SpecOf(kKinds[0]);
    change(&spec);
    const auto problems = ProblemsOf(spec);
    return problems.empty() ? std::string() : problems.front().field;
  };
  EXPECT_EQ(field([](auto*) {}), "");
  EXPECT_EQ(field([](auto* s) { s->page_size = 0, s->layout = kThd; }), "");
  EXPECT_EQ(field([](auto* s) { s->page_size = -1; }), "page_size");
  EXPECT_EQ(field([](auto* s) { s->page_size = 193; }), "page_size");
  EXPECT_EQ(field([](auto* s) { s->backward = true; }), "page_size");
  EXPECT_EQ(field([](auto* s) { s->layout = kThd; }), "page_size");
  EXPECT_EQ(field([](auto* s) { s->layout = AttentionLayout::kBs3hd; }), "page_size");
  EXPECT_EQ(field([](auto* s) { s->shape.mask = AttentionMask::kNone; }), "page_size");
  EXPECT_EQ(field([](auto* s) { s->page_size = 0, s->layout = kThd, s->shape.mask = AttentionMask::kNone; }),
            "layout");
}

}  // namespace
}  // namespace cudnn_ci
