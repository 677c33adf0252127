// What the convolution oracle rests on: the reference against a second implementation, and shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "conv/fill.h"
#include "conv/parallel.h"
#include "conv/reference.h"
#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// By the definition, one output at a time.
std::vector<std::int16_t> Naive(const Reference& r) {
  const ConvShape& s = r.shape;
  const std::int64_t cg = s.ChannelsPerGroup();
  std::vector<std::int16_t> y;
  for (std::int64_t n = 0; n < s.n; ++n)
    for (std::int64_t k = 0; k < s.k; ++k)
      for (std::int64_t i = 0; i < Product(s.out); ++i) {
        const Axes o = {i / s.out[2] / s.out[1], i / s.out[2] % s.out[1], i % s.out[2]};
        std::int64_t sum = 0;
        for (std::int64_t c = 0; c < cg; ++c)
          for (std::int64_t j = 0; j < Product(s.kernel); ++j) {
            const Axes t = {j / s.kernel[2] / s.kernel[1], j / s.kernel[2] % s.kernel[1], j % s.kernel[2]};
            Axes at{};
            bool inside = true;
            for (std::size_t a = 0; a < 3; ++a) {
              at[a] = o[a] * s.stride[a] + t[a] * s.dilation[a] - s.pad[a];
              inside = inside && at[a] >= 0 && at[a] < s.in[a];
            }
            if (!inside) continue;
            const std::int64_t channel = k / (s.k / s.groups) * cg + c;
            const std::int64_t from =
                ((n * s.c + channel) * s.in[0] + at[0]) * s.in[1] * s.in[2] + at[1] * s.in[2] + at[2];
            sum += r.x[static_cast<std::size_t>(from)] *
                   r.w[static_cast<std::size_t>((k * cg + c) * Product(s.kernel) + j)];
          }
        y.push_back(static_cast<std::int16_t>(sum));
      }
  return y;
}

TEST(ReferenceTest, EqualsTheDefinitionOnRandomShapes) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    Reference r;
    r.shape = RandomShape(random, 1 + static_cast<std::size_t>(i % 3));
    FillExactData(&r);
    Convolve(&r);
    ASSERT_EQ(r.y, Naive(r)) << r.shape.Text();
    int largest = 0;
    for (const int v : r.y) largest = std::max(largest, std::abs(v));
    ASSERT_EQ(r.max_abs, largest) << r.shape.Text();
  }
}

TEST(ReferenceTest, EqualsTheDefinitionWhenSpreadOverThreadsAndImages) {
  const ConvShape shapes[] = {Shape({37, 24, 9, 7}, {40, 24, 3, 3}, {1}, {1}),
                              Shape({3, 32, 61, 47}, {48, 8, 5, 3}, {2, 1}, {2, 3}, {1}, 4),
                              Shape({1, 3, 80, 80}, {64, 3, 7, 7}, {3}, {2}),
                              Shape({5, 200, 11, 11}, {19, 200, 1, 1}, {0}, {2})};
  for (const ConvShape& shape : shapes) {
    Reference r;
    r.shape = shape;
    FillExactData(&r);
    Convolve(&r);
    EXPECT_EQ(r.y, Naive(r)) << shape.Text();
  }
}

TEST(ReferenceTest, SumsAreExactForReductionsBeyondSixteenBits) {
  Reference r;
  r.shape = Shape({1, 40000, 1, 2}, {2, 40000, 1, 1});
  FillExactData(&r);
  Convolve(&r);
  EXPECT_EQ(r.y, Naive(r));
}

TEST(ReferenceTest, DataIsTheSameForTheSameShapeAndDiffersForAnother) {
  const auto data_of = [](const ConvShape& shape) {
    Reference r;
    r.shape = shape;
    FillExactData(&r);
    return std::pair(r.x, r.w);
  };
  const ConvShape shape = Shape({2, 16, 9, 9}, {8, 16, 3, 3});
  EXPECT_EQ(data_of(shape), data_of(shape));
  EXPECT_NE(data_of(shape), data_of(Shape({2, 16, 9, 9}, {8, 16, 3, 3}, {1})));
}

TEST(ReferenceTest, ChannelsOfEveryOutputDiffer) {
  for (const ConvShape& shape :
       {Shape({1, 1, 8, 8}, {4, 1, 3, 3}), Shape({2, 8, 6, 6}, {8, 1, 3, 3}, {1}, {1}, {1}, 8),
        Shape({1, 64, 5, 5}, {32, 64, 1, 1})}) {
    const auto r = ReferenceOf(shape);
    const std::int64_t pixels = Product(shape.out);
    for (std::int64_t a = 0; a < shape.n * shape.k; ++a)
      for (std::int64_t b = 0; b < a; ++b)
        EXPECT_FALSE(
            std::equal(r->y.begin() + a * pixels, r->y.begin() + (a + 1) * pixels, r->y.begin() + b * pixels))
            << shape.Text() << " channels " << a << " and " << b;
  }
}

TEST(ReferenceTest, IsRemembered) {
  const ConvShape small = Shape({1, 4, 4, 4}, {4, 4, 1, 1});
  const auto first = ReferenceOf(small);
  EXPECT_EQ(first, ReferenceOf(small));
  ReferenceOf(Shape({1, 4, 5, 4}, {4, 4, 1, 1}));
  EXPECT_EQ(first, ReferenceOf(small));
}

