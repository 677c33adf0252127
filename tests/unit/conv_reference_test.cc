// What the convolution oracle rests on: the reference against a second implementation, and shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "common/numeric/parallel.h"
#include "compute/precomputed_reference.h"
#include "conv/operation.h"
#include "conv/recipe.h"
#include "conv/reference_rows.h"
#include "conv_shapes.h"
#include "golden_messages.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// By the definition: every product of output element and tap, added where it belongs.
std::vector<std::int16_t> Naive(const Problem& problem, const std::vector<std::int8_t>& a,
                                const std::vector<std::int8_t>& b) {
  const ConvShape& s = problem.shape;
  const std::int64_t cg = s.ChannelsPerGroup(), taps = Product(s.kernel), pixels = Product(s.out);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(problem.Y().Count()));
  for (std::int64_t y = 0; y < s.OutputCount(); ++y) {
    const std::int64_t i = y % pixels, k = y / pixels % s.k, n = y / pixels / s.k;
    const Axes o = {i / s.out[2] / s.out[1], i / s.out[2] % s.out[1], i % s.out[2]};
    for (std::int64_t j = 0; j < cg * taps; ++j) {
      const std::int64_t c = j / taps, tap = j % taps;
      const Axes t = {tap / s.kernel[2] / s.kernel[1], tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
      Axes at{};
      bool inside = true;
      for (std::size_t d = 0; d < 3; ++d) {
        at[d] = o[d] * s.stride[d] + t[d] * s.dilation[d] - s.pad[d];
        inside = inside && at[d] >= 0 && at[d] < s.in[d];
      }
      if (!inside) continue;
      const std::int64_t channel = k / (s.k / s.groups) * cg + c;
      const std::int64_t x =
          ((n * s.c + channel) * s.in[0] + at[0]) * s.in[1] * s.in[2] + at[1] * s.in[2] + at[2];
      const std::int64_t w = k * cg * taps + j;
      const auto value = [](const std::vector<std::int8_t>& of, std::int64_t index) {
        return std::int64_t{of[static_cast<std::size_t>(index)]};
      };
      if (problem.operation == Operation::kForward)
        sums[static_cast<std::size_t>(y)] += value(a, x) * value(b, w);
      else if (problem.operation == Operation::kBackwardData)
        sums[static_cast<std::size_t>(x)] += value(a, y) * value(b, w);
      else
        sums[static_cast<std::size_t>(w)] += value(a, y) * value(b, x);
    }
  }
  return {sums.begin(), sums.end()};
}

std::vector<std::int16_t> Naive(const Reference& r) { return Naive(r.problem, r.inputs.a, r.inputs.b); }

constexpr double kAnySize = std::numeric_limits<double>::infinity();

Recipe RecipeOf(Operation operation) { return operation == Operation::kForward ? Recipe() : Sparse(); }

// Every value from -largest to largest, none rare.
std::vector<std::int8_t> SmallIntegers(std::int64_t count, int largest, std::mt19937& random) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(count));
  const auto range = static_cast<unsigned>(2 * largest + 1);
  for (std::int8_t& v : values) v = static_cast<std::int8_t>(static_cast<int>(random() % range) - largest);
  return values;
}

TEST(ReferenceTest, EqualsTheDefinitionOnRandomShapes) {
  std::mt19937 random(1);
  for (int i = 0; i < 180; ++i) {
    const Problem problem = {kOperations[i / 3 % 3],
                             RandomShape(random, 1 + static_cast<std::size_t>(i % 3))};
    Reference r = MakeReference(problem, RecipeOf(problem.operation));
    ASSERT_EQ(r.y, Naive(r)) << problem.Text();
    int seen = 0;
    for (const int v : r.y) seen = std::max(seen, std::abs(v));
    ASSERT_EQ(r.max_abs, seen) << problem.Text();
    // The filter's gradient sums over so much that larger ones might not fit.
    const int largest = problem.operation == Operation::kBackwardFilter ? 1 : 3;
    r.inputs.a = SmallIntegers(problem.A().Count(), largest, random);
    r.inputs.b = SmallIntegers(problem.B().Count(), largest, random);
    ComputeReference(&r);
    ASSERT_EQ(r.y, Naive(r)) << problem.Text();
  }
}

