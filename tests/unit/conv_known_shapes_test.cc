// Which convolutions a row of known regressions speaks of: every word of it, both ways.
#include "conv/known_shapes.h"

#include <gtest/gtest.h>

#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

using Hits = std::map<std::string, std::vector<std::string>>;

KnownSubject Subject(const ConvShape& shape, Operation operation = Operation::kForward) {
  return {{operation, shape}, "graph", "float16", "nchw", "default"};
}

const KnownSubject kPlain = Subject(Shape({2, 6, 9, 11}, {8, 6, 3, 3}, {1}));

struct Word {
  const char* name;
  Hits hits;
  KnownSubject hit, missed;
};

// Names failures.
void PrintTo(const Word& word, std::ostream* os) { *os << word.name; }

KnownSubject With(std::string KnownSubject::*field, const std::string& value) {
  KnownSubject subject = kPlain;
  subject.*field = value;
  return subject;
}

std::vector<Word> Words() {
  const ConvShape volume = Shape({2, 3, 4, 5, 6}, {4, 3, 1, 3, 2});
  const ConvShape line = Shape({2, 6, 30}, {8, 6, 5});
  const KnownSubject ones = Subject(Shape({2, 6, 9, 11}, {8, 6, 1, 1}));
  return {
      {"operation",
       {{"operation", {"backward_data", "backward_filter"}}},
       Subject(volume, Operation::kBackwardFilter),
       Subject(volume)},
      {"api", {{"api", {"graph"}}}, kPlain, With(&KnownSubject::api, "legacy")},
      {"dtype", {{"dtype", {"float16", "bfloat16"}}}, kPlain, With(&KnownSubject::dtype, "float32")},
      {"output_dtype",
       {{"output_dtype", {"int32"}}},
       With(&KnownSubject::output_dtype, "int32"),
       With(&KnownSubject::output_dtype, "int8")},
      {"layout", {{"layout", {"nchw"}}}, kPlain, With(&KnownSubject::layout, "nhwc")},
      {"math", {{"math", {"default", "tensor"}}}, kPlain, With(&KnownSubject::math, "fma")},
      {"volume", {{"dims", {"3"}}}, Subject(volume), kPlain},
      {"image", {{"dims", {"2", "3"}}}, kPlain, Subject(line)},
      {"line", {{"dims", {"1"}}}, Subject(Shape({2, 6, 1, 30}, {8, 6, 1, 5})), kPlain},
      {"a_kernel_over_height",
       {{"dims", {"2"}}},
       Subject(Shape({2, 6, 1, 30}, {8, 6, 3, 5}, {1})),
       Subject(line)},
      {"uneven_pads",
       {{"uneven_pads", {"true"}}},
       Subject(Shape({2, 6, 9, 11}, {8, 6, 3, 3}, {1}, {1}, {1}, 1, {0})),
       kPlain},
      {"strided", {{"strided", {"true"}}}, Subject(Shape({2, 6, 9, 11}, {8, 6, 3, 3}, {0}, {1, 2})), kPlain},
      {"stride_over_kernel",
       {{"stride_over_kernel", {"true"}}},
       Subject(Shape({2, 6, 9, 11}, {8, 6, 2, 3}, {0}, {3, 1})),
       Subject(Shape({2, 6, 9, 11}, {8, 6, 3, 3}, {0}, {3, 1}))},
      {"dilated",
       {{"dilated", {"true"}}},
       Subject(Shape({2, 6, 9, 11}, {8, 6, 3, 3}, {0}, {1}, {2, 1})),
       kPlain},
      {"pointwise", {{"pointwise", {"true"}}}, ones, kPlain},
      {"not_pointwise", {{"pointwise", {"false"}}}, kPlain, ones},
      {"grouped",
       {{"grouped", {"true"}}},
       Subject(Shape({2, 6, 9, 11}, {6, 2, 3, 3}, {0}, {1}, {1}, 3)),
       kPlain},
      {"depthwise",
       {{"depthwise", {"true"}}},
       Subject(Shape({2, 6, 9, 11}, {6, 1, 3, 3}, {0}, {1}, {1}, 6)),
       Subject(Shape({2, 6, 9, 11}, {6, 2, 3, 3}, {0}, {1}, {1}, 3))},
      {"one_channel_is_not_depthwise",
       {{"depthwise", {"false"}}},
       Subject(Shape({2, 1, 9, 11}, {6, 1, 3, 3})),
       Subject(Shape({2, 6, 9, 11}, {6, 1, 3, 3}, {0}, {1}, {1}, 6))},
      {"batch", {{"batch_min", {"3"}}}, Subject(Shape({3, 6, 9, 11}, {8, 6, 3, 3})), kPlain},
      {"all_must_hold",
       {{"dims", {"2"}}, {"dtype", {"float16"}}},
       kPlain,
       With(&KnownSubject::dtype, "float64")},
  };
}

