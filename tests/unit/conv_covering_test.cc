// Sparse data leave no place of their operand out: a kernel that passes over one loses a product.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;

constexpr DataType kGradientTypes[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16,
                                       DataType::kFloat64};

List ListOf(const json& shape, const char* field, const List& otherwise) {
  if (!shape.contains(field)) return otherwise;
  const json& value = shape[field];
  return value.is_array() ? value.get<List>() : List{value.get<std::int64_t>()};
}

// The shapes of the matrices that every run takes, by name.
std::map<std::string, ConvShape> ShippedShapes() {
  std::ifstream file(CUDNN_CI_MATRICES "/base.json");
  const json matrix = json::parse(file, nullptr, true, true);  // with comments
  std::map<std::string, ConvShape> shapes;
  for (const auto& [name, shape] : matrix["shapes"].items()) {
    if (!shape.contains("x")) continue;  // of an attention
    shapes[name] = Shape(ListOf(shape, "x", {}), ListOf(shape, "w", {}), ListOf(shape, "pad", {0}),
                         ListOf(shape, "stride", {1}), ListOf(shape, "dilation", {1}),
                         shape.value("groups", std::int64_t{1}), ListOf(shape, "pad_after", {}));
  }
  return shapes;
}

// How many places of a are 0 in all channels.
std::int64_t Blank(const Problem& problem, const std::vector<std::int8_t>& a) {
  const Tensor t = problem.A();
  const std::int64_t pixels = Product(t.sizes);
  std::int64_t blank = 0;
  for (std::int64_t n = 0; n < t.outer; ++n) {
    std::vector<char> set(static_cast<std::size_t>(pixels), 0);
    const std::int8_t* from = a.data() + n * t.channels * pixels;
    for (std::int64_t c = 0; c < t.channels; ++c)
      for (char& place : set) place |= *from++ != 0;
    blank += std::count(set.begin(), set.end(), 0);
  }
  return blank;
}

bool IsBlank(const Problem& problem, const std::vector<std::int8_t>& a, std::int64_t place) {
  const Tensor t = problem.A();
  const std::int64_t pixels = Product(t.sizes);
  for (std::int64_t c = 0; c < t.channels; ++c)
    if (a[static_cast<std::size_t>((place / pixels * t.channels + c) * pixels + place % pixels)] != 0)
      return false;
  return true;
}

// The places between two that are not blank, at most.
std::int64_t WidestGap(const Problem& problem, const std::vector<std::int8_t>& a) {
  std::int64_t widest = 0, gap = 0;
  for (std::int64_t place = 0; place < problem.Reduction(); ++place) {
    gap = IsBlank(problem, a, place) ? gap + 1 : 0;
    widest = std::max(widest, gap);
  }
  return widest;
}

// The most elements of a that are not 0 in one channel: products of one element of the gradient of w.
std::int64_t FullestChannel(const Problem& problem, const std::vector<std::int8_t>& a) {
  const Tensor t = problem.A();
  const std::int64_t pixels = Product(t.sizes);
  std::vector<std::int64_t> count(static_cast<std::size_t>(t.channels), 0);
  for (std::int64_t plane = 0; plane < t.outer * t.channels; ++plane) {
    const auto begin = a.begin() + plane * pixels;
    count[static_cast<std::size_t>(plane % t.channels)] += pixels - std::count(begin, begin + pixels, 0);
  }
  return *std::max_element(count.begin(), count.end());
}

// Integers up to this have no rounding in the type.
double ExactIntegers(DataType type) {
  switch (type) {
    case DataType::kBfloat16:
      return 0x1p8;
    case DataType::kFloat16:
      return 0x1p11;
    case DataType::kFloat32:
      return 0x1p24;
    default:
      return 0x1p53;
  }
}

// Ten standard deviations of a sum of so many products of random signs, of both scales.
double LargestSum(const Recipe& recipe, std::int64_t products) {
  const double scale = recipe.shift == 0 ? 1 : std::ldexp(1, recipe.shift) + 1;
  return 10 * scale * std::sqrt(static_cast<double>(products));
}

TEST(CoveringTest, ShippedFilterGradientsLeaveNoPlaceOutAndStayExact) {
  std::set<std::string> thinned, made;
  for (const auto& [name, shape] : ShippedShapes()) {
    const Problem problem = {Operation::kBackwardFilter, shape};
    for (const DataType type : kGradientTypes)
      for (const bool strict : {false, true}) {
        const Recipe recipe = RecipeFor(problem, type, Arithmetic::kExact, {strict, true});
        EXPECT_LE(LargestSum(recipe, recipe.products + recipe.covering), ExactIntegers(type) + 0.5) << name;
        // Types share their data, two scales their places, and the largest tensor is left to smaller ones.
        if (strict || !made.insert(name + recipe.Text()).second || problem.A().Count() > 1 << 24) continue;
        const Inputs in = MakeInputs(problem, recipe);
        EXPECT_LE(FullestChannel(problem, in.a), recipe.products + recipe.covering) << name;
        const std::int64_t places = problem.Reduction();
        const std::int64_t blank = Blank(problem, in.a);
        EXPECT_LE(blank, places - CoveredPlaces(problem, recipe) * 9 / 10) << name << recipe.Text();
        if (CoveredPlaces(problem, recipe) == places)
          EXPECT_EQ(blank, 0) << name << ", " << recipe.Text();
        else
          thinned.insert(name + (type == DataType::kBfloat16 ? " of bfloat16" : ""));
        EXPECT_FALSE(IsBlank(problem, in.a, 0)) << name;
        EXPECT_FALSE(IsBlank(problem, in.a, places - 1)) << name;
      }
  }
  EXPECT_EQ(thinned, (std::set<std::string>{"depthwise of bfloat16", "resnet_stem of bfloat16"}));
}

