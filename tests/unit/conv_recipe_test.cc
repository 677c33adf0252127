// Which data a problem gets, what they guarantee, and the bounds that go with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "conv/bounds.h"
#include "conv_output.h"
#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

using Kind = Recipe::Kind;

const ConvShape kBody = Shape({8, 64, 14, 14}, {64, 64, 3, 3}, {1});
const ConvShape kFive = Shape({16, 192, 9, 9}, {32, 192, 5, 5}, {2});

Recipe Chosen(Operation operation, const ConvShape& shape, DataType type,
              Arithmetic arithmetic = Arithmetic::kExact, const ApiPromise& promise = {}) {
  return RecipeFor({operation, shape}, type, arithmetic, promise);
}

TEST(RecipeTest, IsChosenByOperationTypeAndArithmetic) {
  const auto text = [](auto... arguments) { return Chosen(arguments...).Text(); };
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64}) {
    EXPECT_EQ(text(Operation::kForward, kBody, type), "dense");
    EXPECT_EQ(text(Operation::kBackwardData, kBody, type), "sparse 192, covering 9");
    EXPECT_EQ(text(Operation::kBackwardFilter, kBody, type), "sparse 192, covering 25");
    EXPECT_EQ(text(Operation::kForward, kBody, type, Arithmetic::kWinograd), "dense");
    EXPECT_EQ(text(Operation::kForward, kFive, type, Arithmetic::kWinograd), "few channels 16");
    EXPECT_EQ(text(Operation::kBackwardData, kFive, type, Arithmetic::kWinograd), "few channels 8");
    EXPECT_EQ(text(Operation::kBackwardFilter, kFive, type, Arithmetic::kWinograd), "sparse 24, covering 24");
    EXPECT_EQ(text(Operation::kForward, kFive, type, Arithmetic::kFft), "dense");
  }
  EXPECT_EQ(text(Operation::kForward, kBody, DataType::kInt8), "sparse 120, covering 9");
}

TEST(RecipeTest, ShortSumsGetFewProducts) {
  const auto text = [](DataType type, Arithmetic arithmetic = Arithmetic::kExact) {
    return Chosen(Operation::kForward, kBody, type, arithmetic, {false, false}).Text();
  };
  EXPECT_EQ(text(DataType::kFloat16), "sparse 192, covering 9");
  EXPECT_EQ(text(DataType::kBfloat16), "sparse 192, covering 9");
  EXPECT_EQ(text(DataType::kFloat32), "dense");
  EXPECT_EQ(text(DataType::kFloat16, Arithmetic::kWinograd), "dense");
}

TEST(RecipeTest, StrictMathGetsTwoScalesWhereTheTypeIsLong) {
  for (const Operation operation : kOperations) {
    const auto strict = [&](DataType type, Arithmetic arithmetic = Arithmetic::kExact) {
      return Chosen(operation, kBody, type, arithmetic, {true, true}).shift;
    };
    EXPECT_EQ(strict(DataType::kFloat32), 12);
    EXPECT_EQ(strict(DataType::kFloat64), 30);
    EXPECT_EQ(strict(DataType::kFloat16), operation == Operation::kForward ? 9 : 0);
    EXPECT_EQ(strict(DataType::kBfloat16), operation == Operation::kForward ? 6 : 0);
    EXPECT_EQ(Chosen(operation, kBody, DataType::kFloat16, Arithmetic::kExact, {true, false}).shift, 0);
    EXPECT_EQ(strict(DataType::kFloat32, Arithmetic::kFft), 0);
    EXPECT_EQ(strict(DataType::kFloat32, Arithmetic::kWinograd), 0);
  }
}

// The number of products that are not 0, and the sum of their magnitudes, in the fullest of some outputs.
std::int64_t FullestOutput(const Problem& problem, const Inputs& in) {
  std::int64_t fullest = 0;
  for (std::int64_t i = 0; i < problem.Y().Count(); i += 1 + problem.Y().Count() / 300) {
    std::int64_t products = 0;
    for (const Factors& f : FactorsOf(problem, i))
      products += in.a[static_cast<std::size_t>(f.a)] != 0 && in.b[static_cast<std::size_t>(f.b)] != 0;
    fullest = std::max(fullest, products);
  }
  return fullest;
}

