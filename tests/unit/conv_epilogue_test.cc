// What follows a convolution's sums: the data for it, the exact result, and that every way of getting it
// wrong is seen in every type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "conv/bounds.h"
#include "conv_output.h"
#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

constexpr Epilogue kBias = {true, false}, kRelu = {false, true}, kBiasRelu = {true, true};
constexpr Epilogue kEpilogues[] = {kBias, kRelu, kBiasRelu};
constexpr Layout kLayouts[] = {Layout::kNchw, Layout::kNhwc};

// Inputs, and the type of the result.
struct Types {
  DataType input, output;
};
constexpr Types kTypes[] = {{DataType::kFloat32, DataType::kFloat32},
                            {DataType::kFloat16, DataType::kFloat16},
                            {DataType::kBfloat16, DataType::kBfloat16},
                            {DataType::kFloat64, DataType::kFloat64},
                            {DataType::kInt8, DataType::kInt8},
                            {DataType::kInt8, DataType::kInt32},
                            {DataType::kInt8, DataType::kFloat32},
                            {DataType::kFloat16, DataType::kFloat32},
                            {DataType::kFloat8E4m3, DataType::kFloat8E4m3},
                            {DataType::kFloat8E5m2, DataType::kFloat32}};

Problem Made(const Epilogue& epilogue, std::optional<DataType> output = {}) {
  return {Operation::kForward, Shape({3, 60, 5, 7}, {17, 60, 3, 3}, {1}, {2, 1}), epilogue, output};
}

// The graph API promises no long sums.
Recipe RecipeOf(const Problem& problem, DataType type, bool strict = false) {
  return RecipeFor(problem, type, Arithmetic::kExact, {strict, false});
}

// Sums of the same data, without what follows them.
Reference SumsOf(const Reference& r) {
  Reference sums;
  sums.problem = {r.problem.operation, r.problem.shape};
  sums.recipe = r.recipe;
  sums.inputs = r.inputs;
  ComputeReference(&sums);
  return sums;
}

std::int64_t ChannelOf(const Reference& r, std::int64_t index) {
  const Tensor y = r.problem.Y();
  return index / Product(y.sizes) % y.channels;
}

TEST(EpilogueTest, HasANameAndIsPartOfTheProblem) {
  EXPECT_FALSE(EpilogueFrom("none").any());
  EXPECT_TRUE(EpilogueFrom("bias").bias && !EpilogueFrom("bias").relu);
  EXPECT_TRUE(EpilogueFrom("relu").relu && !EpilogueFrom("relu").bias);
  EXPECT_TRUE(EpilogueFrom("bias_relu").relu && EpilogueFrom("bias_relu").bias);
  EXPECT_THROW(EpilogueFrom("gelu"), std::invalid_argument);
  const std::string plain = Made({}).Text();
  EXPECT_EQ(Made(kBias).Text(), plain + " + bias");
  EXPECT_EQ(Made(kBiasRelu).Text(), plain + " + bias + relu");
  EXPECT_EQ(Made(kRelu).Bias().Count(), 0);
  EXPECT_EQ(Made(kBias).Bias().Count(), 17);
  EXPECT_EQ(BiasTypeOf(DataType::kBfloat16), DataType::kBfloat16);
  EXPECT_EQ(BiasTypeOf(DataType::kInt8), DataType::kFloat32);
}

TEST(EpilogueTest, NoChannelHasTheBiasOfItsNeighbourOrNone) {
  for (const std::int64_t channels : {1, 2, 17, 300}) {
    const Problem problem = {Operation::kForward, Shape({1, 4, 3, 3}, {channels, 4, 1, 1}), kBias};
    const Inputs in = MakeInputs(problem, Recipe());
    ASSERT_EQ(in.bias.size(), static_cast<std::size_t>(channels));
    for (std::size_t k = 0; k < in.bias.size(); ++k) {
      EXPECT_NE(in.bias[k], 0);
      EXPECT_LE(std::abs(int{in.bias[k]}), kMaxValue);
      if (k == 0) continue;
      EXPECT_NE(in.bias[k], in.bias[k - 1]) << k;
    }
  }
  EXPECT_TRUE(MakeInputs(Made(kRelu), Recipe()).bias.empty());
}

