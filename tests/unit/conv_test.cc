// The convolution oracle: the reference against a second implementation, and that the comparison sees
// every wrong element and no right one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "conv/fill.h"
#include "conv/numeric.h"
#include "conv/oracle.h"
#include "conv/parallel.h"
#include "conv/reference.h"
#include "conv/shape.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16,
                               DataType::kFloat64};
constexpr Layout kLayouts[] = {Layout::kNchw, Layout::kNhwc};

using List = std::vector<std::int64_t>;

ConvShape Shape(const List& x, const List& w, const List& pad = {0}, const List& stride = {1},
                const List& dilation = {1}, std::int64_t groups = 1) {
  return MakeConvShape({x, w, pad, stride, dilation, groups});
}

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

// A small random shape of the given number of axes; a third of them grouped, a third depthwise.
ConvShape RandomShape(std::mt19937& random, std::size_t axes) {
  const auto pick = [&random](int lo, int hi) {
    return std::int64_t{std::uniform_int_distribution<int>(lo, hi)(random)};
  };
  for (;;) {
    const std::int64_t groups = pick(0, 2) == 0 ? pick(2, 6) : 1;
    const std::int64_t cg = pick(0, 2) == 0 ? 1 : pick(1, 9);
    List x = {pick(1, 5), cg * groups}, w = {groups * pick(1, 9), cg}, pad, stride, dilation;
    for (std::size_t a = 0; a < axes; ++a) {
      x.push_back(pick(1, axes == 3 ? 7 : 23));
      w.push_back(pick(1, axes == 3 ? 3 : 5));
      pad.push_back(pick(0, 4));
      stride.push_back(pick(1, 4));
      dilation.push_back(pick(1, 3));
    }
    try {
      return MakeConvShape({x, w, pad, stride, dilation, groups});
    } catch (const std::invalid_argument&) {
      continue;  // the kernel did not fit
    }
  }
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

// An output buffer as a right kernel leaves it, written by other code than the oracle's.
class Output {
 public:
  Output(const Reference& r, DataType type, Layout layout) : r_(r), type_(type), layout_(layout) {
    bytes_.resize(r.y.size() * SizeOf(type));
    for (std::size_t i = 0; i < r.y.size(); ++i) Set(static_cast<std::int64_t>(i), r.y[i]);
  }
  // Element `index` in NCHW order.
  void Set(std::int64_t index, double value) {
    const double rounded = RoundTo(type_, value);
    const float narrow = static_cast<float>(rounded);
    const std::uint16_t half = type_ == DataType::kFloat16 ? EncodeFloat16(rounded) : EncodeBfloat16(rounded);
    const void* from = type_ == DataType::kFloat64   ? static_cast<const void*>(&rounded)
                       : type_ == DataType::kFloat32 ? static_cast<const void*>(&narrow)
                                                     : &half;
    std::memcpy(bytes_.data() + Offset(index), from, SizeOf(type_));
  }
  void Unwrite(std::int64_t index) {
    for (std::size_t i = 0; i < SizeOf(type_); i += sizeof kUnwrittenWord)
      std::memcpy(bytes_.data() + Offset(index) + i, &kUnwrittenWord, sizeof kUnwrittenWord);
  }
  Judgement Judged(double bound = 0) const { return JudgeOutput(r_, type_, layout_, bound, bytes_.data()); }

 private:
  std::size_t Offset(std::int64_t index) const {
    const ConvShape& s = r_.shape;
    const std::int64_t pixels = Product(s.out);
    if (layout_ == Layout::kNhwc) {
      const std::int64_t n = index / (s.k * pixels), k = index / pixels % s.k, pixel = index % pixels;
      index = (n * pixels + pixel) * s.k + k;
    }
    return static_cast<std::size_t>(index) * SizeOf(type_);
  }
  const Reference& r_;
  const DataType type_;
  const Layout layout_;
  std::vector<unsigned char> bytes_;
};

class OracleTest : public testing::TestWithParam<std::tuple<DataType, Layout>> {
 protected:
  Output Healthy(const Reference& r) const { return Output(r, type_, layout_); }
  const DataType type_ = std::get<0>(GetParam());
  const Layout layout_ = std::get<1>(GetParam());
  // Outputs beyond 256, which bfloat16 has to round.
  const std::shared_ptr<const Reference> reference_ =
      ReferenceOf(Shape({3, 3000, 5, 7}, {17, 3000, 3, 3}, {1}, {2, 1}));
  const ConvShape& shape_ = reference_->shape;
  std::mt19937_64 random_{7};
  std::int64_t RandomIndex() { return static_cast<std::int64_t>(random_() % reference_->y.size()); }
};

TEST_P(OracleTest, HealthyOutputPassesWhateverTheShape) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const auto r = ReferenceOf(RandomShape(random, 1 + static_cast<std::size_t>(i % 3)));
    const Judgement j = Healthy(*r).Judged();
    ASSERT_TRUE(j.AllMatch()) << r->shape.Text() << ": " << DescribeWrong(j, r->shape, 0);
    ASSERT_EQ(j.elements, r->shape.OutputCount());
    ASSERT_EQ(j.worst_error, 0);
  }
  EXPECT_GT(reference_->max_abs, 256);
  EXPECT_TRUE(Healthy(*reference_).Judged().AllMatch());
}