TEST(ReferenceTest, OldOnesGoWhenTheRoomIsNeeded) {
  const ConvShape a = Shape({1, 4, 8, 8}, {4, 4, 1, 1}), b = Shape({1, 4, 8, 8}, {4, 4, 1, 1}, {1}),
                  c = Shape({1, 4, 8, 9}, {4, 4, 1, 1});
  ReferenceCache cache(static_cast<std::size_t>(ReferenceBytes(a) + ReferenceBytes(b)));
  const std::weak_ptr<const Reference> first = cache.Get(a), second = cache.Get(b);
  EXPECT_EQ(cache.Get(a), first.lock());
  cache.Get(c);
  EXPECT_TRUE(second.expired()) << "the one asked for longest ago";
  EXPECT_FALSE(first.expired());
  cache.Get(Shape({9, 4, 30, 30}, {40, 4, 1, 1}));
  EXPECT_TRUE(first.expired()) << "one that is larger than the cache leaves no other in it";
}

TEST(ReferenceTest, ReductionTooLongForExactDataIsRefused) {
  Reference r;
  r.shape = Shape({1, kMaxReduction, 1, 1}, {1, kMaxReduction, 1, 1});
  FillExactData(&r);
  Convolve(&r);
  EXPECT_NE(std::count(r.w.begin(), r.w.end(), 0), kMaxReduction) << "some weights are not zero";
  r.shape = Shape({1, kMaxReduction + 1, 1, 1}, {1, kMaxReduction + 1, 1, 1});
  EXPECT_THROW(FillExactData(&r), std::invalid_argument);
}

TEST(ReferenceTest, FilterTooHeavyToBeExactIsRefused) {
  Reference r;
  r.shape = Shape({1, 3641, 1, 1}, {1, 3641, 1, 1});
  r.x.assign(3641, 3);
  r.w.assign(3641, 3);
  EXPECT_THROW(Convolve(&r), std::logic_error) << "9 * 3641 is 32769";
  r.w[0] = 0;
  Convolve(&r);
  EXPECT_EQ(r.y, std::vector<std::int16_t>{32760});
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
  EXPECT_EQ(volume.OutputPlace(volume.OutputCount() - 1), "(n=0,k=63,z=4,p=6,q=12)");
}

// "field why" of every problem.
std::vector<std::string> ProblemsOf(const ShapeFields& fields) {
  std::vector<std::string> problems;
  for (const ShapeProblem& p : FindShapeProblems(fields))
    problems.push_back(std::string(p.field) + " " + p.why);
  return problems;
}

TEST(ShapeTest, RefusesWhatMakesNoSenseAndNamesTheField) {
  const auto refused = [](const ShapeFields& fields, const char* why) {
    EXPECT_THAT(ProblemsOf(fields), testing::ElementsAre(HasSubstr(why)));
    EXPECT_THAT([&] { MakeConvShape(fields); }, ThrowsMessage<std::invalid_argument>(HasSubstr(why)));
  };
  const List one = {1};
  refused({{1, 3, 4, 4}, {8, 3, 7, 4}, one, one, one, 1},
          "w reaches over 7 elements of an axis whose padded input has 6");
  refused({{1, 3, 4, 4}, {8, 3, 3, 1}, {0}, one, {2}, 1},
          "w reaches over 5 elements of an axis whose padded input has 4");
  refused({{1, 3, 4, 4}, {8, 4, 3, 3}, one, one, one, 1}, "w must have c/groups = 3");
  refused({{1, 4, 4, 4}, {7, 2, 3, 3}, one, one, one, 2}, "w has k=7, no multiple of 2");
  refused({{1, 5, 4, 4}, {8, 2, 3, 3}, one, one, one, 2}, "x has c=5, no multiple of 2");
  refused({{1, 3}, {8, 3}, {0}, one, one, 1}, "x needs n, c and one to three sizes, has 2 values");
  refused({{1, 3, 4, 4}, {8, 3, 3}, {0}, one, one, 1}, "w needs as many values as x");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, {1, 1, 1}, one, one, 1}, "pad needs one value, or one for each size");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, {1, 1, 1}, one, 1},
          "stride needs one value, or one for each size");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, {}, 1}, "dilation needs one value, or one for each size");
  refused({{0, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, 1}, "x needs values from 1 to");
  refused({{1, 3, 4, 4}, {8, 3, 3, 0}, one, one, one, 1}, "w needs values from 1 to");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, {-1}, one, one, 1}, "pad needs values from 0 to");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, {0}, one, 1}, "stride needs values from 1 to");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, {0}, 1}, "dilation needs values from 1 to");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, 0}, "groups needs values from 1 to");
  refused({{1, 3, 4, 4}, {8, 3, 3, 3}, one, one, one, std::int64_t{1} << 31},
          "groups needs values from 1 to");
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
              testing::Contains("w has k=1, no multiple of 1073741824, the number of groups"));
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

TEST(ShapeTest, SaysAllThatIsWrongWithTheLists) {
  EXPECT_THAT(ProblemsOf({{1, 0, 4, 4}, {8, 0, 3, 3}, {-1}, {1}, {1}, 1}),
              testing::ElementsAre(HasSubstr("x needs"), HasSubstr("w needs"), HasSubstr("pad needs")));
}

TEST(ParallelForTest, CoversEveryItemOnceAndPassesExceptionsOn) {
  std::vector<int> seen(1000);
  ParallelFor(
      1000, 7,
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      },
      8);
  EXPECT_THAT(seen, testing::Each(1));
  const auto fail = [](std::int64_t begin, std::int64_t) {
    if (begin == 500) throw std::runtime_error("at 500");
  };
  EXPECT_THAT([&] { ParallelFor(1000, 1, fail, 8); }, ThrowsMessage<std::runtime_error>(HasSubstr("at 500")));
}

}  // namespace
}  // namespace cudnn_ci