TEST(EpilogueTest, IsTheForwardPassesAlone) {
  for (const Operation operation : {Operation::kBackwardData, Operation::kBackwardFilter}) {
    Problem problem = Made(kRelu);
    problem.operation = operation;
    EXPECT_THROW(MakeInputs(problem, Sparse()), std::invalid_argument);
  }
}

TEST(EpilogueTest, ReferenceIsTheRectifiedBiasedSum) {
  for (const Epilogue& epilogue : kEpilogues)
    for (const bool strict : {false, true}) {
      const Problem problem = Made(epilogue);
      const Reference r = MakeReference(problem, RecipeOf(problem, DataType::kFloat32, strict));
      ASSERT_EQ(r.y_high.empty(), !strict);
      const Reference sums = SumsOf(r);
      int largest = 0;
      for (std::int64_t i = 0; i < problem.Y().Count(); ++i) {
        double right = sums.Y().values.At(i);
        if (epilogue.bias) right += r.inputs.bias[static_cast<std::size_t>(ChannelOf(r, i))];
        if (epilogue.relu) right = std::max(right, 0.0);
        ASSERT_EQ(r.Y().values.At(i), right) << problem.Text() << i;
        largest = std::max(largest, std::abs(int{r.y[static_cast<std::size_t>(i)]}));
      }
      EXPECT_EQ(r.max_abs, largest);
    }
}

TEST(EpilogueTest, BiasThatLeaves16BitsIsRefused) {
  Reference r;
  r.problem = {Operation::kForward, Shape({1, 3640, 1, 1}, {1, 3640, 1, 1}), kBias};
  r.inputs.a.assign(3640, 3);
  r.inputs.b.assign(3640, 3);
  r.inputs.bias = {7};
  ComputeReference(&r);
  EXPECT_EQ(r.y[0], 32767);
  r.inputs.bias = {8};
  EXPECT_THROW(ComputeReference(&r), std::logic_error);
}

TEST(EpilogueTest, ReferencesAreSharedByTypesOfResults) {
  ReferenceCache cache(1 << 20);
  const auto narrow = cache.Get(Made(kBias, DataType::kFloat32), Sparse());
  EXPECT_EQ(cache.Get(Made(kBias), Sparse()), narrow);
  EXPECT_FALSE(narrow->problem.output) << "or one type would be taken for the other";
  EXPECT_NE(cache.Get(Made(kBiasRelu), Sparse()), narrow);
  EXPECT_NE(cache.Get(Made({}), Sparse()), narrow);
}

TEST(EpilogueTest, WiderResultsOfInt8AreMostlyBeyondEightBits) {
  for (const DataType output : {DataType::kInt32, DataType::kFloat32}) {
    const Problem problem = Made(kBias, output);
    const Recipe recipe = RecipeOf(problem, DataType::kInt8);
    EXPECT_EQ(recipe.Text(), "two scales 6, sparse 192, covering 9");
    const Reference r = MakeReference(problem, recipe);
    std::int64_t beyond = 0;
    for (std::int64_t i = 0; i < problem.Y().Count(); ++i) beyond += std::abs(r.Y().values.At(i)) > 128;
    EXPECT_GT(beyond, problem.Y().Count() / 2);
    for (std::size_t i = 0; i < r.inputs.a.size(); ++i)
      ASSERT_LE(std::abs(r.A().At(static_cast<std::int64_t>(i))), 127);
  }
  EXPECT_EQ(RecipeOf(Made(kBias), DataType::kInt8).Text(), "sparse 120, covering 9");
  EXPECT_EQ(RecipeOf(Made({}, DataType::kFloat32), DataType::kFloat8E4m3).Text(), "sparse 120, covering 9");
}

TEST(EpilogueTest, BoundOfATransformHasTheRoundingOfTheSum) {
  const auto bound = [](const Epilogue& epilogue, DataType type, Arithmetic arithmetic) {
    const Problem problem = Made(epilogue);
    return ErrorBound(arithmetic, type, problem, RecipeOf(problem, type));
  };
  for (const DataType type : {DataType::kFloat32, DataType::kFloat64}) {
    EXPECT_EQ(bound(kBiasRelu, type, Arithmetic::kExact), 0);
    const double alone = bound({}, type, Arithmetic::kFft);
    EXPECT_EQ(bound(kRelu, type, Arithmetic::kFft), alone);
    // 540 products, and a bias of 3.
    EXPECT_DOUBLE_EQ(bound(kBias, type, Arithmetic::kFft),
                     alone + 543 * (type == DataType::kFloat64 ? 0x1p-53 : 0x1p-24));
  }
}