TEST(ReferenceTest, EqualsTheDefinitionWhenSpreadOverThreadsAndImages) {
  const ConvShape shapes[] = {Shape({19, 24, 9, 7}, {20, 24, 3, 3}, {1}, {1}),
                              Shape({3, 32, 41, 37}, {24, 8, 5, 3}, {2, 1}, {2, 3}, {1}, 4),
                              Shape({1, 3, 80, 80}, {24, 3, 7, 7}, {3}, {2}),
                              Shape({5, 200, 11, 11}, {19, 200, 1, 1}, {0}, {2}),
                              Shape({1, 100, 9, 9}, {12, 100, 3, 3}, {1}),  // one image for many threads
                              Shape({2, 68, 5, 5}, {16, 34, 2, 3}, {1}, {1}, {1}, 2)};
  for (const ConvShape& shape : shapes)
    for (const Operation operation : kOperations) {
      const Reference r = MakeReference({operation, shape}, RecipeOf(operation));
      EXPECT_EQ(r.y, Naive(r)) << r.problem.Text();
    }
}

// Images so large that they are laid out once for all threads, and their rows dealt.
TEST(ReferenceTest, EqualsTheDefinitionWhenTheRowsOfAnImageAreDealt) {
  const ConvShape shapes[] = {Shape({2, 1, 2100, 2051}, {1, 1, 3, 3}, {1}),
                              Shape({1, 2, 1510, 1501}, {4, 1, 3, 2}, {1, 2}, {2, 3}, {2, 1}, 2),
                              Shape({1, 1, 70, 251, 253}, {3, 1, 2, 3, 1}, {1, 0, 1}),
                              Shape({1, 3, 1, 1500000}, {2, 3, 1, 3})};
  for (const ConvShape& shape : shapes) {
    ASSERT_GE(shape.InputCount() / shape.n, 4 << 20) << shape.Text();
    const Reference r = MakeReference({Operation::kForward, shape}, Recipe());
    EXPECT_EQ(r.y, Naive(r)) << r.problem.Text();
  }
}

// Around the width of a register, where a loop over whole ones ends, and around the number of rows whose sum
// a byte holds: of the largest values, which take all of it, and of random ones.
TEST(ReferenceTest, RowsOfBytesAreSummedExactly) {
  std::mt19937 random(7);
  std::vector<std::int8_t> largest(1500, std::int8_t{kMaxValue}), mixed(1500);
  for (std::int8_t& v : mixed) v = static_cast<std::int8_t>(static_cast<int>(random() % 7) - kMaxValue);
  for (const auto& source : {largest, mixed})
    for (const std::int64_t count : {0, 1, 63, 64, 65, 128, 255, 256, 257, 320, 500})
      for (const std::size_t number : {0, 1, 41, 42, 43, 84, 85, 300}) {
        std::vector<std::int64_t> add(number), subtract(number / 2);
        for (auto* rows : {&add, &subtract})
          for (std::int64_t& row : *rows) row = static_cast<std::int64_t>(random() % 900);
        const auto end = static_cast<std::size_t>((count + kLanes - 1) / kLanes * kLanes);
        std::vector<Element> sums(600, 5), right(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < right.size(); ++i) {
          int sum = 0;
          for (const std::int64_t row : add) sum += source[static_cast<std::size_t>(row) + i];
          for (const std::int64_t row : subtract) sum -= source[static_cast<std::size_t>(row) + i];
          right[i] = static_cast<Element>(sum);
        }
        SumRows(source.data(), add, subtract, sums.data(), count);
        ASSERT_EQ(std::vector<Element>(sums.begin() + static_cast<std::ptrdiff_t>(end), sums.end()),
                  std::vector<Element>(sums.size() - end, 5))
            << count << " places, " << number << " rows: beyond the last lane";
        sums.resize(right.size());
        ASSERT_EQ(sums, right) << count << " places, " << number << " rows";
      }
}

