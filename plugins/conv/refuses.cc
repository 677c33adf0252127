// conv.refuses: what cannot be computed is refused with a status. Nothing may crash, hang, break the context
// or answer success, and cuDNN is as usable afterwards as before.
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/joined.h"
#include "common/numeric/fill.h"
#include "common/session.h"
#include "compute/candidate.h"
#include "compute/case_memory.h"
#include "compute/graph/graph_candidates.h"
#include "conv/convolution_data.h"
#include "conv/describe.h"
#include "conv/findings.h"
#include "conv/graph/convolution_graph.h"
#include "conv/legacy/legacy_api.h"
#include "conv/needed_api.h"
#include "conv/refusals.h"

namespace cudnn_ci {
namespace {

// Of the graph API's engines, which differ in what they compute, not in what they are asked before.
constexpr int kMostChoices = 8;
// Every buffer has this many bytes more than its tensor: a library that does compute what cannot be shall
// show it by its answer, and harm nobody.
constexpr std::size_t kSlack = std::size_t{1} << 20;

struct RefusesParams {
  std::string api, what, dtype, layout, operation;
};

class RefusalCase {
 public:
  RefusalCase(Context& ctx, const RefusesParams& p)
      : ctx_(ctx),
        graph_(p.api == kGraphApi),
        type_(DataTypeFrom(p.dtype)),
        layout_(LayoutFrom(p.layout)),
        refusal_(RefusalOf(p.what, OperationFrom(p.operation))) {}

  void Run() {
    try {
      session_ = &Session::Get(CudnnMajors(PromiseOf(ctx_, "image.cudnn"), ctx_.SubjectFolders()));
      RunPossible("a valid convolution");
      asked_ = true;
      AskAll();
      RunPossible("a valid convolution, again");
    } catch (const NoMemory& e) {
      ctx_.SkipMemory(e.memory, e.need, e.seen);
    } catch (const CudnnFailure& e) {
      if (!asked_ && e.unsupported())
        ctx_.Skip(CCI_SKIP_UNSUPPORTED, "a valid convolution: " + PossibleShape().Text(), e.what());
      Report(e.what());
    } catch (const std::runtime_error& e) {
      // Of the driver. The context may be unusable, so the process is done.
      ctx_.Poison(e.what());
      Report(e.what());
    }
  }

 private:
  Session& session() const { return *session_; }

  void Report(const std::string& error) {
    std::string detail = error;
    if (!last_.empty()) detail = last_ + "; then " + detail;
    if (asked_) detail += "; " + refusal_.why;
    if (session_) detail += "; " + session().LibraryText();
    ctx_.Finding(asked_ ? kUnusableAfterRefusal : kConvolutionFailed, detail);
  }

  Candidates Open(const Problem& problem, const std::string& choice, bool possible) const {
    if (graph_)
      return GraphCandidates(std::make_shared<const ConvolutionGraph>(session().cudnn(), session().handle(),
                                                                      problem, type_, layout_),
                             choice, false);
    return LegacyCandidates(session().cudnn(), session().handle(), problem, type_, layout_, choice, "default",
                            {}, possible);
  }

  // A library that answers everything with errors refuses nothing: the same call has to work before and
  // afterwards. Its numbers are conv.forward's business.
  void RunPossible(const char* step) {
    ctx_.Step(step);
    const Problem problem{refusal_.problem.operation, PossibleShape()};
    Candidates candidates = Open(problem, "auto", true);
    std::string refusals = candidates.asked + ": no usable proposal";
    for (std::size_t i = 0; Candidate* const candidate = candidates.At(i); ++i) {
      try {
        const std::size_t bytes = candidate->Prepare();
        Reserve(problem, bytes);
        candidate->Run(Ordinary(bytes));
        session().Synchronize();
        return;
      } catch (const CudnnFailure& e) {
        if (!e.unsupported()) throw;
        refusals += "; " + candidate->Name() + ": " + e.what();
      }
    }
    throw CudnnFailure(refusals, true);
  }

  void AskAll() {
    Candidates candidates;
    try {
      ctx_.Step("description");
      candidates = Open(refusal_.problem, graph_ ? "auto" : "every", !refusal_.InDescription());
    } catch (const CudnnFailure& e) {
      if (!refusal_.InDescription()) throw;
      return Refused("the description", e.what());
    }
    for (std::size_t i = 0; Candidate* const candidate = Next(&candidates, i); ++i) {
      const std::string name = candidate->Name();
      if (ctx_.ShouldSkipStep(name)) continue;
      ctx_.Step(name);
      Ask(*candidate, name);
      candidates.list[i].reset();
      if (++asked_choices_ == kMostChoices && graph_) break;
    }
    if (!accepted_.empty())
      ctx_.Finding(kImpossibleAccepted,
                   Joined(accepted_) + " answered success: " + refusal_.why + "; " + session().LibraryText());
    if (answers_ > 0) return;
    if (refusal_.InDescription() && candidates.list.empty()) return Refused("every list", "names no engine");
    ctx_.Skip(CCI_SKIP_UNSUPPORTED, "a choice that can be tested: " + refusal_.why,
              std::to_string(asked_choices_) + " choices, none offered or none with a workspace");
  }

