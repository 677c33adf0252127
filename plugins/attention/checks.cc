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
            "type of Q, K, V and O, and of gradients; one of 8 bits has scales, and "
            "gives the largest magnitudes");
    s.Param("layout", &Params::layout)
        .OneOf({"bhsd", "bshd", "bs3hd", "bsh3d", "thd"})
        .Default("bshd")
        .Summary(
            "order in memory: batch, heads, sequence, size; batch, sequence, heads, size; with 3, Q, K "
            "and V are one tensor, and so are their gradients; thd: the sequences of all entries behind one "
            "another (with padding)");
    s.Param("mask", &Params::mask)
        .OneOf({"none", "causal", "causal_bottom_right", "sliding_window", "padding", "bias", "bias_causal",
                "bias_padding"})
        .Default("none")
        .Summary(
            "which keys a query sees; padding has lengths for each batch entry, a bias is added to the "
            "scores, alone or beside another mask");
    s.Param("bias", &Params::bias)
        .OneOf({"11ss", "1hss", "b1ss", "bhss"})
        .Default("11ss")
        .Summary("axes of the bias: b and h are batch and heads, 1 is one for all, ss are queries and keys");
    s.Param("window", &Params::window)
        .Default(kDefaultAttentionWindow)
        .Summary("keys of a sliding window, the query's own among them");
    s.Param("logits", &Params::logits)
        .OneOf({"ordinary", "far_negative", "far_positive"})
        .Default("ordinary")
        .Summary("the largest score of each row: 32, -256, 1024");
    s.Param("data", &Params::data)
        .OneOf({"exact", "normal"})
        .Default("exact")
        .Summary("exact: every bit is known; normal: sums round, and a bound says how far");
  }

  // What is asked for of it, besides.
  static void DescribeOutputs(Schema<Params>& s) {
    if constexpr (!kBackward) {
      s.Param("page_size", &Params::page_size)
          .Default(0)
          .Summary("positions of a page of K and V, which tables name (with padding); 0: no pages");
      s.Param("statistics", &Params::statistics)
          .OneOf({"yes", "no"})
          .Default("yes")
          .Summary("whether the logarithms of the rows' sums are an output, as training has it");
    } else {
      s.Param("deterministic", &Params::deterministic)
          .OneOf({"yes", "no"})
          .Default("no")
          .Summary("whether an algorithm is asked for that repeats its bits");
      s.Param("bias_gradient", &Params::bias_gradient)
          .OneOf({"yes", "no"})
          .Default("no")
          .Summary("whether the gradient of the bias is an output");
    }
  }

  static void Describe(Schema<Params>& s) {
    s.Summary(kBackward ? "the gradients of an attention are right, all of them, and touch nothing else"
                        : "an attention returns the right numbers, all of them, and touches nothing else")
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
        .Summary("the plan: what cuDNN proposes first, all plans of a list, or of all lists and engines");
    auto shape = s.Shape("shape", &Params::shape);
    shape.Field("q", &Params::q).Summary("batch, heads, length and head size of the queries");
    shape.Field("kv", &Params::kv)
        .Summary("heads and length of keys and values, and the head size of values where it differs");
  }

  static void Validate(const Params& p, Problems& problems) {
    if (p.q.size() != 4) return problems.Add("shape.q", "is to be batch, heads, length and head size");
    if (!p.Sized()) return problems.Add("shape.kv", "is to be heads and length, and perhaps a head size");
    const std::vector<AttentionProblemText> of_shape = ProblemsOf(p.Shape());
    for (const AttentionProblemText& problem : of_shape)
      problems.Add(problem.field == "window" ? "window" : "shape.q",
                   (problem.field == "window" ? "" : problem.field + " ") + problem.why);
    if (!of_shape.empty()) return;  // there may be no lengths of it
    if (p.window != kDefaultAttentionWindow && p.mask != "sliding_window")
      problems.Add("window", "is of the mask sliding_window alone");
    for (const AttentionProblemText& problem : ProblemsOf(p.Spec(kBackward)))
      problems.Add(problem.field, problem.why);
  }

  static void Run(Context& ctx, const Params& p) {
    KeepToShare(ctx);
    AttentionProblem problem(p.Spec(kBackward), p.algo, kBackward && p.deterministic == "yes");
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