TEST(ReferenceTest, ScaledRowsAreAddedToTheLastElementAndNotBeyond) {
  std::mt19937 random(7);
  std::vector<Element> source(1000);
  for (Element& v : source) v = static_cast<Element>(random());
  for (std::int64_t count = 0; count < 140; ++count) {
    std::vector<Element> scaled(200, 5), times(200, 5);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      times[i] = static_cast<Element>(5 + 65533u * source[i + 1]);
    AddScaled(65533, source.data() + 1, scaled.data(), count);
    ASSERT_EQ(scaled, times) << count;
  }
}

TEST(ReferenceTest, WhatWasMadeAheadIsWhatIsAskedFor) {
  const Problem problem = {Operation::kForward, Shape({2, 9, 11, 13}, {5, 9, 3, 3})};
  std::shared_ptr<const Reference> asked;
  {
    const PrecomputedReference ahead(MakingOfReference(problem, Recipe(), kAnySize));
    asked = ReferenceOf(problem, Recipe());
  }
  EXPECT_EQ(asked->y, Naive(*asked));
  EXPECT_EQ(ReferenceOf(problem, Recipe()), asked) << "it is made once";
  // A guess that does not fit the operation is nobody's fault.
  {
    const PrecomputedReference wrong(
        MakingOfReference({Operation::kBackwardData, problem.shape}, Recipe(), kAnySize));
  }
}

TEST(ReferenceTest, NothingIsMadeAheadThatTheHostHasNoRoomFor) {
  const Problem problem = {Operation::kForward, Shape({2, 9, 11, 14}, {5, 9, 3, 3})};
  const double bytes = MakingBytes(problem, Recipe());
  { const PrecomputedReference none(MakingOfReference(problem, Recipe(), bytes - 1)); }
  EXPECT_GT(ReferenceGrowth(problem, Recipe()), 0) << "it is not there";
  { const PrecomputedReference made(MakingOfReference(problem, Recipe(), bytes)); }
  EXPECT_EQ(ReferenceGrowth(problem, Recipe()), 0);
}

TEST(ReferenceTest, TwoScalesAreTwoResults) {
  for (const Operation operation : kOperations) {
    const Reference r = MakeReference({operation, Shape({2, 20, 9, 7}, {10, 20, 3, 3}, {1})},
                                      DiscriminatingRecipe(DataType::kFloat32));
    EXPECT_EQ(r.y, Naive(r));
    EXPECT_EQ(r.y_high, Naive(r.problem, r.inputs.a_high, r.inputs.b));
    EXPECT_NE(r.y_high, r.y);
    EXPECT_EQ(r.Y().values.At(0), r.y[0] + 4096.0 * r.y_high[0]);
  }
}

TEST(ReferenceTest, SumsAreExactForReductionsBeyondSixteenBits) {
  const ConvShape wide = Shape({1, 40000, 1, 2}, {2, 40000, 1, 1}),
                  tall = Shape({1, 2, 1, 2}, {40000, 2, 1, 1}),
                  long_one = Shape({40000, 2, 1, 2}, {2, 2, 1, 1});
  const std::pair<Operation, ConvShape> cases[] = {
      {Operation::kForward, wide}, {Operation::kBackwardData, tall}, {Operation::kBackwardFilter, long_one}};
  for (const auto& [operation, shape] : cases) {
    const Reference r = MakeReference({operation, shape}, RecipeOf(operation));
    EXPECT_EQ(r.y, Naive(r)) << r.problem.Text();
    EXPECT_GT(r.max_abs, 0);
  }
}

