// Q, K and V in one tensor, and their gradients in another: what a kernel that takes a wrong stride or part
// would read or write, at random places.
#include <gmock/gmock.h>

#include <cstring>

#include "attention_judged.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

// A tile of rows of one head of one part.
struct Tile {
  std::int64_t b = 0, h = 0, begin = 0, end = 0;
};

std::int64_t PlaceOf(const AttentionTensor& t, std::int64_t b, std::int64_t h, std::int64_t s) {
  const auto strides = t.Strides();
  return t.offset + b * strides[0] + h * strides[1] + s * strides[2];
}

struct Kind {
  const char* name;
  bool backward;
  std::size_t part;                                                            // 0 to 2
  std::int64_t (*place)(const AttentionTensor&, const Tile&, std::int64_t s);  // that is read or written
};

std::int64_t UnpackedPositions(const AttentionTensor& t, const Tile& at, std::int64_t s) {
  return PlaceOf(t, at.b, at.h, 0) + (s + 1) * t.heads * t.size;
}
std::int64_t UnpackedEntries(const AttentionTensor& t, const Tile& at, std::int64_t s) {
  return PlaceOf(t, 0, at.h, s) + (at.b + 1) * t.heads * t.length * t.size;
}
std::int64_t NextHead(const AttentionTensor& t, const Tile& at, std::int64_t s) {
  return PlaceOf(t, at.b, (at.h + 1) % t.heads, s);
}
std::int64_t NextPosition(const AttentionTensor& t, const Tile& at, std::int64_t s) {
  return PlaceOf(t, at.b, at.h, (s + 1) % t.length);
}
std::int64_t OtherEntry(const AttentionTensor& t, const Tile& at, std::int64_t s) {
  return PlaceOf(t, (at.b + 1) % t.batch, at.h, s);
}
// The first part's place, as if it had no offset.
std::int64_t NoOffset(const AttentionTensor& t, const Tile& at, std::int64_t s) {
  return PlaceOf(t, at.b, at.h, s) - t.offset;
}

const Kind kKinds[] = {
    {"q_at_unpacked_positions", false, 0, UnpackedPositions},
    {"k_at_unpacked_positions", false, 1, UnpackedPositions},
    {"v_at_unpacked_positions", false, 2, UnpackedPositions},
    {"q_at_unpacked_entries", false, 0, UnpackedEntries},
    {"k_at_unpacked_entries", false, 1, UnpackedEntries},
    {"k_of_the_next_head", false, 1, NextHead},
    {"v_of_the_next_head", false, 2, NextHead},
    {"v_of_the_next_position", false, 2, NextPosition},
    {"k_of_the_other_entry", false, 1, OtherEntry},
    {"k_without_offset", false, 1, NoOffset},
    {"v_without_offset", false, 2, NoOffset},
    {"dq_at_unpacked_positions", true, 0, UnpackedPositions},
    {"dk_at_unpacked_positions", true, 1, UnpackedPositions},
    {"dv_at_unpacked_positions", true, 2, UnpackedPositions},
    {"dk_at_unpacked_entries", true, 1, UnpackedEntries},
    {"dq_in_the_next_head", true, 0, NextHead},
    {"dv_in_the_next_head", true, 2, NextHead},
    {"dk_at_the_next_position", true, 1, NextPosition},
    {"dv_in_the_other_entry", true, 2, OtherEntry},
    {"dk_without_offset", true, 1, NoOffset},
    {"dv_without_offset", true, 2, NoOffset},
};

class AttentionLayoutTest : public testing::TestWithParam<std::tuple<Kind, AttentionLayout>> {
 protected:
  static AttentionProblemSpec Spec() {
    const auto& [kind, layout] = GetParam();
    AttentionProblemSpec spec;
    const std::int64_t kv_heads = layout == AttentionLayout::kBs3hd ? 2 : 4;
    spec.shape = {2, 4, kv_heads, 192, 192, 64, 64, AttentionMask::kNone, 0, {}, {}};
    spec.layout = layout;
    spec.backward = kind.backward;
    return spec;
  }

  // One head of queries sees other numbers in a tile of a part.
  static bool MisreadIsNoticed(const JudgedAttention& judged, const Tile& tile, std::int64_t q_head) {
    const Kind& kind = std::get<0>(GetParam());
    const AttentionTensor part = judged.spec().Inputs()[kind.part];
    const std::vector<float> memory = judged.InputMemory(0);
    AttentionNumbers seen = judged.numbers();
    std::vector<float>& numbers = kind.part == 0 ? seen.q : kind.part == 1 ? seen.k : seen.v;
    for (std::int64_t s = tile.begin; s < tile.end; ++s) {
      const std::int64_t from = kind.place(part, tile, s),
                         to = ((tile.b * part.heads + tile.h) * part.length + s) * part.size;
      for (std::int64_t d = 0; d < part.size; ++d)
        numbers[static_cast<std::size_t>(to + d)] =
            memory[static_cast<std::size_t>(from + d) % memory.size()];
    }
    return !judged.AllRight(judged.InMemory(judged.With(tile.b, q_head, {}, seen)));
  }