  // The description is refused by whichever list is asked for it first.
  Candidate* Next(Candidates* candidates, std::size_t place) try {
    return candidates->At(place);
  } catch (const CudnnFailure& e) {
    if (!refusal_.InDescription()) throw;
    Refused("the further list", e.what());
    return nullptr;
  }

  void Ask(Candidate& candidate, const std::string& name) {
    std::size_t bytes = 0;
    try {
      bytes = candidate.Prepare();
    } catch (const CudnnFailure& e) {
      // What is not offered for a convolution that can be was not asked.
      if (refusal_.InDescription()) Refused(name, e.what());
      return;
    }
    if (refusal_.kind == Refusal::Kind::kWorkspace && bytes == 0) return;
    Reserve(refusal_.problem, bytes);
    for (const VariantPack& call : CallsOf(bytes)) Call(candidate, name, call);
    // The graph API is not told how long a workspace is.
    if (refusal_.kind != Refusal::Kind::kWorkspace || graph_ || bytes < 2) return;
    Reserve(refusal_.problem, bytes - 1);
    Call(candidate, name, Ordinary(bytes - 1));
  }

  void Call(Candidate& candidate, const std::string& name, const VariantPack& call) {
    last_ = name + " answered success";
    try {
      candidate.Run(call);
    } catch (const CudnnFailure& e) {
      last_ = name + " answered " + e.what();
      session().Synchronize();
      return Refused(name, e.what());
    }
    session().Synchronize();
    ++answers_;
    if (refusal_.kind == Refusal::Kind::kElements) return JudgeFarResults(name);
    if (refusal_.kind == Refusal::Kind::kWorkspace && call.workspace && Suffices(name)) return;
    if (!accepted_.empty() && accepted_.back() == name) return;  // by another of its calls
    accepted_.push_back(name);
  }

  // What is asked for may be rounded up: a workspace that was not left was long enough.
  bool Suffices(const std::string& name) {
    const std::string guards = session().memory().TouchedGuards();
    if (!guards.empty()) {
      ctx_.Log(name + ": " + guards);
      return false;
    }
    ctx_.Expect(true, __FILE__, __LINE__, name + " works with one byte of workspace less");
    return true;
  }

  void Refused(const std::string& who, const std::string& words) {
    ++answers_;
    last_ = who + " answered " + words;
    ctx_.Expect(true, __FILE__, __LINE__, who + " refuses: " + words);
  }

  CaseMemory MemoryOf(const Problem& problem) const {
    return CaseMemory(OperandsOf(problem, type_, layout_));
  }

  std::size_t FarBytes() const { return MemoryOf(refusal_.problem).OutputBytes(); }

  // A release that has this many elements computes with them, and has to be right.
  void JudgeFarResults(const std::string& name) {
    const Problem& problem = refusal_.problem;
    unsigned char* results = session().readback.Get(FarBytes());
    session().memory().Download(MemoryOf(problem).OutputPlace(kY), results);
    const std::string wrong = DescribeWrongFarResults(problem.shape, type_, results);
    if (wrong.empty())
      ctx_.Expect(true, __FILE__, __LINE__, name + " computes it correctly");
    else
      ctx_.Finding(kWrongValue,
                   wrong + "; " + name + ", " + session().LibraryText() + "; " + problem.shape.Text());
  }

  VariantPack Ordinary(std::size_t workspace_bytes) const {
    return MemoryOf(refusal_.problem).Pack(session().memory(), false, workspace_bytes);
  }

  // The calls that have to be refused, of a choice that asks for this workspace.
  std::vector<VariantPack> CallsOf(std::size_t bytes) const {
    const VariantPack whole = Ordinary(bytes);
    if (refusal_.kind == Refusal::Kind::kWorkspace) {
      VariantPack none = whole;
      none.workspace = nullptr, none.workspace_bytes = 0;
      return {none};
    }
    if (refusal_.kind != Refusal::Kind::kPointer) return {whole};
    VariantPack a = whole, b = whole, y = whole;
    a.inputs[kA] = static_cast<const unsigned char*>(a.inputs[kA]) + SizeOf(type_);
    b.inputs[kB] = static_cast<const unsigned char*>(b.inputs[kB]) + SizeOf(type_);
    y.outputs[kY] = static_cast<unsigned char*>(y.outputs[kY]) + SizeOf(type_);
    return {a, b, y};
  }