class KnownShapes : public ::testing::TestWithParam<Word> {};

TEST_P(KnownShapes, HoldBothWays) {
  EXPECT_TRUE(HitsConvolution(GetParam().hits, GetParam().hit, {}));
  EXPECT_FALSE(HitsConvolution(GetParam().hits, GetParam().missed, {}));
}

INSTANTIATE_TEST_SUITE_P(Words, KnownShapes, ::testing::ValuesIn(Words()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(KnownChoices, AreAnyUntilOneIsKnown) {
  const Hits engine = {{"engine", {"1", "20"}}}, algo = {{"algo", {"algo_0"}}};
  EXPECT_TRUE(HitsConvolution(engine, kPlain, {}));
  EXPECT_TRUE(HitsConvolution(algo, kPlain, {}));
  EXPECT_TRUE(HitsConvolution(engine, kPlain, {false, "", 20}));
  EXPECT_FALSE(HitsConvolution(engine, kPlain, {false, "", 2}));
  EXPECT_TRUE(HitsConvolution(algo, kPlain, {false, "algo_0", -1}));
  EXPECT_FALSE(HitsConvolution(algo, kPlain, {false, "algo_1", -1}));
  EXPECT_FALSE(HitsConvolution(engine, kPlain, {false, "algo_1", -1}));
}

// A table may be newer than this program, and speak of what is no property of a convolution.
TEST(KnownWords, WhatIsNotKnownHoldsOfNone) {
  EXPECT_TRUE(HitsConvolution({}, kPlain, {}));
  EXPECT_FALSE(HitsConvolution({{"moon", {"full"}}}, kPlain, {}));
  EXPECT_FALSE(HitsConvolution({{"gpus_min", {"1"}}}, kPlain, {}));
  EXPECT_FALSE(HitsConvolution({{"cublaslt_min", {"12.9"}}}, kPlain, {}));
  EXPECT_FALSE(HitsConvolution({{"fused", {"true"}}}, kPlain, {}));
  EXPECT_TRUE(HitsConvolution({{"fused", {"false"}}}, kPlain, {}));
  KnownSubject fused = kPlain;
  fused.problem.epilogue.relu = true;
  EXPECT_TRUE(HitsConvolution({{"fused", {"true"}}}, fused, {}));
  EXPECT_FALSE(HitsConvolution({{"fused", {"false"}}}, fused, {}));
  // ReLU adds nothing, and a bias is one addition.
  EXPECT_FALSE(HitsConvolution({{"additions_min", {"1"}}}, fused, {}));
  fused.problem.epilogue.bias = true;
  EXPECT_TRUE(HitsConvolution({{"additions_min", {"1"}}}, fused, {}));
  EXPECT_FALSE(HitsConvolution({{"additions_min", {"2"}}}, fused, {}));
  EXPECT_TRUE(HitsConvolution({{"compute_capability_min", {"7.0"}}}, kPlain, {})) << "judged elsewhere";
}

}  // namespace
}  // namespace cudnn_ci