// A result of which one channel is what a fault makes of its sums and its bias.
class EpilogueFaultTest : public testing::TestWithParam<std::tuple<Types, Layout>> {
 protected:
  using Fault = std::function<double(double sum, double bias, double next)>;

  Reference Make(const Epilogue& epilogue) const {
    const Problem problem = Made(epilogue, types_.output);
    return MakeReference(problem, RecipeOf(problem, types_.input));
  }
  // Of how many channels it is seen, each alone.
  std::int64_t Seen(const Reference& r, const Fault& fault) const {
    const Reference sums = SumsOf(r);
    const std::int64_t channels = r.problem.shape.k;
    const auto bias = [&r, channels](std::int64_t k) -> double {
      return r.inputs.bias.empty() ? 0 : r.inputs.bias[static_cast<std::size_t>(k % channels)];
    };
    std::int64_t seen = 0;
    for (std::int64_t k = 0; k < channels; ++k) {
      Output output(r, types_.output, layout_);
      EXPECT_TRUE(output.Judged().AllMatch());
      for (std::int64_t i = 0; i < output.Count(); ++i)
        if (ChannelOf(r, i) == k) output.Set(i, fault(sums.Y().values.At(i), bias(k), bias(k + 1)));
      seen += output.Judged().wrong > 0;
    }
    return seen;
  }

  const Types types_ = std::get<0>(GetParam());
  const Layout layout_ = std::get<1>(GetParam());
};

TEST_P(EpilogueFaultTest, BiasOfOneChannelIsSeen) {
  const Reference r = Make(kBias);
  const std::int64_t channels = r.problem.shape.k;
  EXPECT_EQ(Seen(r, [](double sum, double bias, double) { return sum + bias; }), 0);
  EXPECT_EQ(Seen(r, [](double sum, double, double) { return sum; }), channels) << "lost";
  EXPECT_EQ(Seen(r, [](double sum, double bias, double) { return sum + 2 * bias; }), channels) << "twice";
  EXPECT_GE(Seen(r, [](double sum, double, double next) { return sum + next; }), channels - 1)
      << "the next one's; the first one's may be the last one's";
}

TEST_P(EpilogueFaultTest, RectifierOfOneChannelIsSeen) {
  for (const Epilogue& epilogue : {kRelu, kBiasRelu}) {
    const Reference r = Make(epilogue);
    const std::int64_t channels = r.problem.shape.k;
    EXPECT_EQ(Seen(r, [](double sum, double bias, double) { return sum + bias; }), channels) << "lost";
    EXPECT_EQ(Seen(r, [](double sum, double bias, double) { return std::abs(sum + bias); }), channels);
    if (!epilogue.bias) continue;
    EXPECT_EQ(Seen(r, [](double sum, double bias, double) { return std::max(sum, 0.0) + bias; }), channels)
        << "before the bias";
  }
}

TEST_P(EpilogueFaultTest, ResultThatIsHeldTo8BitsIsSeen) {
  if (types_.input != DataType::kInt8 || types_.output == DataType::kInt8) return;
  for (const Epilogue& epilogue : {Epilogue{}, kBias, kBiasRelu}) {
    const Reference r = Make(epilogue);
    EXPECT_EQ(Seen(r,
                   [&](double sum, double bias, double) {
                     const double right = epilogue.relu ? std::max(sum + bias, 0.0) : sum + bias;
                     return std::clamp(right, -128.0, 127.0);
                   }),
              r.problem.shape.k);
  }
}

TEST_P(EpilogueFaultTest, ElementThatWasNotWrittenIsSeen) {
  const Reference r = Make(kBiasRelu);
  for (const std::int64_t index : {std::int64_t{0}, r.problem.Y().Count() / 2, r.problem.Y().Count() - 1}) {
    Output output(r, types_.output, layout_);
    output.Unwrite(index);
    EXPECT_EQ(output.Judged().unwritten, 1);
    EXPECT_EQ(output.Judged().first_unwritten, index);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EpilogueFaultTest,
                         testing::Combine(testing::ValuesIn(kTypes), testing::ValuesIn(kLayouts)));

}  // namespace
}  // namespace cudnn_ci
