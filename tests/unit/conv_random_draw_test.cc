// Draws are bounded, repeatable, and cover what there is.
#include "conv/random_draw.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "common/numeric/data_type.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kDraws = 2000;

TEST(DrawTest, IsTheSameForTheSameSeedAndNumberAlone) {
  std::set<std::string> texts;
  for (std::uint64_t seed : {1, 2})
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::string text = DrawConvolution(seed, i).Text();
      EXPECT_EQ(DrawConvolution(seed, i).Text(), text);
      texts.insert(text);
    }
  EXPECT_GT(texts.size(), 390u) << "two draws are seldom alike";
}

TEST(DrawTest, EveryOneIsPossibleAndSmall) {
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Draw draw = DrawConvolution(7, i);
    ASSERT_TRUE(FindShapeProblems(draw.shape).empty()) << i;
    const Problem problem = {draw.operation, MakeConvShape(draw.shape)};
    for (const Tensor& tensor : {problem.A(), problem.B(), problem.Y()})
      EXPECT_LE(tensor.Count(), kMostDrawnElements) << i;
    EXPECT_LE(problem.shape.OutputCount() * problem.shape.Reduction(), kMostDrawnProducts) << i;
    EXPECT_NO_THROW(DataTypeFrom(draw.dtype));
    EXPECT_NO_THROW(LayoutFrom(draw.layout));
  }
}

TEST(DrawTest, EveryOperationTypeLayoutAndApiComesUp) {
  std::map<std::string, int> kinds;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Draw draw = DrawConvolution(7, i);
    ++kinds[OperationName(draw.operation) + " " + draw.dtype + " " + draw.layout + " " + draw.api];
    if (draw.math == "fma") ++kinds["fma " + draw.dtype];
  }
  for (const char* operation : {"forward", "backward_data", "backward_filter"}) {
    for (const char* dtype : {"float32", "float16", "bfloat16", "float64"})
      for (const char* layout : {" nchw ", " nhwc "})
        for (const char* api : {"legacy", "graph"})
          EXPECT_GT(kinds[std::string(operation) + " " + dtype + layout + api], 5) << operation << dtype;
    for (const char* dtype : {" float8_e4m3", " float8_e5m2"})
      EXPECT_GT(kinds[std::string(operation) + dtype + " nhwc graph"], 5) << operation << dtype;
  }
  EXPECT_GT(kinds["forward int8 nhwc graph"], 20);
  EXPECT_GT(kinds["fma float32"], 20);
  EXPECT_EQ(kinds["fma bfloat16"], 0);
  for (const auto& [kind, count] : kinds) {
    if (count == 0) continue;
    EXPECT_THAT(kind, Not(HasSubstr("8 nchw"))) << "which libraries get wrong";
    EXPECT_THAT(kind, Not(HasSubstr("backward_data int8")));
    EXPECT_THAT(kind, Not(HasSubstr("int8 nhwc legacy")));
  }
}

TEST(DrawTest, ShapesAreOfManyKinds) {
  std::map<std::string, int> kinds;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Draw draw = DrawConvolution(7, i);
    const ConvShape s = MakeConvShape(draw.shape);
    kinds["volume"] += s.spatial == 3;
    kinds["line"] += s.in[1] == 1 && s.kernel[1] == 1 && s.spatial == 2;
    kinds["depthwise"] += s.groups > 4 && s.groups == s.c;
    kinds["grouped"] += s.groups > 1 && s.groups <= 4 && s.groups < s.c;
    kinds["strided"] += Product(s.stride) > 1;
    kinds["dilated"] += Product(s.dilation) > 1;
    kinds["strided and dilated"] += Product(s.stride) > 1 && Product(s.dilation) > 1;
    kinds["odd channels"] += s.c % 2 == 1;
    kinds["uneven pads"] += !s.PadsAlike();
    EXPECT_TRUE(s.PadsAlike() || draw.api == "graph") << i;
  }
  for (const auto& [kind, count] : kinds) EXPECT_GT(count, 40) << kind;
}

TEST(DrawTest, WhatASeedStandsForStays) {
  // The text is a contract: it is how a draw that found something is found again.
  EXPECT_EQ(
      DrawConvolution(1, 4).Text(),
      "forward float32 nchw, legacy API, default math, x=1x56x2x34x28 w=64x28x1x3x1 pad=0x1x0 stride=1x1x2 "
      "dilation=2x1x1 groups=2");
  EXPECT_EQ(DrawConvolution(2, 4).Text(),
            "forward float64 nchw, graph API, default math, x=4x6x16x3 w=7x6x1x3 pad=0x1 stride=1x3 "
            "dilation=1x1 groups=1");
}

}  // namespace
}  // namespace cudnn_ci
