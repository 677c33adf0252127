// The attention checks on a machine of fakes, whose cuDNN has convolutions alone: what the library does not
// offer is a skip that says who refused, and parameters that make no sense are the matrix's fault.
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kShapes[] = R"({"small": {"q": [1, 4, 64, 64], "kv": [2, 64]}})";
constexpr char kSkips[] = R"(, "allow_skip": ["unsupported", "absent"])";

class ShippedAttention : public ShippedTest {
 protected:
  ShippedAttention() { UseShapes(kShapes); }
  CheckOutcome Attention(const std::string& check, const std::string& params = "",
                         const char* rest = kSkips) {
    return Check(check, R"("params": {"dtype": "bfloat16", "shape": "small")" + params + "}" + rest);
  }
};

TEST_F(ShippedAttention, WhatTheLibraryDoesNotOfferIsASkipThatSaysWhoRefused) {
  for (const char* check : {"attention.forward", "attention.backward"}) {
    const CheckOutcome r = Attention(check);
    EXPECT_EQ(r.Outcome(), "skipped") << r.gate.out;
    EXPECT_EQ(r.Skip("kind"), "unsupported");
    EXPECT_THAT(r.Skip("need"), HasSubstr("b=1 heads=4/2 q=64 kv=64 d=64"));
    EXPECT_THAT(r.Skip("seen"), AllOf(HasSubstr("cuDNN 9.19.0"), HasSubstr("cudnn-frontend 1.")));
  }
}

// A gate that asked for attention and ran none of it is no green one.
TEST_F(ShippedAttention, NothingThatRanIsRedAllTheSame) {
  const CheckOutcome r = Attention("attention.forward");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(r.gate.report["root_cause"]["slug"], "no-engine");
}

TEST_F(ShippedAttention, IsAbsentFromCudnn8) {
  Set("FAKE_CUDNN_VERSION", "8907");
  const CheckOutcome r = Attention("attention.forward");
  EXPECT_EQ(r.Outcome(), "skipped") << r.gate.out;
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_THAT(r.Skip("need"), HasSubstr("cuDNN 9"));
}

TEST_F(ShippedAttention, ParametersThatMakeNoSenseAreTheMatrixsFault) {
  UseShapes(R"({"small": {"q": [1, 3, 64, 64], "kv": [2, 64]}})");
  const CheckOutcome heads = Attention("attention.forward");
  EXPECT_EQ(heads.gate.exit_code, 2);
  EXPECT_THAT(heads.gate.err, Mentions("\"q\"", "heads", "65536"));
  UseShapes(R"({"small": {"q": [1, 4, 64, 64], "kv": [2]}})");
  EXPECT_THAT(Attention("attention.forward").gate.err, Mentions("\"kv\""));
  UseShapes(R"({"small": {"q": [1, 4, 80, 64], "kv": [4, 64]}})");
  EXPECT_THAT(Attention("attention.backward", R"(, "mask": "causal_bottom_right")").gate.err,
              Mentions("\"q\"", "length", "bottom-right"));
  EXPECT_THAT(Attention("attention.forward", R"(, "layout": "bs3hd")").gate.err,
              Mentions("layout", "one head size"));
  UseShapes(kShapes);
  EXPECT_THAT(Attention("attention.backward", R"(, "layout": "bsh3d")").gate.err,
              Mentions("layout", "bsh3d"));
  EXPECT_THAT(Attention("attention.backward", R"(, "bias_gradient": "yes")").gate.err,
              Mentions("bias_gradient"));
  EXPECT_THAT(Attention("attention.forward", R"(, "data": "normal", "mask": "bias_padding")").gate.err,
              Mentions("data", "exact"));
  EXPECT_THAT(Attention("attention.forward", R"(, "page_size": 16)").gate.err,
              Mentions("page_size", "(mask padding)"));
  EXPECT_THAT(Attention("attention.forward", R"(, "window": 5)").gate.err,
              Mentions("window", "sliding_window"));
  EXPECT_THAT(Attention("attention.forward", R"(, "window": 0, "mask": "sliding_window")").gate.err,
              Mentions("window", "1 to 65536"));
  EXPECT_THAT(Attention("attention.backward", R"(, "layout": "thd")").gate.err,
              Mentions("layout", "(mask padding)"));
  EXPECT_THAT(Attention("attention.forward", R"(, "data": "normal", "logits": "far_positive")").gate.err,
              Mentions("logits", "ordinary"));
}

// cudnn-frontend takes each of the ways in which an attention may be asked for: it is the library that
// refuses the graph. (The fake one knows no pointwise operation, and says so with a status that is no
// refusal.)
TEST_F(ShippedAttention, EachAxisReachesTheLibrary) {
  Set("FAKE_CTX_DEVICE", "1");
  UseShapes(R"({"small": {"q": [2, 4, 64, 64], "kv": [4, 64]}})");
  const auto reaches = [this](const char* check, const char* params) {
    const CheckOutcome r = Attention(check, params);
    EXPECT_THAT(r.Detail(), Mentions("operation graph:", "cuDNN answered 2000")) << check << params;
  };
  for (const char* check : {"attention.forward", "attention.backward"})
    for (const char* params :
         {R"(, "mask": "bias", "bias": "bhss")", R"(, "mask": "bias_causal", "bias": "bhss")",
          R"(, "mask": "bias_padding")", R"(, "mask": "padding", "layout": "bs3hd")",
          R"(, "mask": "padding", "layout": "thd")", R"(, "mask": "padding", "data": "normal")",
          R"(, "mask": "causal", "data": "normal")"})
      reaches(check, params);
  reaches("attention.backward", R"(, "mask": "bias", "bias_gradient": "yes")");
  reaches("attention.forward", R"(, "mask": "padding", "page_size": 16)");
  // The machine's GPU, by the fake driver, may be one for which the frontend wants heads of 128.
  UseShapes(R"({"small": {"q": [2, 4, 64, 128], "kv": [4, 64]}})");
  for (const char* check : {"attention.forward", "attention.backward"}) {
    const CheckOutcome scaled =
        Check(check, R"("params": {"dtype": "float8_e4m3", "shape": "small"})" + std::string(kSkips));
    EXPECT_THAT(scaled.Detail(), Mentions("operation graph:")) << check;
  }
}

}  // namespace
}  // namespace cudnn_ci
