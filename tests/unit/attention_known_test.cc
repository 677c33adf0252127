// Which rows of the table of known regressions hit an attention.
#include <gmock/gmock.h>

#include "common/attention_faults.h"

namespace cudnn_ci {
namespace {

const Predicates kGradient = {{"operation", {"attention_backward"}},
                              {"keys_mod_128", {"64"}},
                              {"log_sum_below_88", {"true"}},
                              {"engine", {"6"}},
                              {"compute_capability_min", {"9.0"}}};

AttentionProblemSpec Spec() {
  AttentionProblemSpec spec;
  spec.backward = true;
  spec.shape.keys = 192;
  spec.logits = AttentionLogits::kFarNegative;
  return spec;
}

TEST(HitsAttentionTest, AllThatARowSaysMustHold) {
  EXPECT_TRUE(HitsAttention(kGradient, Spec(), 6));
  EXPECT_TRUE(HitsAttention(kGradient, Spec(), -1)) << "any engine may be chosen";
  EXPECT_FALSE(HitsAttention(kGradient, Spec(), 7));
  AttentionProblemSpec other = Spec();
  other.backward = false;
  EXPECT_FALSE(HitsAttention(kGradient, other, 6));
  other = Spec(), other.shape.keys = 128;
  EXPECT_FALSE(HitsAttention(kGradient, other, 6));
  other = Spec(), other.logits = AttentionLogits::kOrdinary;
  EXPECT_FALSE(HitsAttention(kGradient, other, 6));
}

TEST(HitsAttentionTest, RowsOfOtherOperationsDoNot) {
  EXPECT_FALSE(HitsAttention({{"operation", {"forward"}}}, Spec(), 6));
  EXPECT_FALSE(HitsAttention({{"dtype", {"bfloat16"}}}, Spec(), 6)) << "no operation is a convolution's";
  EXPECT_FALSE(HitsAttention({{"operation", {"attention_backward"}}, {"dims", {"3"}}}, Spec(), 6));
}

TEST(HitsAttentionTest, EachPredicateIsOfTheCase) {
  const auto hits = [](const char* name, const char* value) {
    AttentionProblemSpec spec = Spec();
    spec.type = DataType::kFloat16;
    spec.shape.q_heads = 8, spec.shape.kv_heads = 2, spec.shape.mask = AttentionMask::kCausal;
    spec.shape.head_size = 192, spec.shape.v_head_size = 128;
    return HitsAttention({{"operation", {"attention_backward"}}, {name, {value}}}, spec, 6);
  };
  for (const auto& [name, yes, no] :
       std::vector<std::array<const char*, 3>>{{"dtype", "float16", "bfloat16"},
                                               {"mask", "causal", "none"},
                                               {"keys_min", "192", "193"},
                                               {"queries", "1", "2"},
                                               {"large_logits", "true", "false"},
                                               {"grouped", "true", "false"},
                                               {"different_head_sizes", "true", "false"}}) {
    EXPECT_TRUE(hits(name, yes)) << name;
    EXPECT_FALSE(hits(name, no)) << name;
  }
}

TEST(HitsAttentionTest, AMaskBesideABiasIsBoth) {
  const auto hits = [](AttentionMask mask, const char* named) {
    AttentionProblemSpec spec = Spec();
    spec.shape.mask = mask;
    return HitsAttention({{"operation", {"attention_backward"}}, {"mask", {named}}}, spec, 6);
  };
  for (const char* named : {"bias", "causal", "bias_causal"})
    EXPECT_TRUE(hits(AttentionMask::kBiasCausal, named)) << named;
  for (const char* named : {"bias", "padding", "bias_padding"})
    EXPECT_TRUE(hits(AttentionMask::kBiasPadding, named)) << named;
  EXPECT_FALSE(hits(AttentionMask::kBiasCausal, "padding"));
  EXPECT_FALSE(hits(AttentionMask::kBiasPadding, "causal"));
  EXPECT_FALSE(hits(AttentionMask::kCausal, "bias"));
  EXPECT_FALSE(hits(AttentionMask::kBias, "none"));
}

}  // namespace
}  // namespace cudnn_ci