  void Reserve(const Problem& problem, std::size_t workspace_bytes) {
    const CaseMemory memory = MemoryOf(problem);
    std::vector<BufferSpec> buffers = memory.Buffers(workspace_bytes);
    for (const std::size_t input : {kA, kB}) buffers[memory.RandomPlace(input)].bytes = 0;
    for (const std::size_t filled : {memory.InputPlace(kA), memory.InputPlace(kB), memory.OutputPlace(kY)}) {
      buffers[filled].bytes += kSlack;
      buffers[filled].role = BufferSpec::Role::kOutput;  // inputs too: nothing is uploaded
    }
    RequireDevice(session(), buffers);
    if (refusal_.kind == Refusal::Kind::kElements) RequireOnHost(session().readback, FarBytes());
    ReserveOnDevice(buffers, session_);
    if (&problem == &refusal_.problem && refusal_.kind == Refusal::Kind::kElements) FillFar();
    session().Synchronize();
  }

  // 1 in the images before the first 2^31 elements and in the filter, 2 behind them.
  void FillFar() const {
    const ConvShape& shape = refusal_.problem.shape;
    const auto fill = [this](std::size_t buffer, std::int64_t from, std::int64_t to, double value) {
      const std::size_t size = SizeOf(type_), words = static_cast<std::size_t>(to - from) * size / 4;
      const auto begin = reinterpret_cast<CUdeviceptr>(session().memory().Pointer(buffer));
      session().driver().Require(session().driver().MemsetD32(begin + static_cast<std::size_t>(from) * size,
                                                              WordOf(type_, value), words),
                                 "cuMemsetD32");
    };
    const std::int64_t far = FirstFarImage(shape) * shape.c * Product(shape.in);
    const CaseMemory places = MemoryOf(refusal_.problem);
    fill(places.InputPlace(kA), 0, far, 1);
    fill(places.InputPlace(kA), far, shape.InputCount(), 2);
    fill(places.InputPlace(kB), 0, shape.FilterCount(), 1);
  }

  Context& ctx_;
  const bool graph_;
  const DataType type_;
  const Layout layout_;
  const Refusal refusal_;
  Session* session_ = nullptr;
  bool asked_ = false;  // whether the library was asked for what cannot be
  int asked_choices_ = 0, answers_ = 0;
  std::string last_;                   // the latest answer, in words
  std::vector<std::string> accepted_;  // who answered success
};

struct Refuses {
  using Params = RefusesParams;

  // A process of its own for each case: what it asks for may leave anything behind.
  static void Describe(Schema<Params>& s) {
    DescribeConvolution(s, "an impossible convolution is refused with a status, and cuDNN works afterwards");
    s.Param("what", &Params::what)
        .OneOf({"zero_dimension", "kernel_too_large", "channel_mismatch", "group_mismatch",
                "too_many_elements", "misaligned_pointer", "small_workspace"})
        .Summary(
            "fault of the convolution; one with too_many_elements (2^31 or more) may be computed, and then "
            "must be right");
    s.Param("api", &Params::api).OneOf({kLegacyApi, kGraphApi}).Default(kLegacyApi).Summary("API of cuDNN");
    s.Param("dtype", &Params::dtype)
        .OneOf({"float32", "float16", "bfloat16"})
        .Default("float16")
        .Summary("type of all tensors");
    s.Param("layout", &Params::layout)
        .OneOf({"nchw", "nhwc"})
        .Default("nchw")
        .Summary("memory order of all tensors");
    s.Param("operation", &Params::operation)
        .OneOf({"forward", "backward_data", "backward_filter"})
        .Default("forward")
        .Summary("convolution, or one of its gradients");
  }

  static void Validate(const Params& p, Problems& problems) {
    if (p.what == "misaligned_pointer" && p.api == kLegacyApi)
      problems.Add("what", "needs the graph API: tensors of the legacy API declare no alignment");
    if (p.what == "too_many_elements" && p.operation != "forward")
      problems.Add("operation", "must be forward: only its result is small enough to be read");
  }

  static void Run(Context& ctx, const Params& p) {
    RequireApi(ctx, p.api);
    RefusalCase(ctx, p).Run();
  }
};

CCI_REGISTER(Refuses, "refuses")

}  // namespace
}  // namespace cudnn_ci