TEST(RecipeTest, SparseDataHaveFewProductsEverywhere) {
  const ConvShape shapes[] = {
      kBody, Shape({1, 700, 9, 9}, {300, 700, 3, 3}, {1}), Shape({40, 3, 30, 30}, {4, 3, 7, 7}, {3}),
      Shape({4, 8, 20, 20}, {8, 1, 9, 9}, {4}, {1}, {1}, 8), Shape({2, 4, 1, 1}, {40000, 4, 1, 1})};
  for (const ConvShape& shape : shapes)
    for (const Operation operation : kOperations)
      for (const std::int64_t products : {kFewProducts, kInt8Products, kWinogradProducts}) {
        const Problem problem = {operation, shape};
        const std::int64_t fullest = FullestOutput(problem, MakeInputs(problem, Sparse(products)));
        EXPECT_LE(fullest, products) << problem.Text();
        EXPECT_GE(fullest, std::min(products, problem.Reduction()) / 4) << problem.Text();
      }
}

// Of the gradient of x a stride leaves every element only some of the taps, fewer by a dilation that shares
// no factor with it.
TEST(RecipeTest, SparseDataCountTheTapsThatAStrideLeaves) {
  const ConvShape shapes[] = {Shape({8, 3, 32, 32}, {768, 3, 16, 16}, {0}, {16}),
                              Shape({4, 64, 8, 8}, {64, 64, 4, 4}, {1}, {2}),
                              Shape({4, 64, 19, 19}, {128, 64, 4, 4}, {3}, {4}, {2})};
  for (const ConvShape& shape : shapes) {
    const Problem problem = {Operation::kBackwardData, shape};
    const Inputs in = MakeInputs(problem, Sparse());
    EXPECT_GE(FullestOutput(problem, in), 64) << problem.Text();
    EXPECT_LE(FullestOutput(problem, in), kFewProducts) << problem.Text();
  }
}

TEST(RecipeTest, FewChannelsUseEveryChannelOnceAndFewAtATime) {
  for (const Operation operation : {Operation::kForward, Operation::kBackwardData}) {
    const Problem problem = {operation, kFive};
    const Recipe recipe = Chosen(operation, kFive, DataType::kFloat32, Arithmetic::kWinograd);
    const Inputs in = MakeInputs(problem, recipe);
    const Tensor a = problem.A();
    const std::int64_t pixels = Product(a.sizes);
    std::set<std::int64_t> used;
    for (std::int64_t n = 0; n < a.outer; ++n) {
      std::int64_t active = 0;
      for (std::int64_t c = 0; c < a.channels; ++c) {
        const auto begin = in.a.begin() + (n * a.channels + c) * pixels;
        const auto zeros = std::count(begin, begin + pixels, 0);
        EXPECT_TRUE(zeros == 0 || zeros == pixels);
        if (zeros > 0) continue;
        ++active;
        used.insert(c);
      }
      EXPECT_LE(active, ActiveChannels(problem, recipe));
      EXPECT_LE(active, kWinogradChannels);
    }
    EXPECT_EQ(static_cast<std::int64_t>(used.size()), a.channels);
    EXPECT_EQ(std::count(in.b.begin(), in.b.end(), 0), 0);
  }
}

TEST(RecipeTest, TheHighScaleIsWhereTheLowOneIs) {
  const Inputs in = MakeInputs({Operation::kForward, kBody}, DiscriminatingRecipe(DataType::kFloat32));
  ASSERT_EQ(in.a_high.size(), in.a.size());
  std::int64_t equal = 0, opposite = 0;
  for (std::size_t i = 0; i < in.a.size(); ++i) {
    ASSERT_EQ(std::abs(in.a[i]), std::abs(in.a_high[i]));
    equal += in.a[i] != 0 && in.a[i] == in.a_high[i];
    opposite += in.a[i] != 0 && in.a[i] == -in.a_high[i];
  }
  EXPECT_GT(equal, opposite / 2);
  EXPECT_GT(opposite, equal / 2);
}