TEST_P(OracleTest, OneElementOffByTheSmallestStepIsFoundAnywhere) {
  Output output = Healthy(*reference_);
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t index = RandomIndex();
    const int y = reference_->y[static_cast<std::size_t>(index)];
    const double right = RoundTo(type_, y);
    // The smallest step of bfloat16 at the largest |y| is 2; elsewhere a product more or less.
    const double wrong = right + (std::fabs(right) >= 256 && type_ == DataType::kBfloat16 ? 4 : 1);
    output.Set(index, wrong);
    const Judgement j = output.Judged();
    ASSERT_EQ(j.wrong, 1);
    ASSERT_EQ(j.first_wrong, index);
    ASSERT_EQ(j.first_expected, right);
    ASSERT_EQ(j.first_got, RoundTo(type_, wrong));
    ASSERT_EQ(j.worst_error, std::fabs(RoundTo(type_, wrong) - right));
    output.Set(index, y);
  }
}

TEST_P(OracleTest, AnUnwrittenElementIsFoundAnywhereAndToldFromAWrongOne) {
  Output output = Healthy(*reference_);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t index = RandomIndex();
    output.Unwrite(index);
    const Judgement j = output.Judged();
    ASSERT_EQ(j.unwritten, 1);
    ASSERT_EQ(j.first_unwritten, index);
    ASSERT_EQ(j.wrong, 0);
    output.Set(index, reference_->y[static_cast<std::size_t>(index)]);
  }
  output.Set(0, std::nan(""));
  EXPECT_EQ(output.Judged().wrong, 1);
}

TEST_P(OracleTest, SwappedChannelsAndSwappedImagesAreFound) {
  const std::int64_t pixels = Product(shape_.out);
  const auto swapped = [&](std::int64_t a, std::int64_t b, std::int64_t count) {
    Output output = Healthy(*reference_);
    for (std::int64_t i = 0; i < count; ++i) {
      output.Set(a + i, reference_->y[static_cast<std::size_t>(b + i)]);
      output.Set(b + i, reference_->y[static_cast<std::size_t>(a + i)]);
    }
    return output.Judged().wrong;
  };
  for (std::int64_t k = 1; k < shape_.k; ++k)
    EXPECT_GT(swapped((k - 1) * pixels, k * pixels, pixels), pixels / 2);
  EXPECT_GT(swapped(0, shape_.k * pixels, shape_.k * pixels), shape_.k * pixels);
}

TEST_P(OracleTest, TransformErrorsPassUpToTheBoundAndNoFurther) {
  const double bound = 0.01;
  Output output = Healthy(*reference_);
  for (std::size_t i = 0; i < reference_->y.size(); ++i)
    output.Set(static_cast<std::int64_t>(i), reference_->y[i] + (i % 2 == 0 ? bound : -bound) * 0.99);
  EXPECT_TRUE(output.Judged(bound).AllMatch());
  EXPECT_FALSE(output.Judged().AllMatch());
  const std::int64_t index = RandomIndex();
  output.Set(index, reference_->y[static_cast<std::size_t>(index)] + (type_ == DataType::kBfloat16 ? 4 : 1));
  EXPECT_EQ(output.Judged(bound).wrong, 1);
  EXPECT_EQ(output.Judged(bound).first_wrong, index);
}

TEST_P(OracleTest, WhereNoBoundDecidesANumberIsStillAskedFor) {
  Output output = Healthy(*reference_);
  output.Set(3, 100 + reference_->y[3]);
  EXPECT_TRUE(output.Judged(kAnyNumber).AllMatch());
  output.Set(4, std::nan(""));
  EXPECT_EQ(output.Judged(kAnyNumber).wrong, 1);
  output.Unwrite(5);
  EXPECT_EQ(output.Judged(kAnyNumber).unwritten, 1);
}

