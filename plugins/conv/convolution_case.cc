// One case, step by step.
#include "conv/convolution_case.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "common/cudnn_loaded.h"
#include "common/host_memory.h"
#include "common/numeric/encode.h"
#include "common/numeric/fill.h"
#include "common/numeric/same_bytes.h"
#include "common/session.h"
#include "conv/bounds.h"
#include "conv/candidate.h"
#include "conv/choice_table.h"
#include "conv/findings.h"
#include "conv/graph/graph_candidates.h"
#include "conv/legacy/legacy_api.h"
#include "conv/reference_ahead.h"
#include "conv/second_opinion.h"
#include "conv/trial.h"

namespace cudnn_ci {
namespace {

constexpr int kTimedRuns = 3;
constexpr int kRepeatedResults = 3;  // of a sweep: hundreds that are wrong would not tell more
constexpr double kLongRunMs = 300;   // a convolution that takes longer is timed once

std::string Short(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

// Ends the check through `ctx` as soon as the outcome is known.
class ConvolutionCase {
 public:
  ConvolutionCase(Context& ctx, const ConvolutionParams& p, Operation operation)
      : ctx_(ctx),
        params_(p),
        type_(DataTypeFrom(p.dtype)),
        layout_(LayoutFrom(p.layout)),
        problem_{operation, MakeConvShape(p.Fields())},
        graph_(p.api == kGraphApi),
        sweep_(IsSweep(p.algo)) {}

  void Run() {
    const ReferenceAhead ahead(problem_, RecipeFor(problem_, type_, Arithmetic::kExact, Promised()));
    try {
      session_ = &Session::Get(CudnnMajors(PromiseOf(ctx_, "image.cudnn"), ctx_.SubjectFolders()));
      ctx_.Step("workspace query");
      Candidates candidates = Open();
      if (sweep_)
        RunEvery(&candidates);
      else
        RunOne(Choose(candidates));
    } catch (const NoMemory& e) {
      ctx_.Skip(CCI_SKIP_MEMORY, e.need, e.seen);
    } catch (const CudnnFailure& e) {
      Fail(e);
    } catch (const std::runtime_error& e) {
      // Of the driver or of the session's start. The context may be unusable, so the process is done.
      ctx_.Poison(e.what());
      ctx_.Finding(kConvolutionFailed, e.what());
    }
  }

 private:
  Session& session() const { return *session_; }

  Candidates Open() const {
    if (graph_)
      return GraphCandidates(session().cudnn(), session().handle(), problem_, type_, layout_, params_.algo,
                             Promised().strict);
    return LegacyCandidates(session().cudnn(), session().handle(), problem_, type_, layout_, params_.algo,
                            params_.math);
  }

  // All algorithms, or the engines that the heuristics name: ways to compute the same.
  Candidates Others() const {
    if (graph_)
      return GraphCandidates(session().cudnn(), session().handle(), problem_, type_, layout_, "auto",
                             Promised().strict);
    return LegacyCandidates(session().cudnn(), session().handle(), problem_, type_, layout_, "every",
                            params_.math);
  }

  ApiPromise Promised() const {
    // FMA math forbids TF32 and whatever else is shorter than the type. The graph API has engines that round
    // partial sums.
    return {params_.math == "fma", !graph_};
  }

  Trial Prepare(Candidate& candidate) const { return PrepareTrial(candidate, problem_, type_, Promised()); }

  Trial Choose(const Candidates& candidates) {
    if (candidates.asked.empty()) return Prepare(*candidates.list.front());
    proposed_ = true;
    std::string refusals = "no usable proposal";
    Candidate* undecided = nullptr;
    for (const auto& candidate : candidates.list) {
      try {
        // A proposal that turns out not to be offered gives way to the next, as in frameworks.
        const Trial trial = Prepare(*candidate);
        ctx_.Log("cuDNN proposes " + candidate->Name());
        if (trial.decisive()) return trial;
        // Its numbers cannot be judged, so it is run only if nothing else is proposed.
        if (!undecided) undecided = candidate.get();
      } catch (const CudnnFailure& e) {
        if (!e.unsupported()) throw;
        refusals += "; " + candidate->Name() + ": " + e.what();
      }
    }
    if (!undecided) throw CudnnFailure(candidates.asked + ": success, " + refusals, true);
    return Prepare(*undecided);
  }

  void RunOne(const Trial& trial) {
    RequireMemory(session(), trial, problem_, type_);
    const std::optional<Judgement> right = Judge(trial);
    ctx_.Measure("workspace_bytes", static_cast<double>(trial.workspace_bytes), "B", CCI_GOAL_LOWER);
    if (right) Time(trial);
    JudgeLoadedCudnn(ctx_, kConvolutionCudnnMixed);  // some sub-libraries are loaded by a convolution alone
    session().Trim();
    if (right && !trial.decisive()) SkipUndecided(trial);
  }

  // Nothing was found wrong, but the numbers were not judged: that is no pass.
  [[noreturn]] void SkipUndecided(const Trial& trial) {
    ctx_.Skip(CCI_SKIP_UNSUPPORTED,
              "an error bound below " + Short(kDecisiveBound) + ", which one lost product exceeds; " +
                  problem_.Text(),
              Unverifiable(trial));
  }

  std::string Unverifiable(const Trial& trial) const {
    return "not verifiable with this data: errors of " + trial.candidate->Name() + " reach " +
           Short(trial.bound) + " over " + std::to_string(problem_.Reduction()) + " products";
  }

  void RunEvery(Candidates* candidates) {
    ChoiceTable table;
    for (std::unique_ptr<Candidate>& candidate : candidates->list) {
      const std::string name = candidate->Name();
      if (ctx_.ShouldSkipStep(name)) continue;
      ctx_.Step(name);
      table.Add(RunOneOfMany(*candidate, name));
      candidate.reset();  // plans of a hundred engines need not live side by side
    }
    JudgeLoadedCudnn(ctx_, kConvolutionCudnnMixed);
    session().Trim();
    ctx_.Attach("choices.txt", "text/plain", table.Text());
    for (const auto& [measured, outcome] : {std::pair{"choices_passed", ChoiceOutcome::kPassed},
                                            {"choices_unsupported", ChoiceOutcome::kUnsupported},
                                            {"choices_unverifiable", ChoiceOutcome::kUnverifiable}})
      ctx_.Measure(measured, static_cast<double>(table.Count(outcome)), "");
    if (table.Count(ChoiceOutcome::kWrong) + table.Count(ChoiceOutcome::kFailed) > 0) return;
    if (table.Count(ChoiceOutcome::kPassed) > 0) return;
    const bool memory = table.Count(ChoiceOutcome::kMemory) > 0;
    ctx_.Skip(memory ? CCI_SKIP_MEMORY : CCI_SKIP_UNSUPPORTED, "one result that can be verified; " + Asked(),
              table.Summary() + "; " + table.Text());
  }

  ChoiceRow RunOneOfMany(Candidate& candidate, const std::string& name) {
    try {
      const Trial trial = Prepare(candidate);
      RequireMemory(session(), trial, problem_, type_);
      const std::optional<Judgement> right = Judge(trial);
      if (!right) return {name, ChoiceOutcome::kWrong, ""};
      if (!trial.decisive()) return {name, ChoiceOutcome::kUnverifiable, Unverifiable(trial)};
      return {name, ChoiceOutcome::kPassed,
              "error " + Short(right->worst_error) + " of " + Short(trial.bound) + ", workspace " +
                  std::to_string(trial.workspace_bytes) + " B"};
    } catch (const NoMemory& e) {
      return {name, ChoiceOutcome::kMemory, e.need + ", " + e.seen};
    } catch (const CudnnFailure& e) {
      uploaded_.reset();  // it may have written into the inputs before it failed
      if (e.unsupported()) return {name, ChoiceOutcome::kUnsupported, e.what()};
      if (ReportFailure(name + ": ", e)) ctx_.Stop();
      return {name, ChoiceOutcome::kFailed, e.what()};
    }
  }

  // True if the context is of no use any more.
  bool ReportFailure(const std::string& before, const CudnnFailure& failure) {
    std::string what = before + session().CudnnText() + " answered " + failure.what();
    const CUresult left = session().driver().CtxSynchronize();
    if (left != CUDA_SUCCESS) {
      const std::string error = "cuCtxSynchronize: " + session().driver().Describe(left);
      ctx_.Poison(error);
      what += "; then " + error;
    }
    ctx_.Finding(kConvolutionFailed, what + "; " + problem_.Text());
    return left != CUDA_SUCCESS;
  }

  std::string Asked() const {
    return (graph_ ? "graph API, engine " : "algorithm ") + params_.algo + " for " + params_.dtype + " " +
           params_.layout + ", " + params_.math + " math, " + problem_.Text();
  }

  [[noreturn]] void Fail(const CudnnFailure& failure) {
    JudgeLoadedCudnn(ctx_, kConvolutionCudnnMixed);
    if (failure.unsupported())
      ctx_.Skip(CCI_SKIP_UNSUPPORTED, Asked(), session().CudnnText() + " answered " + failure.what());
    ReportFailure("", failure);
    ctx_.Stop();
  }

  std::size_t Bytes(const Tensor& tensor) const { return BytesOf(tensor, type_); }

  // Steps of their own only where a case runs one choice.
  void Step(const char* name) {
    if (!sweep_) ctx_.Step(name);
  }

  // What was judged, if all of it is right.
  std::optional<Judgement> Judge(const Trial& trial) {
    Step("reference");
    const std::shared_ptr<const Reference> reference = ReferenceOf(problem_, trial.recipe);
    Step("upload");
    Upload(reference, trial);
    Step("convolve");
    Convolve(trial);
    Step("compare");
    return Compare(*reference, trial);
  }

  void Upload(const std::shared_ptr<const Reference>& reference, const Trial& trial) {
    DeviceBuffers& memory = session().memory();
    a_ = session().a.Get(Bytes(problem_.A()));
    b_ = session().b.Get(Bytes(problem_.B()));
    const std::vector<BufferSpec> buffers = BuffersOf(trial, problem_, type_);
    const CUresult reserved = memory.Reserve(buffers);
    if (reserved == CUDA_ERROR_OUT_OF_MEMORY)
      throw NoMemory(MebiBytes(static_cast<double>(DeviceBuffers::BytesFor(buffers))) + " of device memory",
                     "cuMemAlloc: " + session().driver().Describe(reserved) + "; " +
                         MebiBytes(static_cast<double>(session().FreeBytes())) + " free");
    session().driver().Require(reserved, "cuMemAlloc");
    // Every run is followed by a look at its inputs: what lies there is what was uploaded.
    if (uploaded_ != reference || !memory.inputs_kept()) {
      EncodeData(reference->A(), problem_.A().AsExtent(), type_, layout_, a_);
      EncodeData(reference->B(), problem_.B().AsExtent(), type_, layout_, b_);
      memory.Upload(kA, a_);
      memory.Upload(kB, b_);
      uploaded_ = reference;
    }
    // The fills are asynchronous; cuDNN may use streams of its own that do not wait for them.
    session().Synchronize();
  }

  void Launch(const Trial& trial) const {
    const DeviceBuffers& m = session().memory();
    trial.candidate->Run(
        {m.Pointer(kA), m.Pointer(kB), m.Pointer(kY), m.Pointer(kWorkspace), trial.workspace_bytes});
  }

  void Convolve(const Trial& trial) {
    try {
      Launch(trial);
    } catch (const CudnnFailure& e) {
      // What the library proposed and gave a workspace size for it cannot then call unsupported.
      if (proposed_ && e.unsupported())
        throw CudnnFailure("for its own proposal " + std::string(e.what()), false);
      throw;
    }
    session().Synchronize();
  }

  // One expectation or one finding for each thing that is judged.
  std::optional<Judgement> Compare(const Reference& reference, const Trial& trial) {
    const DeviceBuffers& memory = session().memory();
    const std::string about = "; " + trial.candidate->Name() + ", " + session().CudnnText();
    unsigned char* readback = session().readback.Get(ReadbackBytes(problem_, type_));
    memory.Download(kY, readback);
    const Judgement judgement =
        JudgeOutput(reference, type_, layout_, trial.decisive() ? trial.bound : kAnyNumber, readback);
    if (!sweep_) {
      ctx_.Measure("max_error", judgement.worst_error, "", CCI_GOAL_LOWER);
      ctx_.Measure("error_bound", trial.bound, "");
    }
    const std::vector<unsigned char> wrong(readback,
                                           readback + (judgement.wrong > 0 ? Bytes(problem_.Y()) : 0));
    if (judgement.unwritten > 0)
      ctx_.Finding(kOutputNotWritten, DescribeUnwritten(judgement, problem_) + about);
    const std::string guards = memory.TouchedGuards();
    if (!guards.empty()) ctx_.Finding(kOutOfBoundsWrite, guards + about);
    const bool a_kept = InputKept(kA, problem_.A(), a_, about),
               b_kept = InputKept(kB, problem_.B(), b_, about);
    const bool kept = a_kept && b_kept;
    if (!kept) uploaded_.reset();
    if (judgement.wrong > 0) ReportWrong(judgement, trial, wrong, about);
    if (!judgement.AllMatch() || !guards.empty() || !kept) return std::nullopt;
    // Only a comparison that can fail counts as one that held.
    if (trial.decisive())
      CCI_EXPECT_EQ(judgement.elements, problem_.Y().Count()) << "not all elements were compared";
    return judgement;
  }

  // What else is to be seen of a wrong result decides whose fault it is.
  void ReportWrong(const Judgement& judgement, const Trial& trial, const std::vector<unsigned char>& wrong,
                   const std::string& about) {
    const std::string what =
        DescribeWrong(judgement, problem_, trial.bound) + ", " + BitsOf(type_, judgement.first_got);
    ctx_.Log(what);  // stays, should the repetition end the process
    Step("repeat");
    if (repeated_++ < kRepeatedResults)
      repetition_ = Repeat(
          *trial.candidate, wrong, [this](Candidate& candidate) { return RunOnceMore(candidate); },
          [this] { return Others(); });
    uploaded_.reset();
    ctx_.Finding(SlugOf(repetition_), what + "; " + TextOf(repetition_) + about);
  }

  std::optional<Rerun> RunOnceMore(Candidate& candidate) try {
    const Trial trial = Prepare(candidate);
    if (!trial.decisive()) return std::nullopt;
    RequireMemory(session(), trial, problem_, type_);
    const std::shared_ptr<const Reference> reference = ReferenceOf(problem_, trial.recipe);
    uploaded_.reset();
    Upload(reference, trial);
    Launch(trial);
    session().Synchronize();
    Rerun rerun{std::vector<unsigned char>(Bytes(problem_.Y())), false};
    unsigned char* readback = session().readback.Get(ReadbackBytes(problem_, type_));
    session().memory().Download(kY, readback);
    std::copy_n(readback, rerun.output.size(), rerun.output.begin());
    rerun.right = JudgeOutput(*reference, type_, layout_, trial.bound, readback).AllMatch();
    return rerun;
  } catch (const CudnnFailure& e) {
    if (!e.unsupported()) throw;
    return std::nullopt;
  } catch (const NoMemory&) {
    return std::nullopt;
  }

  bool InputKept(Buffer buffer, const Tensor& tensor, const unsigned char* original,
                 const std::string& about) {
    unsigned char* readback = session().readback.Get(ReadbackBytes(problem_, type_));
    session().memory().Download(buffer, readback);
    const std::size_t bytes = Bytes(tensor), changed = FirstDifference(readback, original, bytes);
    if (changed == bytes) return true;
    ctx_.Finding(kInputModified,
                 std::string(tensor.name) + " differs from byte " + std::to_string(changed) + about);
    return false;
  }

  void Time(const Trial& trial) {
    ctx_.Step("time");
    std::vector<double> times;
    for (int i = 0; i < kTimedRuns; ++i) {
      times.push_back(session().Milliseconds([&] { Launch(trial); }));
      if (times.back() > kLongRunMs) break;
    }
    std::sort(times.begin(), times.end());
    const double ms = times[times.size() / 2];
    ctx_.Measure("milliseconds", ms, "ms", CCI_GOAL_LOWER);
    if (ms > 0) ctx_.Measure("tflops", problem_.shape.Flops() / ms / 1e9, "TFLOP/s", CCI_GOAL_HIGHER);
  }

  Context& ctx_;
  const ConvolutionParams& params_;
  const DataType type_;
  const Layout layout_;
  const Problem problem_;
  const bool graph_, sweep_;
  Session* session_ = nullptr;  // set before anything throws CudnnFailure
  bool proposed_ = false;       // the library chose the algorithm itself
  int repeated_ = 0;            // wrong results that were repeated; of a sweep's later ones
  Repetition repetition_;       // ... the last repetition speaks
  unsigned char *a_ = nullptr, *b_ = nullptr;
  std::shared_ptr<const Reference> uploaded_;  // whose inputs the device holds
};

}  // namespace

void RunConvolution(Context& ctx, const ConvolutionParams& params, Operation operation) {
  ConvolutionCase(ctx, params, operation).Run();
}

}  // namespace cudnn_ci