TEST(ReferenceTest, DataIsTheSameForTheSameShapeAndDiffersForAnother) {
  const auto data_of = [](Operation operation, const ConvShape& shape, const Recipe& recipe) {
    const Inputs in = MakeInputs({operation, shape}, recipe);
    return std::pair(in.a, in.b);
  };
  const ConvShape shape = Shape({2, 16, 9, 9}, {8, 16, 3, 3}),
                  padded = Shape({2, 16, 9, 9}, {8, 16, 3, 3}, {1});
  for (const Operation operation : kOperations) {
    const Recipe recipe = RecipeOf(operation);
    EXPECT_EQ(data_of(operation, shape, recipe), data_of(operation, shape, recipe));
    EXPECT_NE(data_of(operation, shape, recipe), data_of(operation, padded, recipe));
    EXPECT_NE(data_of(operation, shape, recipe), data_of(operation, shape, Sparse(100)));
  }
}

TEST(ReferenceTest, ChannelsOfEveryOutputDiffer) {
  for (const ConvShape& shape :
       {Shape({1, 1, 8, 8}, {4, 1, 3, 3}), Shape({2, 8, 6, 6}, {8, 1, 3, 3}, {1}, {1}, {1}, 8),
        Shape({1, 64, 5, 5}, {32, 64, 1, 1})}) {
    const auto r = ReferenceOf({Operation::kForward, shape}, Recipe());
    const std::int64_t pixels = Product(shape.out);
    for (std::int64_t a = 0; a < shape.n * shape.k; ++a)
      for (std::int64_t b = 0; b < a; ++b)
        EXPECT_FALSE(
            std::equal(r->y.begin() + a * pixels, r->y.begin() + (a + 1) * pixels, r->y.begin() + b * pixels))
            << shape.Text() << " channels " << a << " and " << b;
  }
}

std::shared_ptr<const Reference> ForwardOf(const ConvShape& shape) {
  return ReferenceOf({Operation::kForward, shape}, Recipe());
}

TEST(ReferenceTest, IsRemembered) {
  const ConvShape small = Shape({1, 4, 4, 4}, {4, 4, 1, 1});
  const auto first = ForwardOf(small);
  EXPECT_EQ(first, ForwardOf(small));
  ForwardOf(Shape({1, 4, 5, 4}, {4, 4, 1, 1}));
  EXPECT_EQ(first, ForwardOf(small));
  EXPECT_NE(first, ReferenceOf({Operation::kForward, small}, Sparse()));
  EXPECT_NE(first, ReferenceOf({Operation::kBackwardData, small}, Sparse()));
}

TEST(ReferenceTest, OldOnesGoWhenTheRoomIsNeeded) {
  const auto problem = [](const ConvShape& shape) { return Problem{Operation::kForward, shape}; };
  const Problem a = problem(Shape({1, 4, 8, 8}, {4, 4, 1, 1})),
                b = problem(Shape({1, 4, 8, 8}, {4, 4, 1, 1}, {1})),
                c = problem(Shape({1, 4, 8, 9}, {4, 4, 1, 1}));
  const Recipe dense;
  ReferenceCache cache(static_cast<std::size_t>(ReferenceBytes(a, dense) + ReferenceBytes(b, dense)));
  const std::weak_ptr<const Reference> first = cache.Get(a, dense), second = cache.Get(b, dense);
  EXPECT_EQ(cache.Get(a, dense), first.lock());
  cache.Get(c, dense);
  EXPECT_TRUE(second.expired()) << "the one asked for longest ago";
  EXPECT_FALSE(first.expired());
  cache.Get(problem(Shape({9, 4, 30, 30}, {40, 4, 1, 1})), dense);
  EXPECT_TRUE(first.expired()) << "one that is larger than the cache leaves no other in it";
}