  // The rows of a tile are written elsewhere, and their own places never.
  static bool MisplacedIsNoticed(const JudgedAttention& judged, const Tile& tile) {
    const Kind& kind = std::get<0>(GetParam());
    const AttentionTensor& part = judged.outputs()[kind.part];
    const JudgedAttention::Memory sound = judged.InMemory(judged.sound());
    JudgedAttention::Memory memory = sound;
    const std::size_t bytes = judged.RowBytes(kind.part);
    for (std::int64_t s = tile.begin; s < tile.end; ++s)
      std::memset(judged.At(&memory, kind.part, PlaceOf(part, tile.b, tile.h, s)), 0xFE, bytes);
    for (std::int64_t s = tile.begin; s < tile.end; ++s) {
      const std::int64_t to = kind.place(part, tile, s), from = PlaceOf(part, tile.b, tile.h, s);
      std::memcpy(judged.At(&memory, kind.part, to), sound[0].data() + static_cast<std::size_t>(from) * 2,
                  bytes);
    }
    return !judged.AllRight(memory);
  }
};

TEST_P(AttentionLayoutTest, IsNoticedAnywhere) {
  const JudgedAttention judged(Spec());
  ASSERT_TRUE(judged.SoundIsRight());
  const Kind& kind = std::get<0>(GetParam());
  const AttentionTensor part = judged.spec().Inputs()[kind.part];
  const std::int64_t group = judged.spec().shape.q_heads / part.heads;
  Random random(9);
  for (int i = 0; i < Positions(); ++i) {
    Tile tile;
    // Behind the last entry of an operand there is nothing to be read.
    tile.b = kind.place == UnpackedEntries ? 0 : Below(&random, part.batch);
    tile.h = Below(&random, part.heads);
    tile.begin = Below(&random, part.length / kTile) * kTile;
    tile.end = tile.begin + kTile;
    const bool noticed = kind.backward
                             ? MisplacedIsNoticed(judged, tile)
                             : MisreadIsNoticed(judged, tile, tile.h * group + Below(&random, group));
    EXPECT_TRUE(noticed) << "b=" << tile.b << " h=" << tile.h << " rows from " << tile.begin;
  }
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Kind, AttentionLayout>>& info) {
  return std::string(std::get<0>(info.param).name) +
         (std::get<1>(info.param) == AttentionLayout::kBs3hd ? "_bs3hd" : "_bsh3d");
}
INSTANTIATE_TEST_SUITE_P(All, AttentionLayoutTest,
                         testing::Combine(testing::ValuesIn(kKinds),
                                          testing::Values(AttentionLayout::kBs3hd, AttentionLayout::kBsh3d)),
                         NameOf);

TEST(AttentionOperandsTest, OfAPackedLayoutAreTwo) {
  AttentionProblemSpec spec;
  spec.shape = {2, 4, 2, 8, 8, 64, 64, AttentionMask::kNone, 0, {}, {}};
  spec.layout = AttentionLayout::kBs3hd, spec.backward = true;
  const Operands operands = AttentionOperands(spec);
  ASSERT_EQ(operands.inputs.size(), 4U);
  EXPECT_EQ(operands.inputs[0].name, "Q+K+V");
  EXPECT_EQ(operands.inputs[0].extent.Count(), 2 * 8 * 64 * 8);
  ASSERT_EQ(operands.outputs.size(), 1U);
  EXPECT_EQ(operands.outputs[0].name, "dQ+dK+dV");
  EXPECT_EQ(AttentionPlace(spec, 0, 5 * 64 + 3), "dK (b=0,h=1,s=0,d=3)");
  EXPECT_EQ(AttentionPlace(spec, 0, 8 * 64 + 7 * 64), "dV (b=0,h=1,s=1,d=0)");
  spec.layout = AttentionLayout::kBshd;
  EXPECT_EQ(AttentionOperands(spec).outputs.size(), 3U);
  EXPECT_EQ(AttentionPlace(spec, 1, 3), "(b=0,h=0,s=0,d=3)");
}

// The first wrong element of a packed operand is named, and all are counted.
TEST(AttentionOperandsTest, AllPartsAreJudged) {
  AttentionProblemSpec spec;
  spec.shape = {1, 2, 2, 8, 8, 64, 64, AttentionMask::kNone, 0, {}, {}};
  spec.layout = AttentionLayout::kBsh3d, spec.backward = true;
  const JudgedAttention judged(spec);
  JudgedAttention::Memory memory = judged.InMemory(judged.sound());
  EXPECT_EQ(judged.Judge(0, memory).elements, 8 * 2 * 3 * 64);
  Store(spec.type, 77, judged.At(&memory, 2, 5 * 2 * 3 * 64 + 2 * 64));
  const Judgement judgement = judged.Judge(0, memory);
  EXPECT_EQ(judgement.wrong, 1);
  EXPECT_EQ(AttentionPlace(spec, 0, judgement.first_wrong), "dV (b=0,h=0,s=5,d=0)");
}

}  // namespace
}  // namespace cudnn_ci
