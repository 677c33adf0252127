// What has to be refused really cannot be, and the results of what is only large are judged.
#include "conv/refusals.h"

#include <gmock/gmock.h>

#include <vector>

namespace cudnn_ci {
namespace {

// The shape as a matrix would give it.
ShapeFields FieldsOf(const ConvShape& s) {
  return {{s.n, s.c, s.in[1], s.in[2]},   {s.k, s.ChannelsPerGroup(), s.kernel[1], s.kernel[2]},
          {s.pad[1], s.pad[2]},           {s.stride[1], s.stride[2]},
          {s.dilation[1], s.dilation[2]}, s.groups};
}

TEST(RefusalsTest, ImpossibleShapesAreThoseThatNoMatrixMayHave) {
  for (const char* what :
       {"zero_dimension", "kernel_too_large", "channel_mismatch", "group_mismatch", "too_many_elements"}) {
    const Refusal refusal = RefusalOf(what, Operation::kForward);
    EXPECT_FALSE(FindShapeProblems(FieldsOf(refusal.problem.shape)).empty()) << what;
    EXPECT_TRUE(refusal.InDescription()) << what;
  }
  for (const char* what : {"misaligned_pointer", "small_workspace"}) {
    const Refusal refusal = RefusalOf(what, Operation::kBackwardData);
    EXPECT_TRUE(FindShapeProblems(FieldsOf(refusal.problem.shape)).empty()) << what;
    EXPECT_EQ(refusal.problem.operation, Operation::kBackwardData);
    EXPECT_FALSE(refusal.InDescription()) << what;
  }
  EXPECT_THROW(RefusalOf("nothing", Operation::kForward), std::invalid_argument);
}

TEST(RefusalsTest, EachHasOneMistakeAlone) {
  // The graph API takes the groups from the channels: a mismatch must not become other groups that fit.
  for (const char* what : {"channel_mismatch", "group_mismatch"}) {
    const ConvShape s = RefusalOf(what, Operation::kForward).problem.shape;
    const std::int64_t groups = s.c / s.ChannelsPerGroup();
    EXPECT_TRUE(s.c % s.ChannelsPerGroup() != 0 || s.k % groups != 0) << what;
  }
}

class FarResults : public ::testing::Test {
 protected:
  FarResults() : shape_(RefusalOf("too_many_elements", Operation::kForward).problem.shape) {
    for (std::int64_t i = 0; i < shape_.OutputCount(); ++i) Put(i, i / shape_.k < 32768 ? 64 : 128);
  }
  void Put(std::int64_t index, double value) {
    results_.resize(static_cast<std::size_t>(shape_.OutputCount()) * 2);
    Store(DataType::kFloat16, value, results_.data() + index * 2);
  }
  std::string Wrong() const { return DescribeWrongFarResults(shape_, DataType::kFloat16, results_.data()); }

  const ConvShape shape_;
  std::vector<unsigned char> results_;
};

TEST_F(FarResults, BeginWhereAnIntEnds) {
  EXPECT_GT(shape_.InputCount(), std::int64_t{1} << 31);
  EXPECT_EQ(FirstFarImage(shape_), 32768);
  EXPECT_LT(FirstFarImage(shape_), shape_.n);
  ConvShape odd = shape_;
  odd.c = 63;
  EXPECT_GE(FirstFarImage(odd) * 63 * 32 * 32, std::int64_t{1} << 31);
  EXPECT_LT((FirstFarImage(odd) - 1) * 63 * 32 * 32, std::int64_t{1} << 31);
}

TEST_F(FarResults, EveryOneIsCompared) {
  EXPECT_EQ(Wrong(), "");
  Put(0, 65);
  EXPECT_EQ(Wrong(), "1 of 294912 results are wrong, first (n=0,k=0): expected 64, got 65");
  Put(0, 64);
  Put(shape_.OutputCount() - 1, 64);
  EXPECT_EQ(Wrong(), "1 of 294912 results are wrong, first (n=36863,k=7): expected 128, got 64");
  results_.assign(results_.size(), 0xFF);
  EXPECT_THAT(Wrong(), ::testing::StartsWith("294912 of 294912 ")) << "as they were before";
}

TEST(WordOfTest, HoldsTheValueInEachElement) {
  EXPECT_EQ(WordOf(DataType::kFloat32, 1), 0x3F800000u);
  EXPECT_EQ(WordOf(DataType::kFloat16, 1), 0x3C003C00u);
  EXPECT_EQ(WordOf(DataType::kBfloat16, 2), 0x40004000u);
}

}  // namespace
}  // namespace cudnn_ci