// Worked out by hand, for shapes that one thread does.
TEST(ReferenceTest, TheBytesOfTheWorkAreKnownBefore) {
  // In bytes two channels of 10 x 10 with their padding and 64 more, and in 16 bits a run of an image, 7
  // whole rows and 8, which are 78, in whole lanes.
  EXPECT_EQ(ForwardWorkBytes(Shape({1, 2, 8, 8}, {4, 2, 3, 3}, {1})), 2 * 100 + 64 + 2 * 128);
  // A stride splits a channel into residues: 2 x 2 of 5 x 5, of which a run is one.
  EXPECT_EQ(ForwardWorkBytes(Shape({1, 2, 8, 8}, {4, 2, 3, 3}, {1}, {2})), 2 * 100 + 64 + 2 * 64);
  // A large image is laid out once, and of its sums each thread has a part.
  const double one = ForwardWorkBytes(Shape({1, 64, 512, 512}, {64, 64, 1, 1}));
  EXPECT_GE(one, 1.0 * 64 * 512 * 512);
  EXPECT_LE(one, 64 * 512 * 512 + 64 + 2.0 * (1 << 22) * UsableCpus());
  EXPECT_EQ(ForwardWorkBytes(Shape({9, 64, 512, 512}, {64, 64, 1, 1})), one) << "one image after the other";
  // The filters in 16 bits, and sums of an image for each thread.
  EXPECT_EQ(BackwardDataWorkBytes(Shape({500, 1, 8, 8}, {4, 1, 3, 3}, {1})), 2 * (36 + 64 * UsableCpus()));
  // One image of few channels is one thread's.
  EXPECT_EQ(BackwardDataWorkBytes(Shape({1, 16, 64, 64}, {16, 16, 3, 3}, {1})), 2 * (2304 + 16 * 64 * 64));
  // The images in 16 bits, where they are turned.
  EXPECT_GE(BackwardFilterWorkBytes(Shape({1, 64, 8, 8}, {64, 64, 3, 3}, {1})), 2.0 * 64 * 8 * 8);
  for (const Operation operation : kOperations) {
    const Problem problem = {operation, Shape({2, 20, 9, 7}, {10, 20, 3, 3}, {1})};
    EXPECT_GT(MakingBytes(problem, Sparse()), ReferenceBytes(problem, Sparse()));
  }
}

TEST(ReferenceTest, WhatTheCacheWillGrowByIsKnownBefore) {
  const auto problem = [](std::int64_t width) {
    return Problem{Operation::kForward, Shape({1, 4, 8, width}, {4, 4, 1, 1})};
  };
  const Recipe dense;
  const double small = MakingBytes(problem(8), dense), large = MakingBytes(problem(40), dense);
  const double kept = ReferenceBytes(problem(8), dense);
  ReferenceCache cache(static_cast<std::size_t>(2 * kept));
  EXPECT_EQ(cache.Growth(problem(8), dense), small);
  cache.Get(problem(8), dense);
  EXPECT_EQ(cache.Growth(problem(8), dense), 0) << "it is there";
  EXPECT_EQ(cache.Growth(problem(8), Sparse()), small) << "of other data it is another";
  EXPECT_EQ(cache.Growth(problem(40), dense), large - kept) << "for which the other one goes";
  const std::weak_ptr<const Reference> first = cache.Get(problem(8), dense);
  cache.Get(problem(40), dense);
  EXPECT_TRUE(first.expired());
}

TEST(ReferenceTest, OthersAreForgottenWhenThatIsAsked) {
  const auto problem = [](std::int64_t width) {
    return Problem{Operation::kForward, Shape({1, 4, 8, width}, {4, 4, 1, 1})};
  };
  const Recipe dense;
  ReferenceCache cache(1 << 20);
  const std::weak_ptr<const Reference> first = cache.Get(problem(8), dense),
                                       second = cache.Get(problem(9), dense),
                                       third = cache.Get(problem(10), dense);
  cache.ForgetOthers(problem(9), dense);
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(second.expired());
  EXPECT_TRUE(third.expired());
  EXPECT_EQ(cache.Growth(problem(8), dense), MakingBytes(problem(8), dense));
  EXPECT_EQ(cache.Growth(problem(9), dense), 0);
  cache.ForgetOthers(problem(8), dense);
  EXPECT_TRUE(second.expired()) << "one that is not remembered leaves none";
}

