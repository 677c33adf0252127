// One case, step by step.
#include "conv/convolution_case.h"

#include <optional>
#include <vector>

#include "common/cudnn_loaded.h"
#include "common/numeric/repeat.h"
#include "common/session.h"
#include "conv/bounds.h"
#include "conv/candidate.h"
#include "conv/case_data.h"
#include "conv/case_failure.h"
#include "conv/case_memory.h"
#include "conv/choice_table.h"
#include "conv/findings.h"
#include "conv/graph/graph_candidates.h"
#include "conv/judge_repetition.h"
#include "conv/kernel_class.h"
#include "conv/known_faults.h"
#include "conv/legacy/legacy_api.h"
#include "conv/measurements.h"
#include "conv/normal.h"
#include "conv/proposal.h"
#include "conv/repetition.h"
#include "conv/second_opinion.h"
#include "conv/trial.h"
#include "conv/why_nothing.h"

namespace cudnn_ci {
namespace {

// CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER of cuDNN 9.
constexpr int kIncompatibleDriver = 3005;
constexpr int kTimedRuns = 3, kTimedRunsOfMany = 2;

// Ends the check through `ctx` as soon as the outcome is known.
class ConvolutionCase {
 public:
  ConvolutionCase(Context& ctx, const ConvolutionParams& p, Operation operation)
      : ctx_(ctx),
        params_(p),
        type_(DataTypeFrom(p.dtype)),
        layout_(LayoutFrom(p.layout)),
        problem_(p.ProblemOf(operation)),
        needs_(problem_, type_),
        graph_(p.api == kGraphApi),
        sweep_(IsSweep(p.algo)),
        normal_((sweep_ || p.normal) && !problem_.epilogue.any() && !problem_.output) {}

  void Run() {
    const ReferenceAhead ahead = needs_.Begin(RecipeFor(problem_, type_, Arithmetic::kExact, Promised()));
    try {
      session_ = &Session::Get(CudnnMajors(PromiseOf(ctx_, "image.cudnn"), ctx_.SubjectFolders()));
      known_ = KnownFaults(ctx_, session().cudnn().VersionText(), params_.Known(problem_), params_.algo);
      known_.NoteCrashes(ctx_);
      data_.emplace(session_, needs_, layout_);
      ctx_.Step("workspace query");
      Candidates candidates = Open(params_.algo);
      if (params_.algo == "find") JudgeSearch(candidates.asked);
      if (sweep_)
        RunEvery(&candidates);
      else
        RunOne(Choose(&candidates));
    } catch (const NoMemory& e) {
      ctx_.SkipMemory(e.memory, e.need, e.seen + known_.Behind({"memory"}));
    } catch (const CudnnFailure& e) {
      Fail(e);
    } catch (const std::runtime_error& e) {
      // Of the driver or of the session's start.
      FailOnDevice("", e);
    }
  }

 private:
  Session& session() const { return *session_; }

  Candidates Open(const std::string& choice) {
    if (graph_)
      return GraphCandidates(session().cudnn(), session().handle(), problem_, type_, layout_, choice,
                             Promised().strict);
    return LegacyCandidates(session().cudnn(), session().handle(), problem_, type_, layout_, choice,
                            params_.math, [this](std::size_t bytes) { return MemoryForSearch(bytes); });
  }

  DevicePointers MemoryForSearch(std::size_t workspace_bytes) {
    const Recipe recipe = RecipeFor(problem_, type_, Arithmetic::kExact, Promised());
    needs_.Require(recipe, workspace_bytes, session_);
    data_->Upload(ReferenceOf(problem_, recipe), workspace_bytes);
    return data_->Pointers(false);
  }

  // It has run every algorithm on that memory.
  void JudgeSearch(const std::string& call) {
    try {
      session().Synchronize();
      JudgeSurroundings(ctx_, {"; " + call + ", " + session().CudnnText(), Overwrites(nullptr)}, session_,
                        &*data_);
    } catch (const DriverError& e) {
      FailOnDevice(call, e);
    }
  }

  ApiPromise Promised() const {
    // FMA math forbids TF32 and whatever else is shorter than the type. The graph API has engines that round
    // partial sums.
    return {params_.math == "fma", !graph_};
  }

  Trial Prepare(Candidate& candidate) const { return PrepareTrial(candidate, problem_, type_, Promised()); }

