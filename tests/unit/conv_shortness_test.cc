// Sums, or inputs, that are shorter than the type promises, as float16 or TF32 passed off as float32. They
// show on data of two scales, which are of exact arithmetic alone: a transform rounds, so that its bound
// would hide them. The 8-bit inputs fit every shorter type, and sums of their own type promise no more.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "conv_output.h"
#include "conv_shapes.h"
#include "conv_types.h"
#include "fault_table.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

struct Shortness {
  const char* name;
  TensorTypes types;
  std::function<double(double)> input, sum;
};

std::ostream& operator<<(std::ostream& os, const Shortness& shortness) { return os << shortness.name; }

double Same(double v) { return v; }

double Tf32(double v) {
  if (v == 0) return 0;
  const int spacing = std::ilogb(v) - 10;
  return std::ldexp(std::nearbyint(std::ldexp(v, -spacing)), spacing);
}

std::function<double(double)> To(DataType type) {
  return [type](double v) { return RoundTo(type, v); };
}

// An element as such a kernel leaves it.
double ElementOf(const Reference& r, const Shortness& shortness, std::int64_t index) {
  double sum = 0;
  for (const Factors& f : FactorsOf(r.problem, index))
    sum = shortness.sum(sum + shortness.input(r.A().At(f.a)) * shortness.input(r.B().At(f.b)));
  return sum;
}

class ShortnessTest : public testing::TestWithParam<std::tuple<Operation, Shortness>> {
 protected:
  // With two scales, also where the checks ask for no long sums: of the gradients in the 16-bit types.
  Reference Make(const ConvShape& shape) const {
    const TensorTypes& types = shortness_.types;
    const Problem problem = {operation_, shape, {}, types.output};
    return MakeReference(problem, types.output ? RecipeFor(problem, types.inputs, Arithmetic::kExact, {})
                                               : DiscriminatingRecipe(types.inputs));
  }
  static std::vector<double> ElementsOf(const Reference& r, const Shortness& shortness) {
    std::vector<double> elements;
    for (std::int64_t i = 0; i < r.problem.Y().Count(); ++i) elements.push_back(ElementOf(r, shortness, i));
    return elements;
  }
  Judgement Judged(const Reference& r, const std::vector<double>& elements, Layout layout) const {
    Output output(r, shortness_.types.Result(), layout);
    for (std::size_t i = 0; i < elements.size(); ++i) output.Set(static_cast<std::int64_t>(i), elements[i]);
    return output.Judged();
  }
  // One of which an element is soon computed by the definition.
  static ConvShape SmallShape(std::mt19937& random) {
    for (;;) {
      const ConvShape shape = RandomShape(random, 1 + random() % 3);
      if (Product(shape.out) * Product(shape.kernel) <= 2000) return shape;
    }
  }

  const Operation operation_ = std::get<0>(GetParam());
  const Shortness shortness_ = std::get<1>(GetParam());
};

TEST_P(ShortnessTest, IsSeenWithTwoScales) {
  const Reference r = Make(Shape({3, 16, 5, 6}, {12, 16, 3, 3}, {1}));
  const std::vector<double> right = ElementsOf(r, {"", shortness_.types, Same, Same});
  const std::vector<double> shorter = ElementsOf(r, shortness_);
  for (const Layout layout : kLayouts) {
    EXPECT_TRUE(Judged(r, right, layout).AllMatch()) << "a kernel that is not short is right";
    const Judgement j = Judged(r, shorter, layout);
    EXPECT_GT(j.wrong, j.elements / 10);
  }
}

// One element of an output that is otherwise right, ten at most of one shape.
TEST_P(ShortnessTest, IsFoundAnywhereInOneElement) {
  std::mt19937 random(11);
  const int most = 100 * Positions();
  int caught = 0, drawn = 0;
  while (caught < Positions() && drawn < most) {
    const Reference r = Make(SmallShape(random));
    Output output(r, shortness_.types.Result(), kLayouts[random() % 2]);
    for (int i = 0; i < 10 && caught < Positions(); ++i, ++drawn) {
      const auto index = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(output.Count()));
      const double right = output.Get(index);
      output.Set(index, ElementOf(r, shortness_, index));
      const bool shows = output.Get(index) != right;  // else it was rounded away, or there was none
      const Judgement j = output.Judged();
      ASSERT_EQ(j.wrong, shows ? 1 : 0) << r.problem.Text() << " " << r.problem.Place(index);
      ASSERT_EQ(j.first_wrong, shows ? index : -1);
      caught += shows;
      output.Restore(index);
    }
  }
  ASSERT_EQ(caught, Positions()) << "too few of " << drawn << " elements can show it";
  fault_table->Add(shortness_.types.name, std::string("exact: ") + shortness_.name, "shorter than promised",
                   caught, drawn);
}

constexpr TensorTypes kFloat32 = {"Float32", DataType::kFloat32}, kFloat64 = {"Float64", DataType::kFloat64},
                      kFloat16 = {"Float16", DataType::kFloat16},
                      kBfloat16 = {"Bfloat16", DataType::kBfloat16},
                      kInt32 = {"Int8ToInt32", DataType::kInt8, DataType::kInt32},
                      kInt8ToFloat32 = {"Int8ToFloat32", DataType::kInt8, DataType::kFloat32};

const Shortness kShortnesses[] = {{"Tf32AsFloat32", kFloat32, Tf32, Same},
                                  {"Float16InputsAsFloat32", kFloat32, To(DataType::kFloat16), Same},
                                  {"Bfloat16InputsAsFloat32", kFloat32, To(DataType::kBfloat16), Same},
                                  {"Float16SumsAsFloat32", kFloat32, Same, To(DataType::kFloat16)},
                                  {"Tf32AsFloat64", kFloat64, Tf32, Same},
                                  {"Float32AsFloat64", kFloat64, To(DataType::kFloat32), Same},
                                  {"Float32SumsAsFloat64", kFloat64, Same, To(DataType::kFloat32)},
                                  {"Float16SumsAsFloat64", kFloat64, Same, To(DataType::kFloat16)},
                                  {"Float16Sums", kFloat16, Same, To(DataType::kFloat16)},
                                  {"Bfloat16Sums", kBfloat16, Same, To(DataType::kBfloat16)},
                                  {"Int8SumsAsInt32", kInt32, Same, To(DataType::kInt8)},
                                  {"Int8SumsAsFloat32", kInt8ToFloat32, Same, To(DataType::kInt8)}};

INSTANTIATE_TEST_SUITE_P(All, ShortnessTest,
                         testing::Combine(testing::ValuesIn(kOperations), testing::ValuesIn(kShortnesses)),
                         [](const auto& p) {
                           return NameOf(std::get<0>(p.param)) + std::get<1>(p.param).name;
                         });

}  // namespace
}  // namespace cudnn_ci