TEST(ReferenceTest, BytesAreThoseItHolds) {
  for (const Operation operation : kOperations)
    for (const Recipe& recipe : {Sparse(), DiscriminatingRecipe(DataType::kFloat32)}) {
      const Reference r = MakeReference({operation, Shape({2, 4, 8, 9}, {6, 4, 3, 3})}, recipe);
      EXPECT_EQ(static_cast<double>(r.Bytes()), ReferenceBytes(r.problem, recipe)) << r.problem.Text();
    }
}

TEST(ReferenceTest, ReductionTooLongForExactDataIsRefused) {
  const Reference r = MakeReference(
      {Operation::kForward, Shape({1, kMaxReduction, 1, 1}, {1, kMaxReduction, 1, 1})}, Recipe());
  EXPECT_NE(std::count(r.inputs.b.begin(), r.inputs.b.end(), 0), kMaxReduction)
      << "some weights are not zero";
  const Problem longer = {Operation::kForward,
                          Shape({1, kMaxReduction + 1, 1, 1}, {1, kMaxReduction + 1, 1, 1})};
  EXPECT_THROW(MakeInputs(longer, Recipe()), std::invalid_argument);
}

// The heaviest sum of one result is 9 * 3641 = 32769.
TEST(ReferenceTest, DataTooHeavyToBeExactAreRefused) {
  const std::pair<Operation, ConvShape> cases[] = {
      {Operation::kForward, Shape({1, 2 * 3641, 1, 1}, {2, 3641, 1, 1}, {0}, {1}, {1}, 2)},
      {Operation::kBackwardData, Shape({1, 2, 1, 1}, {2 * 3641, 1, 1, 1}, {0}, {1}, {1}, 2)},
      {Operation::kBackwardFilter, Shape({3641, 2, 1, 1}, {2, 1, 1, 1}, {0}, {1}, {1}, 2)}};
  for (const auto& [operation, shape] : cases) {
    Reference r;
    r.problem = {operation, shape};
    r.inputs.a.assign(static_cast<std::size_t>(r.problem.A().Count()), 3);
    r.inputs.b.assign(static_cast<std::size_t>(r.problem.B().Count()), 3);
    EXPECT_THROW(ComputeReference(&r), std::logic_error) << r.problem.Text();
    // One value less in each of the two results.
    auto& summed = operation == Operation::kBackwardFilter ? r.inputs.a : r.inputs.b;
    summed.front() = summed.back() = 0;
    ComputeReference(&r);
    EXPECT_EQ(*std::max_element(r.y.begin(), r.y.end()), 32760) << r.problem.Text();
    r.inputs.a_high.assign(r.inputs.a.size(), 4);
    EXPECT_THROW(ComputeReference(&r), std::logic_error) << "of the second scale";
  }
}

TEST(ShapeTest, ComputesOutputSizes) {
  const ConvShape stem = Shape({16, 3, 224, 224}, {64, 3, 7, 7}, {3}, {2});
  EXPECT_EQ(stem.out, (Axes{1, 112, 112}));
  EXPECT_EQ(stem.Text(), "x=16x3x224x224 w=64x3x7x7 pad=3x3 stride=2x2 dilation=1x1 groups=1");
  const ConvShape line = Shape({1, 80, 3000}, {512, 80, 3}, {1});
  EXPECT_EQ(line.out, (Axes{1, 1, 3000}));
  EXPECT_EQ(line.pad, (Axes{0, 0, 1}));
  const ConvShape volume = Shape({1, 64, 5, 7, 13}, {64, 64, 3, 1, 1}, {1, 0, 0});
  EXPECT_EQ(volume.out, (Axes{5, 7, 13}));
  EXPECT_EQ((Problem{Operation::kForward, volume}.Place(volume.OutputCount() - 1)),
            "(n=0,k=63,z=4,p=6,q=12)");
}

