// What is concluded from an engine's number and notes.
#include "conv/graph/engines.h"

#include <cudnn.h>
#include <gtest/gtest.h>

#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

TEST(EnginesTest, TheTableOfTransformsIsNotOfEightBitTypes) {
  const Problem problem = {Operation::kForward, Shape({2, 8, 9, 9}, {8, 8, 3, 3})};
  const EngineFacts unnoted = {4, {}}, noted = {4, {CUDNN_NUMERICAL_NOTE_WINOGRAD}};
  for (const DataType type :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat64})
    EXPECT_EQ(ArithmeticOfEngine(problem, type, unnoted), Arithmetic::kFft);
  for (const DataType type : {DataType::kInt8, DataType::kFloat8E4m3, DataType::kFloat8E5m2}) {
    EXPECT_EQ(ArithmeticOfEngine(problem, type, unnoted), Arithmetic::kExact);
    EXPECT_EQ(ArithmeticOfEngine(problem, type, noted), Arithmetic::kWinograd) << "it says so itself";
  }
}

TEST(EnginesTest, TheTableOfTransformsIsNotOfFusions) {
  const EngineFacts unnoted = {4, {}}, noted = {4, {CUDNN_NUMERICAL_NOTE_FFT}};
  Problem problem = {Operation::kForward, Shape({2, 8, 9, 9}, {8, 8, 3, 3})};
  problem.output = DataType::kFloat32;
  EXPECT_EQ(ArithmeticOfEngine(problem, DataType::kFloat16, unnoted), Arithmetic::kFft)
      << "a type is no fusion";
  for (const char* name : {"bias", "relu", "bias_relu"}) {
    problem.epilogue = EpilogueFrom(name);
    EXPECT_EQ(ArithmeticOfEngine(problem, DataType::kFloat16, unnoted), Arithmetic::kExact) << name;
    EXPECT_EQ(ArithmeticOfEngine(problem, DataType::kFloat16, noted), Arithmetic::kFft)
        << "it says so itself";
  }
}

TEST(EnginesTest, TensorCoresAreShorterThanFloat32Alone) {
  const EngineFacts tensor = {0, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}},
                    down = {0, {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}}, plain = {0, {}};
  EXPECT_TRUE(IsShort(DataType::kFloat32, tensor));
  for (const DataType type : {DataType::kFloat64, DataType::kFloat16, DataType::kBfloat16, DataType::kInt8})
    EXPECT_FALSE(IsShort(type, tensor));
  for (const DataType type : {DataType::kFloat32, DataType::kFloat64}) {
    EXPECT_TRUE(IsShort(type, down));
    EXPECT_FALSE(IsShort(type, plain));
  }
}

TEST(EnginesTest, RoundingToHalfIsNoted) {
  EXPECT_TRUE(RoundsToHalf({0, {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}}));
  EXPECT_TRUE(RoundsToHalf({0, {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}}));
  EXPECT_FALSE(RoundsToHalf({0, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}}));
  EXPECT_FALSE(RoundsToHalf({0, {}}));
}

TEST(EnginesTest, OnlyANoteAllowsAnEngineToVary) {
  EXPECT_TRUE(IsDeterministic({0, {}}));
  EXPECT_TRUE(IsDeterministic({0, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE}}));
  EXPECT_FALSE(
      IsDeterministic({0, {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}}));
}

}  // namespace
}  // namespace cudnn_ci
