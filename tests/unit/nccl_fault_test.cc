// Faults planted in collectives that are computed from the bytes that each rank sends, as a library does:
// each is seen by the rank that has it, and the rank that is lost is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "common/numeric/fill.h"
#include "fake_nccl.h"
#include "nccl/collective_data.h"
#include "nccl/known_faults.h"
#include "nccl/variables.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

using fake_nccl::Bytes;
using ::testing::HasSubstr;

constexpr const char* kCollectives[] = {"all_reduce", "reduce", "reduce_scatter", "all_gather",  "broadcast",
                                        "all_to_all", "gather", "scatter",        "send_receive"};
constexpr const char* kTypes[] = {"int8",    "uint8",    "int32",   "uint32",  "int64",       "uint64",
                                  "float16", "bfloat16", "float32", "float64", "float8_e4m3", "float8_e5m2"};

CollectiveSpec Spec(const std::string& collective, const std::string& type, const std::string& reduction,
                    int ranks, std::int64_t count = 200) {
  CollectiveSpec spec;
  spec.SetCollective(collective);
  spec.type = FindNcclType(type);
  spec.reduction = spec.Reduces() ? ReductionFrom(reduction) : Reduction::kNone;
  spec.ranks = ranks;
  spec.count = count;
  return spec;
}

fake_nccl::Collective CallOf(const CollectiveSpec& spec, int rank) {
  using Kind = fake_nccl::Collective::Kind;
  fake_nccl::Collective c;
  // A group of sends and receives is an all-to-all.
  c.kind = spec.collective == Collective::kSendReceive ? Kind::kAllToAll : static_cast<Kind>(spec.collective);
  c.count = static_cast<std::size_t>(spec.count), c.type = spec.type;
  c.op = NumberOf(spec.reduction), c.root = spec.root, c.rank = rank, c.ranks = spec.ranks;
  c.lost = spec.ranks - 1;
  return c;
}

// What one rank finds in its output, guards of 64 bytes around it, and in its input.
struct Found {
  Judgement judgement;
  std::string why;
  bool guards_held = true, input_held = true;
  bool right() const { return judgement.AllMatch() && guards_held && input_held; }
};

Found Look(const CollectiveSpec& spec, int rank, const std::string& fault) {
  constexpr std::size_t kGuard = 64;
  constexpr unsigned char kPattern = 0xA5;
  std::vector<Bytes> sent;
  for (int r = 0; r < spec.ranks; ++r) {
    const CollectiveData data(spec, r);
    sent.emplace_back(OperandsOf(spec, r).inputs[0].Bytes());
    data.Encode(0, sent.back().data());
  }
  const Operand output = OperandsOf(spec, rank).outputs[0];
  Bytes memory(output.Bytes() + 2 * kGuard, kPattern);
  const std::uint32_t word = UnwrittenWord(output.type);
  for (std::size_t i = 0; i < output.Bytes(); ++i)
    memory[kGuard + i] = reinterpret_cast<const unsigned char*>(&word)[i % 4];
  Bytes input = sent[static_cast<std::size_t>(rank)];
  fake_nccl::SetFault(fault);
  fake_nccl::Deliver(CallOf(spec, rank), sent, true, input.data(), memory.data() + kGuard);
  Found found;
  const CollectiveData data(spec, rank);
  found.judgement = data.Judge(0, 0, memory.data() + kGuard);
  found.why = data.Explain(memory.data() + kGuard);
  found.input_held = input == sent[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < kGuard; ++i)
    found.guards_held &= memory[i] == kPattern && memory[memory.size() - 1 - i] == kPattern;
  return found;
}

std::string NameOf(const CollectiveSpec& spec, const std::string& fault) {
  return spec.Text() + ": " + fault;
}

TEST(NcclData, WhatIsRightIsRightForEveryTypeReductionAndNumberOfRanks) {
  for (const char* collective : kCollectives)
    for (const char* type : kTypes)
      for (const int ranks : {1, 2, 4, 8})
        for (const char* reduction : {"sum", "product", "min", "max", "average"}) {
          const CollectiveSpec spec = Spec(collective, type, reduction, ranks, 40);
          if (!spec.Reduces() && std::string(reduction) != "sum") continue;
          ASSERT_EQ(InexactBecause(spec), "") << NameOf(spec, "");
          for (const int rank : {0, ranks - 1})
            ASSERT_TRUE(Look(spec, rank, "").right()) << NameOf(spec, "none") << " at " << rank;
        }
}