  Trial Choose(Candidates* candidates) {
    if (candidates->asked.empty()) return Prepare(*candidates->list.front());
    proposed_ = true;
    std::vector<std::string> refusals;
    Candidate* undecided = nullptr;
    for (std::size_t i = 0; Candidate* const candidate = candidates->At(i); ++i) {
      try {
        // A proposal that turns out not to be offered gives way to the next, as in frameworks.
        const Trial trial = Prepare(*candidate);
        ctx_.Log("cuDNN proposes " + candidate->Name());
        if (trial.decisive()) {
          JudgeProposal(ctx_, candidates->asked, trial, About(trial));
          TellRefusals(ctx_, refusals);
          return trial;
        }
        // Its numbers cannot be judged, so it is run only if nothing else is proposed.
        if (!undecided) undecided = candidate;
      } catch (const CudnnFailure& e) {
        if (!e.unsupported()) throw;
        refusals.push_back(candidate->Name() + ": " + e.what());
      }
    }
    if (!undecided)
      throw CudnnFailure(candidates->asked + ": success, no usable proposal" + RefusalsText(refusals), true);
    TellRefusals(ctx_, refusals);
    return Prepare(*undecided);
  }

  void RunOne(Trial trial) {
    needs_.Require(trial.recipe, trial.workspace_bytes, session_);
    const std::optional<Judgement> right = Judge(&trial);
    ctx_.Measure(graph_ ? "engine" : "algorithm", static_cast<double>(trial.candidate->number()), "");
    ctx_.Measure("workspace_bytes", static_cast<double>(trial.workspace_bytes), "B", CCI_GOAL_LOWER);
    if (right) Time(trial);
    CleanUp();
    if (right) NameKernels(ctx_, trial);
    if (right && !trial.decisive()) SkipUndecided(trial);
  }

  void CleanUp() {
    JudgeLoadedCudnn(ctx_, kConvolutionCudnnMixed);  // some sub-libraries are loaded by a convolution alone
    if (!context_lost_) session().Trim();
  }

  // Nothing was found wrong, but the numbers were not judged: that is no pass.
  [[noreturn]] void SkipUndecided(const Trial& trial) {
    ctx_.Skip(CCI_SKIP_UNSUPPORTED, NeedOfVerification(problem_), Unverifiable(trial, problem_));
  }

  void RunEvery(Candidates* candidates) {
    ChoiceTable table;
    for (std::unique_ptr<Candidate>& candidate : candidates->list) {
      const std::string name = candidate->Name();
      if (ctx_.ShouldSkipStep(name)) continue;
      ctx_.Step(name);
      table.Add(RunOneOfMany(*candidate, name));
      candidate.reset();  // plans of a hundred engines need not live side by side
      if (context_lost_) break;
    }
    CleanUp();
    ctx_.Attach("choices.txt", "text/plain", table.Text());
    MeasureChoices(ctx_, table);
    if (table.Count(ChoiceOutcome::kWrong) + table.Count(ChoiceOutcome::kFailed) > 0) return;
    if (table.Count(ChoiceOutcome::kPassed) > 0) return;
    if (why_.broken()) return void(ReportFailure("", *why_.broken()));
    const auto need = "one result that can be verified; " + Asked();
    const auto seen = why_.Head() + session().CudnnText() + ": " + table.Summary() + "; " + table.Text();
    if (table.Count(ChoiceOutcome::kMemory) == 0) ctx_.Skip(CCI_SKIP_UNSUPPORTED, need, seen);
    ctx_.SkipMemory(device_short_ ? CCI_MEMORY_DEVICE : CCI_MEMORY_HOST, need, seen);
  }

  ChoiceRow RunOneOfMany(Candidate& candidate, const std::string& name) {
    try {
      Trial trial = Prepare(candidate);
      needs_.Require(trial.recipe, trial.workspace_bytes, session_);
      const std::optional<Judgement> right = Judge(&trial);
      if (!right) return {name, ChoiceOutcome::kWrong, ""};
      const Again again = RunAgain(trial, kTimedRunsOfMany);
      if (again.wrong) return {name, ChoiceOutcome::kWrong, again.wrong};
      if (!trial.decisive()) return {name, ChoiceOutcome::kUnverifiable, Unverifiable(trial, problem_)};
      return {name, ChoiceOutcome::kPassed,
              FiguresOf(trial, right->worst_error, *again.timed, problem_.shape)};
    } catch (const NoMemory& e) {
      if (e.in_company) throw;  // the whole case is run again, alone, with all choices
      why_.Add(name, RefusalCause::kMemory, e.need);
      device_short_ |= e.memory == CCI_MEMORY_DEVICE;
      return {name, ChoiceOutcome::kMemory, e.need + ", " + e.seen};
    } catch (const CudnnFailure& e) {
      data_->Forget();  // it may have written into the inputs before it failed
      // Among many some may be for newer drivers only. Nothing else here may be lacking.
      const bool newer_driver = e.status() == kIncompatibleDriver;
      why_.Add(name, e);
      if (e.unsupported() || newer_driver) return {name, ChoiceOutcome::kUnsupported, e.what()};
      if (ReportFailure(name + ": ", e)) ctx_.Stop();
      return {name, ChoiceOutcome::kFailed, e.what()};
    }
  }