TEST(CoveringTest, OtherSparseDataLeaveNoPlaceOutEither) {
  for (const auto& [name, shape] : ShippedShapes()) {
    for (const auto& [operation, type] : {std::pair{Operation::kBackwardData, DataType::kBfloat16},
                                          {Operation::kForward, DataType::kFloat16}}) {
      const Problem problem = {operation, shape};
      if (problem.A().Count() > 1 << 21) continue;  // a matter of time
      const Recipe recipe = RecipeFor(problem, type, Arithmetic::kExact, {false, false});
      EXPECT_LE(LargestSum(recipe, recipe.products + recipe.covering), ExactIntegers(type) + 0.5) << name;
      EXPECT_EQ(Blank(problem, MakeInputs(problem, recipe).a), 0) << name << ", " << recipe.Text();
    }
  }
  // More taps than results of 8 bits have room for: none are set.
  const ConvShape wide = Shape({2, 3, 32, 32}, {4, 3, 16, 16}, {0}, {16});
  EXPECT_EQ(RecipeFor({Operation::kForward, wide}, DataType::kInt8, Arithmetic::kExact, {}).covering, 0);
}

// What rounds sums to bfloat16 has nothing to round.
TEST(CoveringTest, SumsOfBfloat16AreExactIntegers) {
  for (const ConvShape& shape :
       {Shape({8, 8, 28, 28}, {8, 8, 3, 3}, {1}), Shape({16, 4, 56, 56}, {16, 4, 1, 1})}) {
    const Problem problem = {Operation::kBackwardFilter, shape};
    const Reference r =
        MakeReference(problem, RecipeFor(problem, DataType::kBfloat16, Arithmetic::kExact, {}));
    EXPECT_EQ(r.recipe.covering, kBfloat16Covering);
    EXPECT_LE(r.max_abs, 256);
    EXPECT_GT(r.max_abs, 32) << "which 48 products, say, would not reach";
  }
}

// The gradient from dy without one of its places.
std::vector<std::int16_t> Without(const Reference& r, std::int64_t place) {
  const Tensor t = r.problem.A();
  const std::int64_t pixels = Product(t.sizes);
  std::vector<std::int8_t> dy = r.inputs.a;
  for (std::int64_t k = 0; k < t.channels; ++k)
    dy[static_cast<std::size_t>((place / pixels * t.channels + k) * pixels + place % pixels)] = 0;
  return ConvolveBackwardFilter(r.problem.shape, dy, r.inputs.b);
}

TEST(CoveringTest, PlaceThatIsPassedOverShowsInTheGradientOfTheFilter) {
  const ConvShape shape = Shape({8, 8, 28, 28}, {8, 8, 3, 3}, {1});
  const Problem problem = {Operation::kBackwardFilter, shape};
  const std::int64_t places = problem.Reduction(), row = 28, image = 28 * 28;
  const Reference whole =
      MakeReference(problem, RecipeFor(problem, DataType::kFloat16, Arithmetic::kExact, {}));
  for (std::int64_t place = 0; place < places; place += 97)
    EXPECT_NE(Without(whole, place), whole.y) << place;
  // Not all places have a share of bfloat16's few products; the ends of rows and images do.
  const Reference few =
      MakeReference(problem, RecipeFor(problem, DataType::kBfloat16, Arithmetic::kExact, {}));
  const std::int64_t covered = CoveredPlaces(problem, few.recipe);
  EXPECT_LT(covered, places);
  EXPECT_LE(WidestGap(problem, few.inputs.a), 4 * places / covered)
      << "spread evenly, a quarter at the ends at most";
  for (const std::int64_t place :
       {std::int64_t{0}, row - 1, row, image - 1, image, image + row - 1, places - row, places - 1})
    EXPECT_NE(Without(few, place), few.y) << place;
}

// Each channel has its share: none is left to the others, and none is what a few sums depend on.
TEST(CoveringTest, ChannelsTakeTurns) {
  const Problem problem = {Operation::kBackwardFilter, Shape({4, 4, 64, 64}, {16, 4, 1, 1})};
  Recipe recipe = Sparse(0);
  recipe.covering = 1024;
  const Inputs in = MakeInputs(problem, recipe);
  EXPECT_EQ(Blank(problem, in.a), 0);
  EXPECT_EQ(FullestChannel(problem, in.a), 1024) << "of 16,384 places and 16 channels";
  std::int64_t positive = 0, in_column = 0;
  for (std::size_t i = 0; i < in.a.size(); ++i) {
    positive += in.a[i] > 0;
    in_column += i / (64 * 64) % 16 == 3 && in.a[i] != 0 && i % 64 == 7;
  }
  EXPECT_NEAR(static_cast<double>(positive), 8192, 640) << "ten standard deviations";
  EXPECT_LT(in_column, 100) << "of 256 in that column: rows are as long as there are channels, four times";
}

}  // namespace
}  // namespace cudnn_ci