TEST(NcclData, AnAverageThatRoundsIsNone) {
  EXPECT_THAT(InexactBecause(Spec("all_reduce", "float32", "average", 3)), HasSubstr("3 ranks"));
  EXPECT_EQ(InexactBecause(Spec("all_gather", "float32", "none", 3)), "");
}

TEST(NcclData, EveryFaultOfOneRankIsSeen) {
  for (const char* fault : {"nothing", "half", "tail", "first", "element", "bit", "last", "moved", "block",
                            "swapped", "reversed", "zeros", "behind", "before", "input"})
    for (const char* collective : kCollectives)
      for (const char* type : {"int8", "float16", "float32", "float64", "float8_e5m2"}) {
        const CollectiveSpec spec = Spec(collective, type, "sum", 1);
        EXPECT_FALSE(Look(spec, 0, fault).right()) << NameOf(spec, fault);
      }
  EXPECT_FALSE(Look(Spec("all_gather", "int8", "none", 1, 201), 0, "odd").right());
  EXPECT_FALSE(Look(Spec("broadcast", "bfloat16", "none", 1, 4000), 0, "nan").right());
  const Found average = Look(Spec("reduce", "float32", "average", 1, 23), 0, "average_tail");
  EXPECT_EQ(average.judgement.unwritten, 7);
  EXPECT_EQ(average.judgement.first_unwritten, 16);
}

struct Lost {
  const char *fault, *collective, *type, *reduction, *why;
};

// Of four ranks, of which the last one is lost, as rank 0 sees it.
TEST(NcclData, TheRankThatIsLostIsNamed) {
  const Lost kLost[] = {
      {"missing", "all_reduce", "float32", "sum", "rank 3 is missing"},
      {"missing", "all_reduce", "float8_e5m2", "sum", "rank 3 is missing"},
      {"missing", "reduce", "int8", "product", "rank 3 is missing"},
      {"missing", "reduce_scatter", "uint8", "max", "rank 3 is missing"},
      {"missing", "all_reduce", "bfloat16", "min", "rank 3 is missing"},
      {"missing", "reduce", "int32", "average", "rank 3 is missing"},
      {"missing", "all_reduce", "float8_e4m3", "average", "rank 3 is missing"},
      {"twice", "all_reduce", "float16", "sum", "rank 3 is counted twice"},
      {"twice", "reduce_scatter", "uint32", "product", "rank 3 is counted twice"},
      {"twice", "reduce", "int64", "average", "rank 3 is counted twice"},
      {"lost_tail", "all_reduce", "float64", "sum", "rank 3 is missing"},
      {"lost_tail", "reduce_scatter", "bfloat16", "sum", "rank 3 is missing"},
      {"lost_element", "reduce", "float32", "sum", "rank 3 is missing"},
      {"lost_element", "all_reduce", "int8", "sum", "rank 3 is missing"},
      {"own", "all_reduce", "float32", "sum", "it is what rank 0 sent"},
      {"own", "reduce_scatter", "float16", "sum", "it is what rank 0 sent"},
      {"order", "all_gather", "float32", "none", "it is what rank 3 sent"},
      {"order", "gather", "int8", "none", "it is what rank 3 sent"},
      {"order", "all_to_all", "float16", "none", "it is what rank 3 sent"},
      {"order", "send_receive", "float64", "none", "it is what rank 3 sent"},
      {"rotated", "all_gather", "bfloat16", "none", "it is what rank 1 sent"},
      {"chunk", "gather", "uint64", "none", "it is what rank 0 sent"},
      {"chunk", "all_to_all", "float8_e4m3", "none", "it is what rank 0 sent"},
      {"moved", "all_reduce", "float32", "sum", "it is moved by one element"},
      {"moved", "broadcast", "int32", "none", "it is moved by one element"},
  };
  // With two, what the other one sent is that this one is missing.
  EXPECT_EQ(Look(Spec("all_reduce", "float32", "sum", 2), 0, "own").why, "rank 1 is missing");
  for (const Lost& lost : kLost) {
    const CollectiveSpec spec = Spec(lost.collective, lost.type, lost.reduction, 4);
    const Found found = Look(spec, 0, lost.fault);
    EXPECT_FALSE(found.right()) << NameOf(spec, lost.fault);
    EXPECT_EQ(found.why, lost.why) << NameOf(spec, lost.fault);
  }
}