  // Every run is waited for, so that the driver's answer is about this candidate.
  [[noreturn]] void FailOnDevice(const std::string& name, const std::exception& error) {
    const std::string known = known_.Behind({"failure", "crash"});
    if (name.empty()) cudnn_ci::FailOnDevice(ctx_, "", error, known);
    cudnn_ci::FailOnDevice(ctx_, name + ", " + session().CudnnText() + ": ", error,
                           "; " + problem_.Text() + known);
  }

  bool ReportFailure(const std::string& before, const CudnnFailure& failure) {
    return cudnn_ci::ReportFailure(ctx_, session(), before, failure,
                                   "; " + problem_.Text() + known_.Behind({"failure", "crash"}));
  }

  std::string Asked() const { return params_.Text() + ", " + problem_.Text(); }

  void AskTheOthers() try {
    why_.Ask([this] { return Open(graph_ ? kEveryEngine : "every"); }, session().FreeBytes());
  } catch (const DriverError& e) {
    FailOnDevice("", e);
  }

  [[noreturn]] void Fail(const CudnnFailure& failure) {
    JudgeLoadedCudnn(ctx_, kConvolutionCudnnMixed);
    if (failure.unsupported()) {
      why_ = WhyNothing(failure);
      // Where the library proposes nothing that runs, its other algorithms or engines may say why.
      if (params_.algo == "auto" || params_.algo == "find") AskTheOthers();
      // What is only not installed is no lack of support.
      if (!why_.broken() || why_.offered())
        ctx_.Skip(CCI_SKIP_UNSUPPORTED, Asked(),
                  why_.Head() + session().CudnnText() + " answered " + failure.what() +
                      known_.Behind({"refused"}) + why_.Tail());
    }
    ReportFailure("", why_.broken().value_or(failure));
    ctx_.Stop();
  }

  // Steps of their own only where a case runs one choice.
  void Step(const char* name) {
    if (!sweep_) ctx_.Step(name);
  }

  // What was judged, if all of it is right. The trial becomes another where kernels show what no note tells.
  std::optional<Judgement> Judge(Trial* trial) {
    Step("reference");
    const std::shared_ptr<const Reference> reference = ReferenceOf(problem_, trial->recipe);
    try {
      Step("upload");
      data_->Upload(reference, trial->workspace_bytes);
      Step("convolve");
      Convolve(*trial);
      Step("compare");
      return Compare(*reference, trial);
    } catch (const DriverError& e) {
      FailOnDevice(trial->candidate->Name(), e);
    }
  }

  void Convolve(const Trial& trial) {
    try {
      trial.candidate->Run(data_->Pointers(false));
    } catch (const CudnnFailure& e) {
      // What the library proposed and gave a workspace size for it cannot then call unsupported.
      if (proposed_ && e.unsupported())
        throw CudnnFailure("for its own proposal " + std::string(e.what()), false);
      throw;
    }
    session().Synchronize();
  }

  // One expectation or one finding for each thing that is judged.
  std::optional<Judgement> Compare(const Reference& reference, Trial* judged) {
    const Trial& trial = *judged;
    const std::string about = About(trial);
    const unsigned char* output = data_->Download();
    const Judgement judgement = JudgeOutput(reference, needs_.output_type(), layout_,
                                            trial.decisive() ? trial.bound : kAnyNumber, output);
    const std::vector<unsigned char> wrong(output, output + (judgement.wrong > 0 ? needs_.OutputBytes() : 0));
    if (judgement.unwritten > 0)
      ctx_.Finding(kOutputNotWritten, DescribeUnwritten(judgement, problem_) + about +
                                          known_.Behind({"wrong"}, trial.candidate));
    const bool untouched = JudgeSurroundings(ctx_, {about, Overwrites(trial.candidate)}, session_, &*data_);
    // A transform that was taken for sums of products gets its own data and bound.
    if (judgement.wrong > 0 && LearnKernels(trial.candidate, data_->Pointers(false), session_) &&
        judgement.unwritten == 0 && untouched) {
      *judged = Prepare(*trial.candidate);
      needs_.Require(judged->recipe, judged->workspace_bytes, session_);
      return Judge(judged);
    }
    if (!sweep_) MeasureComparison(ctx_, judgement, trial);
    if (judgement.wrong > 0) ReportWrong(judgement, trial, wrong);
    if (!judgement.AllMatch() || !untouched) return std::nullopt;
    // Only a comparison that can fail counts as one that held.
    if (trial.decisive())
      CCI_EXPECT_EQ(judgement.elements, problem_.Y().Count()) << "not all elements were compared";
    return judgement;
  }