TEST(ShapeTest, PadsMayDiffer) {
  const ConvShape s = Shape({1, 32, 416, 416}, {64, 32, 3, 3}, {1}, {2}, {1}, 1, {0});
  EXPECT_EQ(s.out, (Axes{1, 208, 208}));
  EXPECT_FALSE(s.PadsAlike());
  EXPECT_EQ(s.Text(), "x=1x32x416x416 w=64x32x3x3 pad=1x1 pad_after=0x0 stride=2x2 dilation=1x1 groups=1");
  const ConvShape causal = Shape({2, 8, 1, 30}, {8, 8, 1, 4}, {0, 3}, {1}, {1}, 1, {0, 0});
  EXPECT_EQ(causal.out, (Axes{1, 1, 30}));
  EXPECT_TRUE(Shape({2, 8, 1, 30}, {8, 8, 1, 4}, {0, 3}, {1}, {1}, 1, {0, 3}).PadsAlike());
}

TEST(OperationTest, NamesItsTensorsAndTheirPlaces) {
  const ConvShape s = Shape({2, 6, 9, 11}, {8, 3, 3, 5}, {1, 2}, {2, 1}, {1}, 2);
  const Problem forward = {Operation::kForward, s}, data = {Operation::kBackwardData, s},
                filter = {Operation::kBackwardFilter, s};
  EXPECT_EQ(std::string(forward.A().name) + forward.B().name + forward.Y().name, "xwy");
  EXPECT_EQ(std::string(data.A().name) + data.B().name + data.Y().name, "dywdx");
  EXPECT_EQ(std::string(filter.A().name) + filter.B().name + filter.Y().name, "dyxdw");
  EXPECT_EQ(forward.Reduction(), 45);
  EXPECT_EQ(data.Reduction(), 60);
  EXPECT_EQ(filter.Reduction(), 110);
  EXPECT_EQ(data.Y().Count(), s.InputCount());
  EXPECT_EQ(filter.Y().Count(), s.FilterCount());
  EXPECT_EQ(filter.B().Count(), s.InputCount());
  EXPECT_EQ(forward.Place(0), "(n=0,k=0,p=0,q=0)");
  EXPECT_EQ(data.Place(s.InputCount() - 1), "(n=1,c=5,h=8,w=10)");
  EXPECT_EQ(filter.Place(s.FilterCount() - 1), "(k=7,c=2,r=2,s=4)");
  EXPECT_EQ(filter.Place(15 + 5 + 1), "(k=0,c=1,r=1,s=1)");
  EXPECT_EQ(data.Text(), "backward_data " + s.Text());
}

// "field why" of every problem.
std::vector<std::string> ProblemsOf(const ShapeFields& fields) {
  std::vector<std::string> problems;
  for (const ShapeProblem& p : FindShapeProblems(fields))
    problems.push_back(std::string(p.field) + " " + p.why);
  return problems;
}

TEST(ShapeTest, RefusesWhatMakesNoSenseAndNamesTheField) {
  GoldenMessages golden("shapes.txt");
  const auto refused = [&](const ShapeFields& fields, const std::string& field, const std::string& given) {
    const std::vector<std::string> problems = ProblemsOf(fields);
    ASSERT_THAT(problems, testing::ElementsAre(testing::StartsWith(field + " "))) << given;
    EXPECT_THAT([&] { MakeConvShape(fields); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(golden.Row(given, problems[0]))));
  };
  const List one = {1};
  refused({{1, 3, 4, 4}, {8, 3, 7, 4}, one, one, one, 1}, "w", "w=8x3x7x4");
  refused({{1, 3, 4, 4}, {8, 3, 3, 1}, {0}, one, {2}, 1}, "w", "w=8x3x3x1 dilation=2");
  refused({{1, 3, 4, 4}, {8, 4, 3, 3}, one, one, one, 1}, "w", "w=8x4x3x3");
  refused({{1, 4, 4, 4}, {7, 2, 3, 3}, one, one, one, 2}, "w", "w=7x2x3x3 groups=2");
  refused({{1, 5, 4, 4}, {8, 2, 3, 3}, one, one, one, 2}, "x", "x=1x5x4x4 groups=2");
  refused({{1, 3}, {8, 3}, {0}, one, one, 1}, "x", "x=1x3");
  refused({{1, 3, 4, 4}, {8, 3, 3}, {0}, one, one, 1}, "w", "w=8x3x3");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, {1, 1, 1}, one, one, 1}, "pad", "pad=1x1x1");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, 1, {1, 1, 1}}, "pad_after", "pad_after=1x1x1");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, 1, {-1}}, "pad_after", "pad_after=-1");
  refused({{1, 3, 4, 4}, {8, 3, 7, 4}, one, one, one, 1, {0}}, "w", "w=8x3x7x4 pad_after=0");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, {1, 1, 1}, one, 1}, "stride", "stride=1x1x1");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, {}, 1}, "dilation", "no dilation");
  refused({{0, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, 1}, "x", "x=0x3x4x4");
  refused({{1, 3, 4, 4}, {8, 3, 3, 0}, one, one, one, 1}, "w", "w=8x3x3x0");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, {-1}, one, one, 1}, "pad", "pad=-1");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, {0}, one, 1}, "stride", "stride=0");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, {0}, 1}, "dilation", "dilation=0");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, 0}, "groups", "groups=0");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, std::int64_t{1} << 31}, "groups", "groups=2^31");
  EXPECT_THAT(
      [] {
        Shape({1, 3, 4, 4}, {8, 3, 7, 7}, {1});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("x=1x3x4x4 w=8x3x7x7")));
}