TEST(NcclData, EveryFaultOfSeveralRanksIsSeen) {
  for (const int ranks : {2, 4, 8})
    for (const char* type : {"uint8", "int32", "float16", "float8_e5m2"}) {
      for (const char* reduction : {"sum", "product", "min", "max", "average"})
        for (const char* fault : {"missing", "own", "other_op", "lost_tail"}) {
          const CollectiveSpec spec = Spec("all_reduce", type, reduction, ranks);
          EXPECT_FALSE(Look(spec, 0, fault).right()) << NameOf(spec, fault);
        }
      for (const char* fault : {"average_never", "average_twice"})
        EXPECT_FALSE(Look(Spec("reduce", type, "average", ranks), 0, fault).right()) << type << fault;
      for (const char* fault : {"order", "rotated", "chunk"})
        EXPECT_FALSE(Look(Spec("all_gather", type, "none", ranks), 0, fault).right()) << type << fault;
    }
  EXPECT_FALSE(Look(Spec("all_reduce", "int8", "average", 2), 0, "average_early").right());
}

// In place and shifted, so that each element of the output has one that is right for it.
TEST(NcclData, AnElementIsSeenAnywhere) {
  const CollectiveSpec spec = Spec("reduce_scatter", "bfloat16", "average", 4, 70001);
  CollectiveSpec shifted = spec;
  shifted.shift = 1, shifted.in_place = true;
  const CollectiveData data(shifted, 2);
  Bytes output(OperandsOf(shifted, 2).outputs[0].Bytes());
  data.Encode(0, output.data());
  const std::uint32_t word = UnwrittenWord(DataType::kBfloat16);
  std::memcpy(output.data(), &word, 2);
  std::vector<Bytes> sent;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    sent.emplace_back(OperandsOf(spec, rank).inputs[0].Bytes());
    CollectiveData(spec, rank).Encode(0, sent.back().data());
  }
  fake_nccl::SetFault("");
  fake_nccl::Deliver(CallOf(spec, 2), sent, false, nullptr, output.data() + 2 * (1 + 2 * 70001));
  ASSERT_TRUE(data.Judge(0, 0, output.data()).AllMatch());
  std::mt19937_64 random(7);
  for (int i = 0; i < Positions(); ++i) {
    const std::size_t place = random() % (output.size() / 2);
    output[2 * place] ^= 1;
    const Judgement judged = data.Judge(0, 0, output.data());
    EXPECT_EQ(judged.wrong, 1) << place;
    EXPECT_EQ(judged.first_wrong, static_cast<std::int64_t>(place));
    output[2 * place] ^= 1;
  }
}

TEST(NcclKnown, ARowHitsByReductionAndRanks) {
  const Predicates average = {{"operation", {"collective"}}, {"reduction", {"average"}}, {"ranks", {"1"}}};
  EXPECT_TRUE(HitsCollective(average, Spec("all_reduce", "float32", "average", 1)));
  EXPECT_FALSE(HitsCollective(average, Spec("all_reduce", "float32", "sum", 1)));
  EXPECT_FALSE(HitsCollective(average, Spec("all_reduce", "float32", "average", 2)));
  // Of memory and of hosts that none of its collectives has.
  for (const char* other : {"symmetric_memory", "hosts_min"})
    EXPECT_FALSE(HitsCollective({{"operation", {"collective"}}, {other, {"true"}}},
                                Spec("all_reduce", "float32", "sum", 2)))
        << other;
  const Predicates several = {{"operation", {"collective"}}, {"gpus_min", {"2"}}};
  EXPECT_FALSE(HitsCollective(several, Spec("all_reduce", "float32", "sum", 1)));
  EXPECT_TRUE(HitsCollective(several, Spec("all_reduce", "float32", "sum", 2)));
  EXPECT_FALSE(HitsCollective({{"operation", {"matmul"}}}, Spec("all_reduce", "float32", "sum", 1)));
  EXPECT_FALSE(HitsCollective({{"new_word", {"x"}}}, Spec("all_reduce", "float32", "sum", 1)));
}

TEST(NcclSettings, WhatIsTheDefaultIsNone) {
  const std::string file = "# NCCL_ALGO=Ring\nNCCL_PROTO=LL\nNCCL_PROTO=Simple\nNCCL_P2P_DISABLE=0\n";
  EXPECT_EQ(ValueIn(file, "NCCL_PROTO"), "Simple");
  EXPECT_EQ(ValueIn(file, "NCCL_ALGO"), "");
  const auto set = [&](const std::string& name) { return ValueIn(file, name); };
  EXPECT_THAT(SettingsThatRemain(set), HasSubstr("NCCL_PROTO=Simple ("));
  EXPECT_THAT(SettingsThatRemain(set), ::testing::Not(HasSubstr("NCCL_P2P_DISABLE")));
  EXPECT_EQ(SettingsThatRemain([](const std::string&) { return std::string(); }), "");
}

}  // namespace
}  // namespace cudnn_ci