  // What else is to be seen of a wrong result decides whose fault it is.
  void ReportWrong(const Judgement& judgement, const Trial& trial, const std::vector<unsigned char>& wrong) {
    const std::string what = DescribeWrong(judgement, problem_, trial.bound) + ", " +
                             BitsText(needs_.output_type(), judgement.first_bits);
    ctx_.Log(what);  // stays, should the repetition end the process
    Step("repeat");
    const Rerunner rerun = [this](Candidate& candidate) {
      return RunOnceMore(candidate, Promised(), layout_, &needs_, &*data_, session_);
    };
    // The others: all algorithms, or the engines that the heuristics name.
    const CaseOpinions::Said said =
        opinions_.On(*trial.candidate, wrong, rerun, [this] { return Open(graph_ ? "auto" : "every"); });
    data_->Forget();
    // A GPU that gives other bits is not explained by its cuDNN.
    const bool by_gpu = said.slug == std::string(kGpuComputesWrong);
    ctx_.Finding(said.slug, what + "; " + said.text + About(trial) +
                                (by_gpu ? "" : known_.Behind({"wrong"}, trial.candidate)));
    if (said.failure.empty()) return;
    ctx_.Poison(said.failure);
    context_lost_ = session().driver().CtxSynchronize() != CUDA_SUCCESS;
  }

  // What is known of writes beyond a buffer by what ran; null: by whatever did.
  std::string Overwrites(const Candidate* ran) const { return known_.Behind({"overwrite"}, ran); }

  std::string About(const Trial& trial) const {
    return "; " + trial.candidate->Name() + ", " + session().CudnnText() +
           KernelsText(trial.candidate->kernels(), "; ");
  }

  // Some runs more, on data whose sums round.
  Again RunAgain(const Trial& trial, int runs) {
    try {
      data_->UploadRandom();
      Again again;
      const Repetition runs_more =
          Repeat(needs_, layout_, data_->Pointers(true), runs, trial.candidate, session_);
      LearnKernels(trial.candidate, data_->Pointers(false), session_);
      again.wrong = JudgeRepetition(ctx_, runs_more, trial, needs_, About(trial));
      if (!again.wrong) again.timed = runs_more;
      if (again.timed && !RightOnNormal(trial, runs_more)) again.wrong = "imprecise on normal data";
      if (!JudgeSurroundingsAgain(ctx_, {About(trial), Overwrites(trial.candidate)}, session_, &*data_))
        again.wrong = "writes elsewhere when it is run again";
      return again;
    } catch (const CudnnFailure& e) {
      // It has just run, so that it is not unsupported.
      throw CudnnFailure("when it was run again, " + std::string(e.what()), false);
    } catch (const DriverError& e) {
      FailOnDevice(trial.candidate->Name(), e);
    }
  }

  // Beside the exact data, on which it was right, and never in their place. True where nothing is promised.
  bool RightOnNormal(const Trial& trial, const Repetition& again) {
    const std::optional<NormalBound> bound =
        NormalBoundOf(problem_, ComputationOf(*trial.candidate, type_, Promised()));
    if (!normal_ || !bound || !needs_.has_random() || !trial.decisive()) return true;
    if (!sample_) sample_.emplace(problem_, type_, layout_);
    const std::string wrong = sample_->Judge(*bound, again.first);
    if (!wrong.empty()) ctx_.Finding(kImpreciseValue, "on random data " + wrong + About(trial));
    return wrong.empty();
  }

  void Time(const Trial& trial) {
    ctx_.Step("time");
    const Again again = RunAgain(trial, kTimedRuns);
    if (again.timed) MeasureRepetition(ctx_, trial, *again.timed, problem_.shape);
  }

  Context& ctx_;
  const ConvolutionParams& params_;
  const DataType type_;
  const Layout layout_;
  const Problem problem_;
  CaseMemory needs_;
  const bool graph_, sweep_, normal_;             // normal: what is right is also judged on normal data
  Session* session_ = nullptr;                    // set before anything throws CudnnFailure
  std::optional<CaseData> data_;                  // likewise
  bool proposed_ = false, context_lost_ = false;  // by the library itself; while another one was asked
  bool device_short_ = false;                     // of memory, for one choice of a sweep
  CaseOpinions opinions_;
  WhyNothing why_;                      // what did not run
  KnownFaults known_;                   // set with the session
  std::optional<NormalSample> sample_;  // of the result on normal data; made when it is asked for
};

}  // namespace

void RunConvolution(Context& ctx, const ConvolutionParams& params, Operation operation) {
  ConvolutionCase(ctx, params, operation).Run();
}

}  // namespace cudnn_ci
