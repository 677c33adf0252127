// attention.forward and attention.backward: their parameters, and which of them make no sense.
#include <cudnn_ci/check.hpp>

#include <limits>
#include <optional>

#include "attention/params.h"
#include "attention/problem.h"
#include "common/host_memory.h"
#include "common/share.h"
#include "compute/compute_case.h"
#include "compute/precomputed_reference.h"
#include "compute/prepared_case.h"

namespace cudnn_ci {
namespace {

template <bool kBackward>
struct Attention {
  using Params = AttentionParams;

  // What is computed.
  static void DescribeProblem(Schema<Params>& s) {
    s.Param("dtype", &Params::dtype)
        .OneOf({"float16", "bfloat16", "float8_e4m3"})
        .Summary(
            "type of Q, K, V, O and their gradients; an 8-bit type has scales, and returns the largest "
            "magnitudes");
    s.Param("layout", &Params::layout)
        .OneOf({"bhsd", "bshd", "bs3hd", "bsh3d", "thd"})
        .Default("bshd")
        .Summary(
            "order in memory: b batch, h heads, s sequence, d head size; with 3, Q, K and V are one tensor, "
            "and so are their gradients; thd: all sequences follow one another (with mask padding)");
    s.Param("mask", &Params::mask)
        .OneOf({"none", "causal", "causal_bottom_right", "sliding_window", "padding", "bias", "bias_causal",
                "bias_padding"})
        .Default("none")
        .Summary(
            "which keys a query sees; padding has sequence lengths for each batch entry; a bias is added to "
            "the scores, alone or with another mask");
    s.Param("bias", &Params::bias)
        .OneOf({"11ss", "1hss", "b1ss", "bhss"})
        .Default("11ss")
        .Summary("axes of the bias: b batch, h heads, ss queries and keys; 1 means one for all");
    s.Param("window", &Params::window)
        .Default(kDefaultAttentionWindow)
        .Summary("keys in a sliding window, including the query's own");
    s.Param("logits", &Params::logits)
        .OneOf({"ordinary", "far_negative", "far_positive"})
        .Default("ordinary")
        .Summary("largest score of each row: 32 (ordinary), -256 (far_negative) or 1024 (far_positive)");
    s.Param("data", &Params::data)
        .OneOf({"exact", "normal"})
        .Default("exact")
        .Summary(
            "exact: every bit of the result is known; normal: sums are rounded, and the error has a bound");
  }

  // What is asked for of it, besides.
  static void DescribeOutputs(Schema<Params>& s) {
    if constexpr (!kBackward) {
      s.Param("page_size", &Params::page_size)
          .Default(0)
          .Summary("positions in a page of K and V, found by page tables (with mask padding); 0: no pages");
      s.Param("statistics", &Params::statistics)
          .OneOf({"yes", "no"})
          .Default("yes")
          .Summary("whether the log-sum-exp of each row is an output, as in training");
    } else {
      s.Param("deterministic", &Params::deterministic)
          .OneOf({"yes", "no"})
          .Default("no")
          .Summary("whether a deterministic algorithm is requested");
      s.Param("bias_gradient", &Params::bias_gradient)
          .OneOf({"yes", "no"})
          .Default("no")
          .Summary("whether the gradient of the bias is an output");
    }
  }

  static void Describe(Schema<Params>& s) {
    s.Summary(kBackward
                  ? "every element of the gradients of an attention is right, and nothing else is written"
                  : "every element of the result of an attention is right, and nothing else is written")
        .Layer(CCI_LAYER_CONVOLUTION)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .SecondOpinion()
        .Requires("cudnn.init")
        .TimeoutSeconds(120)
        .Shareable()
        .Concurrent()
        .SlowCases();
    DescribeProblem(s);
    DescribeOutputs(s);
    s.Param("algo", &Params::algo)
        .OneOf({"auto", "every", "heuristics_a", "heuristics_b", "fallback"})
        .Default("auto")
        .Summary(
            "execution plan: auto is the first that cuDNN proposes, every runs all plans of all lists and "
            "engines, the others are lists of the heuristics");
    auto shape = s.Shape("shape", &Params::shape);
    shape.Field("q", &Params::q).Summary("batch, heads, length and head size of the queries");
    shape.Field("kv", &Params::kv)
        .Summary("heads and length of the keys and values, and the head size of the values if it differs");
  }

  static void Validate(const Params& p, Problems& problems) {
    if (p.q.size() != 4) return problems.Add("shape.q", "must be batch, heads, length and head size");
    if (!p.Sized()) return problems.Add("shape.kv", "must be heads, length and optionally a head size");
    const std::vector<AttentionProblemText> of_shape = ProblemsOf(p.Shape());
    for (const AttentionProblemText& problem : of_shape)
      problems.Add(problem.field == "window" ? "window" : "shape.q",
                   (problem.field == "window" ? "" : problem.field + " ") + problem.why);
    if (!of_shape.empty()) return;  // there may be no lengths of it
    if (p.window != kDefaultAttentionWindow && p.mask != "sliding_window")
      problems.Add("window", "is only for the mask sliding_window");
    for (const AttentionProblemText& problem : ProblemsOf(p.Spec(kBackward)))
      problems.Add(problem.field, problem.why);
  }

  static AttentionProblem ProblemOf(const Params& p) {
    return {p.Spec(kBackward), p.algo, kBackward && p.deterministic == "yes"};
  }

  static void Prepare(Context& ctx, const Params& p) {
    KeepToShare(ctx);
    AttentionProblem problem = ProblemOf(p);
    PrepareComputeCase(ctx, &problem);
  }

  static void Run(Context& ctx, const Params& p) {
    KeepToShare(ctx);
    AttentionProblem problem = ProblemOf(p);
    const std::optional<HostRoom> room = LookAtHostMemory();
    const PrecomputedReference ahead(
        MakingOf(problem.SearchData(), room ? room->bytes : std::numeric_limits<double>::infinity()));
    RunComputeCase(ctx, &problem);
  }
};

using AttentionForward = Attention<false>;
using AttentionBackward = Attention<true>;

CCI_REGISTER(AttentionForward, "forward")
CCI_REGISTER(AttentionBackward, "backward")

}  // namespace
}  // namespace cudnn_ci