TEST(ShapeTest, RefusesMoreElementsThanDescriptorsCount) {
  const List one = {1}, none = {0};
  const std::int64_t half = std::int64_t{1} << 30;
  EXPECT_THAT(ProblemsOf({{2, half, 1, 1}, {1, 1, 1, 1}, none, one, one, half}),
              testing::Contains("w has k=1, not a multiple of 1073741824, the number of groups"));
  EXPECT_THAT(ProblemsOf({{1, 1, half, 2}, {1, 1, 1, 1}, none, {half, 2}, one, 1}),
              testing::ElementsAre("x gives x 2^31 elements or more",
                                   "pad gives the padded x 2^31 elements or more"));
  EXPECT_THAT(ProblemsOf({{1, 1, half, 1}, {1, 1, 1, 1}, none, {half, 1}, one, 1}), testing::IsEmpty());
  EXPECT_THAT(ProblemsOf({{1, half, 1, 1}, {2, half, 1, 1}, none, one, one, 1}),
              testing::ElementsAre("w gives w 2^31 elements or more"));
  EXPECT_THAT(ProblemsOf({{1 << 16, 1, 1, 1}, {1 << 15, 1, 1, 1}, none, one, one, 1}),
              testing::ElementsAre("x gives y 2^31 elements or more"));
  EXPECT_THAT(ProblemsOf({{1, 1, 2, 2}, {1, 1, 1, 1}, {40000}, {40000}, one, 1}),
              testing::ElementsAre("pad gives the padded x 2^31 elements or more"));
}

TEST(ShapeTest, TakesMoreElementsWhereTheyAreCountedIn64Bits) {
  ShapeFields fields = {{1 << 16, 1, 1, 1}, {1 << 15, 1, 1, 1}, {0}, {1}, {1}, 1};
  EXPECT_THAT(ProblemsOf(fields), testing::ElementsAre("x gives y 2^31 elements or more"));
  fields.most_elements = kMostElementsOfGraph;
  EXPECT_THAT(ProblemsOf(fields), testing::IsEmpty());
  EXPECT_EQ(MakeConvShape(fields).OutputCount(), std::int64_t{1} << 31);
  fields.x[0] = fields.w[0] = 1 << 20;
  EXPECT_THAT(ProblemsOf(fields), testing::ElementsAre("x gives y 2^40 elements or more"));
}

TEST(ShapeTest, SaysAllThatIsWrongWithTheLists) {
  EXPECT_THAT(ProblemsOf({{1, 0, 4, 4}, {8, 0, 3, 3}, {-1}, {1}, {1}, 1}),
              testing::ElementsAre(HasSubstr("x needs"), HasSubstr("w needs"), HasSubstr("pad needs")));
}

}  // namespace
}  // namespace cudnn_ci