TEST_P(OracleTest, NegativeZeroIsZero) {
  Output output = Healthy(*reference_);
  bool found = false;
  for (std::size_t i = 0; i < reference_->y.size(); ++i) {
    if (reference_->y[i] != 0) continue;
    output.Set(static_cast<std::int64_t>(i), -0.0);
    found = true;
  }
  ASSERT_TRUE(found);
  EXPECT_TRUE(output.Judged().AllMatch());
}

TEST_P(OracleTest, DataIsEncodedInLayoutOrder) {
  const std::int64_t outer = 3, channels = 37, pixels = 1001;
  std::vector<std::int8_t> values;
  for (std::int64_t i = 0; i < outer * channels * pixels; ++i)
    values.push_back(static_cast<std::int8_t>(static_cast<int>(random_() % 7) - 3));
  std::vector<unsigned char> encoded(values.size() * SizeOf(type_));
  EncodeData(values, channels, pixels, type_, layout_, encoded.data());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i) {
    const std::int64_t o = i / channels / pixels, c = i / pixels % channels, p = i % pixels;
    const std::int64_t at = layout_ == Layout::kNchw ? i : (o * pixels + p) * channels + c;
    const unsigned char* from = encoded.data() + static_cast<std::size_t>(at) * SizeOf(type_);
    double got = 0;
    if (type_ == DataType::kFloat64) std::memcpy(&got, from, 8);
    float narrow = 0;
    if (type_ == DataType::kFloat32) std::memcpy(&narrow, from, 4), got = static_cast<double>(narrow);
    std::uint16_t half = 0;
    std::memcpy(&half, from, 2);
    if (type_ == DataType::kFloat16) got = static_cast<double>(DecodeFloat16(half));
    if (type_ == DataType::kBfloat16) got = static_cast<double>(DecodeBfloat16(half));
    ASSERT_EQ(got, values[static_cast<std::size_t>(i)]) << i;
  }
}

std::string CaseName(const testing::TestParamInfo<std::tuple<DataType, Layout>>& p) {
  constexpr const char* kNames[] = {"Float32", "Float16", "Bfloat16", "Float64"};
  return std::string(kNames[static_cast<int>(std::get<0>(p.param))]) +
         (std::get<1>(p.param) == Layout::kNchw ? "Nchw" : "Nhwc");
}

INSTANTIATE_TEST_SUITE_P(All, OracleTest,
                         testing::Combine(testing::ValuesIn(kTypes), testing::ValuesIn(kLayouts)), CaseName);

// The measured error, what it was measured at, its growth and its margin: each of them is a decision.
TEST(ErrorBoundTest, IsTheOneOfItsRow) {
  const auto bound = [](Arithmetic arithmetic, DataType type, std::int64_t channels, std::int64_t kernel) {
    return ErrorBound(arithmetic, type, Shape({1, channels, 9, 9}, {4, channels, kernel, kernel}));
  };
  for (const DataType type : kTypes) EXPECT_EQ(bound(Arithmetic::kExact, type, 512, 3), 0);
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

TEST(ErrorBoundTest, CoversTheErrorsSeenOnHealthyCards) {
  // x 16xCx28x28, w 32xCx5x5: largest error by channels.
  for (const auto& [channels, seen] :
       {std::pair<std::int64_t, double>{16, 0.19}, {64, 0.83}, {192, 2.7}, {512, 5.5}})
    EXPECT_GT(ErrorBound(Arithmetic::kWinograd, DataType::kFloat32,
                         Shape({16, channels, 28, 28}, {32, channels, 5, 5}, {2})),
              seen);
}

TEST(ErrorBoundTest, DecidesOnlyBelowHalfOfOneProduct) {
  EXPECT_TRUE(IsDecisive(0));
  EXPECT_TRUE(IsDecisive(0.4999));
  EXPECT_FALSE(IsDecisive(0.5));
  const auto five = [](std::int64_t channels) {
    return ErrorBound(Arithmetic::kWinograd, DataType::kFloat32,
                      Shape({1, channels, 9, 9}, {4, channels, 5, 5}));
  };
  EXPECT_TRUE(IsDecisive(five(16)));
  EXPECT_FALSE(IsDecisive(five(192)));
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