TEST(RecipeTest, DenseDataAreTheForwardPassesAlone) {
  for (const Operation operation : {Operation::kBackwardData, Operation::kBackwardFilter})
    EXPECT_THROW(MakeInputs({operation, kBody}, Recipe()), std::invalid_argument);
}

double Bound(Arithmetic arithmetic, DataType type, const Problem& problem) {
  return ErrorBound(arithmetic, type, problem, RecipeFor(problem, type, arithmetic, {}));
}

// The measured error, what it was measured at, its growth and its margin: each of them is a decision.
TEST(ErrorBoundTest, IsTheOneOfItsRow) {
  const auto bound = [](Arithmetic arithmetic, DataType type, std::int64_t channels, std::int64_t kernel) {
    return Bound(arithmetic, type,
                 {Operation::kForward, Shape({1, channels, 9, 9}, {4, channels, kernel, kernel})});
  };
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64})
    EXPECT_EQ(bound(Arithmetic::kExact, type, 512, 3), 0);
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, type, 16, 1), 1.2e-4)
        << "below the reduction it was measured at";
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, type, 256, 1), 1.2e-4);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, type, 1024, 1), 2.4e-4);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 64, 3), 1.04e-3);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 256, 3), 2.08e-3);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 16, 5), 0.38);
    EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, type, 64, 5), 1.52) << "linear";
  }
  EXPECT_DOUBLE_EQ(bound(Arithmetic::kFft, DataType::kFloat64, 256, 1), 8e-14);
  EXPECT_DOUBLE_EQ(bound(Arithmetic::kWinograd, DataType::kFloat64, 64, 3), 1.04e-3 * 0x1p-29);
}

TEST(ErrorBoundTest, OfGradients) {
  const auto bound = [](Operation operation, const ConvShape& shape, Arithmetic arithmetic) {
    return Bound(arithmetic, DataType::kFloat32, {operation, shape});
  };
  EXPECT_DOUBLE_EQ(bound(Operation::kBackwardData, kBody, Arithmetic::kWinograd), 1.04e-3);
  EXPECT_DOUBLE_EQ(bound(Operation::kBackwardFilter, kBody, Arithmetic::kWinograd), 0.05);
  EXPECT_DOUBLE_EQ(bound(Operation::kBackwardData, kBody, Arithmetic::kFft), 1.2e-4 * 1.5) << "576 products";
  EXPECT_DOUBLE_EQ(bound(Operation::kBackwardFilter, kFive, Arithmetic::kWinograd), 0.45);
}

TEST(ErrorBoundTest, CoversTheErrorsSeenOnHealthyCards) {
  // x 16xCx28x28, w 32xCx5x5, dense data: largest error by channels.
  for (const auto& [channels, seen] :
       {std::pair<std::int64_t, double>{16, 0.19}, {64, 0.83}, {192, 2.7}, {512, 5.5}})
    EXPECT_GT(
        ErrorBound(Arithmetic::kWinograd, DataType::kFloat32,
                   {Operation::kForward, Shape({16, channels, 28, 28}, {32, channels, 5, 5}, {2})}, Recipe()),
        seen);
}

TEST(ErrorBoundTest, DecidesOnlyBelowHalfOfOneProduct) {
  EXPECT_TRUE(IsDecisive(0));
  EXPECT_TRUE(IsDecisive(0.4999));
  EXPECT_FALSE(IsDecisive(0.5));
  const auto five = [](std::int64_t images, std::int64_t channels) {
    return Bound(Arithmetic::kWinograd, DataType::kFloat32,
                 {Operation::kForward, Shape({images, channels, 9, 9}, {4, channels, 5, 5})});
  };
  EXPECT_TRUE(IsDecisive(five(1, 16)));
  EXPECT_FALSE(IsDecisive(five(1, 192)));
  EXPECT_TRUE(IsDecisive(five(16, 192))) << "with 12 channels in an image";
  EXPECT_TRUE(IsDecisive(five(12, 192))) << "with 16";
  EXPECT_FALSE(IsDecisive(five(11, 192))) << "with 18";
}

}  // namespace
}  // namespace cudnn_ci
