// One case, step by step.
#include "compute/compute_case.h"

#include <optional>
#include <vector>

#include "common/cudnn_loaded.h"
#include "common/numeric/repeat.h"
#include "compute/case_data.h"
#include "compute/case_failure.h"
#include "compute/case_memory.h"
#include "compute/choice_table.h"
#include "compute/describe_result.h"
#include "compute/judge_repetition.h"
#include "compute/kernel_class.h"
#include "compute/measurements.h"
#include "compute/prepared_case.h"
#include "compute/proposal.h"
#include "compute/refusal_summary.h"
#include "compute/repetition.h"
#include "compute/second_opinion.h"
#include "compute/trial.h"
#include "model/record/finding_ids.h"

namespace cudnn_ci {
namespace {

// CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER of cuDNN 9.
constexpr int kIncompatibleDriver = 3005;
constexpr int kTimedRuns = 3, kTimedRunsOfMany = 2;

// Ends the check through `ctx` as soon as the outcome is known.
class ComputeCase {
 public:
  ComputeCase(Context& ctx, ComputeProblem* problem)
      : ctx_(ctx),
        problem_(*problem),
        request_(problem_.request()),
        findings_(problem_.findings()),
        needs_(problem_.operands()),
        opinions_(findings_) {}

  void Run() {
    try {
      session_ = &problem_.OpenSession(ctx_);
      data_.emplace(session_, needs_);
      ctx_.Step("workspace query");
      Candidates candidates = PreparedOr(ctx_, [this] { return Open(request_.choice); });
      if (request_.search) JudgeSearch(candidates.asked);
      if (request_.sweep)
        RunEvery(&candidates);
      else
        RunOne(Choose(&candidates));
    } catch (const NoMemory& e) {
      ctx_.SkipMemory(e.memory, e.need, e.seen + problem_.Known({"memory"}, nullptr));
    } catch (const CudnnFailure& e) {
      Fail(e);
    } catch (const std::runtime_error& e) {
      // Of the driver or of the session's start.
      FailOnDevice("", e);
    }
  }

 private:
  DeviceSession& session() const { return *session_; }

  Candidates Open(const std::string& choice) {
    return problem_.Open(choice, [this](std::size_t bytes) { return MemoryForSearch(bytes); });
  }

  VariantPack MemoryForSearch(std::size_t workspace_bytes) {
    const std::shared_ptr<const ReferenceSource> data = problem_.SearchData();
    needs_.Require(*data, workspace_bytes, session_);
    data_->Upload(*data->Get(), workspace_bytes);
    return data_->Pack(false);
  }

  // It has run every candidate on that memory.
  void JudgeSearch(const std::string& call) {
    try {
      session().Synchronize();
      JudgeSurroundings(ctx_, findings_, {"; " + call + ", " + session().LibraryText(), Overwrites(nullptr)},
                        session_, &*data_);
    } catch (const DriverError& e) {
      FailOnDevice(call, e);
    }
  }

  Trial Prepare(Candidate& candidate) const { return PrepareTrial(candidate, problem_); }

  Trial Choose(Candidates* candidates) {
    if (candidates->asked.empty()) return Prepare(*candidates->list.front());
    proposed_ = true;
    std::vector<std::string> refusals;
    Candidate* undecided = nullptr;
    for (std::size_t i = 0; Candidate* const candidate = candidates->At(i); ++i) {
      try {
        // A proposal that turns out not to be offered gives way to the next, as in frameworks.
        Trial trial = Prepare(*candidate);
        ctx_.Log("cuDNN proposes " + candidate->Name());
        if (trial.decisive()) {
          JudgeProposal(ctx_, findings_, candidates->asked, trial, About(*candidate));
          ReportRefusals(ctx_, findings_, refusals);
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
    ReportRefusals(ctx_, findings_, refusals);
    return Prepare(*undecided);
  }

  void RunOne(Trial trial) {
    needs_.Require(*trial.expectation.data, trial.workspace_bytes, session_);
    const std::optional<double> error = Judge(&trial);
    ctx_.Measure(request_.number, static_cast<double>(trial.candidate->number()), "");
    ctx_.Measure("workspace_bytes", static_cast<double>(trial.workspace_bytes), "B", CCI_GOAL_LOWER);
    if (error) Time(trial);
    CleanUp();
    if (error) NameKernels(ctx_, *trial.candidate);
    if (error && !trial.decisive()) SkipUndecided(trial);
  }

  void CleanUp() {
    JudgeLoadedCudnn(ctx_, findings_.mixed);  // some sub-libraries are loaded by a run alone
    if (!context_lost_) session().Trim();
  }

  // Nothing was found wrong, but the numbers were not judged: that is no pass.
  [[noreturn]] void SkipUndecided(const Trial& trial) {
    ctx_.Skip(CCI_SKIP_UNSUPPORTED, trial.expectation.undecided->need, trial.expectation.undecided->seen);
  }

  void RunEvery(Candidates* candidates) {
    ChoiceTable table;
    for (std::unique_ptr<Candidate>& candidate : candidates->list) {
      const std::string name = candidate->Name();
      if (ctx_.ShouldSkipStep(name)) continue;
      ctx_.Step(name);
      table.Add(RunOneOfMany(*candidate, name, candidates->asked));
      candidate.reset();  // plans of a hundred engines need not live side by side
      if (context_lost_) break;
    }
    CleanUp();
    ctx_.Attach("choices.txt", "text/plain", table.Text());
    MeasureChoices(ctx_, table);
    if (table.Count(ChoiceOutcome::kWrong) + table.Count(ChoiceOutcome::kFailed) > 0) return;
    if (table.Count(ChoiceOutcome::kPassed) > 0) return;
    if (refused_.broken()) return void(ReportFailure("", *refused_.broken()));
    const std::string need = "one result that can be verified; " + request_.text;
    const std::string seen =
        refused_.Head() + session().LibraryText() + ": " + table.Summary() + "; " + table.Text();
    if (table.Count(ChoiceOutcome::kMemory) == 0) ctx_.Skip(CCI_SKIP_UNSUPPORTED, need, seen);
    ctx_.SkipMemory(device_short_ ? CCI_MEMORY_DEVICE : CCI_MEMORY_HOST, need, seen);
  }

  ChoiceRow RunOneOfMany(Candidate& candidate, const std::string& name, const std::string& call) {
    try {
      Trial trial = Prepare(candidate);
      JudgeProposal(ctx_, findings_, call, trial, About(candidate));
      needs_.Require(*trial.expectation.data, trial.workspace_bytes, session_);
      const std::optional<double> error = Judge(&trial);
      if (!error) return {name, ChoiceOutcome::kWrong, ""};
      const Again again = RunAgain(trial, kTimedRunsOfMany);
      if (again.wrong) return {name, ChoiceOutcome::kWrong, again.wrong};
      if (!trial.decisive()) return {name, ChoiceOutcome::kUnverifiable, trial.expectation.undecided->seen};
      return {name, ChoiceOutcome::kPassed, FiguresOf(trial, *error, *again.timed, problem_.Flops())};
    } catch (const NoMemory& e) {
      if (e.shared_device) throw;  // the whole case is run again, alone, with all choices
      refused_.Add(name, RefusalCause::kMemory, e.need);
      device_short_ |= e.memory == CCI_MEMORY_DEVICE;
      return {name, ChoiceOutcome::kMemory, e.need + ", " + e.seen};
    } catch (const CudnnFailure& e) {
      data_->Forget();  // it may have written into the inputs before it failed
      // Among many some may be for newer drivers only. Nothing else here may be lacking.
      const bool newer_driver = e.status() == kIncompatibleDriver;
      refused_.Add(name, e);
      if (e.unsupported() || newer_driver) return {name, ChoiceOutcome::kUnsupported, e.what()};
      if (ReportFailure(name + ": ", e)) ctx_.Stop();
      return {name, ChoiceOutcome::kFailed, e.what()};
    }
  }

  // Every run is waited for, so that the driver's answer is about this candidate.
  [[noreturn]] void FailOnDevice(const std::string& name, const std::exception& error) {
    const std::string known = problem_.Known({"failure", "crash"}, nullptr);
    if (name.empty()) cudnn_ci::FailOnDevice(ctx_, findings_, "", error, known);
    cudnn_ci::FailOnDevice(ctx_, findings_, name + ", " + session().LibraryText() + ": ", error,
                           "; " + problem_.Text() + known);
  }

  bool ReportFailure(const std::string& before, const CudnnFailure& failure) {
    return cudnn_ci::ReportFailure(ctx_, findings_, session(), before, failure,
                                   "; " + problem_.Text() + problem_.Known({"failure", "crash"}, nullptr));
  }

  void AskTheOthers() try {
    refused_.Ask([this] { return Open(request_.all); }, session().FreeBytes());
  } catch (const DriverError& e) {
    FailOnDevice("", e);
  }

  [[noreturn]] void Fail(const CudnnFailure& failure) {
    JudgeLoadedCudnn(ctx_, findings_.mixed);
    if (failure.unsupported()) {
      refused_ = RefusalSummary(failure);
      // Where the library proposes nothing that runs, its other algorithms or engines may say why.
      if (!request_.all.empty()) AskTheOthers();
      // What is only not installed is no lack of support.
      if (!refused_.broken() || refused_.offered())
        ctx_.Skip(CCI_SKIP_UNSUPPORTED, request_.text,
                  refused_.Head() + session().LibraryText() + " answered " + failure.what() +
                      problem_.Known({"refused"}, nullptr) + refused_.Tail());
    }
    ReportFailure("", refused_.broken().value_or(failure));
    ctx_.Stop();
  }

  // Steps of their own only where a case runs one choice.
  void Step(const char* name) {
    if (!request_.sweep) ctx_.Step(name);
  }

  // The largest error, if all of it is right. The trial becomes another where kernels show what no note
  // tells.
  std::optional<double> Judge(Trial* trial) {
    Step("reference");
    const std::shared_ptr<const ReferenceData> reference = trial->expectation.data->Get();
    try {
      Step("upload");
      data_->Upload(*reference, trial->workspace_bytes);
      Step(request_.run_step);
      RunTrial(*trial);
      Step("compare");
      return Compare(*reference, trial);
    } catch (const DriverError& e) {
      FailOnDevice(trial->candidate->Name(), e);
    }
  }

  void RunTrial(const Trial& trial) {
    try {
      trial.candidate->Run(data_->Pack(false));
    } catch (const CudnnFailure& e) {
      // What the library proposed and gave a workspace size for it cannot then call unsupported.
      if (proposed_ && e.unsupported())
        throw CudnnFailure("for its own proposal, " + std::string(e.what()), false);
      throw;
    }
    session().Synchronize();
  }

  // One expectation or one finding for each thing that is judged.
  std::optional<double> Compare(const ReferenceData& reference, Trial* judged) {
    const Trial& trial = *judged;
    const std::string about = About(*trial.candidate);
    const unsigned char* downloaded = data_->Download();
    const OutputJudgements judgements = JudgeOutputs(reference, trial, needs_, downloaded);
    const bool wrong = judgements.AnyWrong();
    const std::vector<unsigned char> kept(downloaded, downloaded + (wrong ? needs_.OutputBytes() : 0));
    ReportUnwritten(judgements, trial, about);
    const bool untouched =
        JudgeSurroundings(ctx_, findings_, {about, Overwrites(trial.candidate)}, session_, &*data_);
    // A candidate whose kernels tell more than its notes gets its own data and bound.
    if (wrong && LearnKernels(problem_, trial.candidate, data_->Pack(false), session_) &&
        !judgements.AnyUnwritten() && untouched) {
      *judged = Prepare(*trial.candidate);
      needs_.Require(*judged->expectation.data, judged->workspace_bytes, session_);
      return Judge(judged);
    }
    if (!request_.sweep) MeasureComparison(ctx_, judgements, trial);
    if (wrong) ReportWrong(judgements, trial, kept);
    if (!judgements.AllMatch() || !untouched) return std::nullopt;
    // Only a comparison that can fail counts as one that held.
    if (trial.decisive()) ExpectAllCompared(judgements);
    return judgements.WorstError();
  }

  void ExpectAllCompared(const OutputJudgements& judgements) {
    std::int64_t compared = 0, elements = 0;
    for (const Judgement& judgement : judgements.outputs) compared += judgement.elements;
    for (const Operand& output : needs_.operands().outputs) elements += output.extent.Count();
    CCI_EXPECT_EQ(compared, elements) << "not all elements were compared";
  }

  void ReportUnwritten(const OutputJudgements& judgements, const Trial& trial, const std::string& about) {
    for (std::size_t o = 0; o < judgements.outputs.size(); ++o) {
      const Judgement& judgement = judgements.outputs[o];
      if (judgement.unwritten > 0)
        ctx_.Finding(findings_.unwritten,
                     OutputPrefix(needs_.operands(), o) +
                         DescribeUnwritten(judgement, problem_.Place(o, judgement.first_unwritten)) + about +
                         problem_.Known({"wrong"}, trial.candidate));
    }
  }

  std::string WrongText(const OutputJudgements& judgements, const Trial& trial) const {
    std::string text;
    for (std::size_t o = 0; o < judgements.outputs.size(); ++o) {
      const Judgement& judgement = judgements.outputs[o];
      if (judgement.wrong == 0) continue;
      text +=
          (text.empty() ? "" : "; ") + OutputPrefix(needs_.operands(), o) +
          DescribeWrong(judgement, problem_.Place(o, judgement.first_wrong), trial.expectation.bounds[o]) +
          ", " + BitsText(needs_.operands().outputs[o].type, judgement.first_bits);
    }
    return text;
  }

  // What else is to be seen of a wrong result decides whose fault it is.
  void ReportWrong(const OutputJudgements& judgements, const Trial& trial,
                   const std::vector<unsigned char>& wrong) {
    const std::string what = WrongText(judgements, trial);
    ctx_.Log(what);  // stays, should the repetition end the process
    Step("repeat");
    const Rerunner rerun = [this](Candidate& candidate) {
      return RunOnceMore(problem_, candidate, &needs_, &*data_, session_);
    };
    const CaseOpinions::Said said =
        opinions_.On(*trial.candidate, wrong, rerun, [this] { return Open(request_.alternatives); });
    data_->Forget();
    // A GPU that gives other bits is not explained by its library.
    const bool by_gpu = said.finding == std::string(kGpuComputesWrong);
    ctx_.Finding(said.finding, what + "; " + said.text + About(*trial.candidate) +
                                   (by_gpu ? "" : problem_.Known({"wrong"}, trial.candidate)));
    if (said.failure.empty()) return;
    ctx_.Poison(said.failure);
    context_lost_ = session().driver().CtxSynchronize() != CUDA_SUCCESS;
  }

  // What is known of writes beyond a buffer by what ran; null: by whatever did.
  std::string Overwrites(const Candidate* ran) const { return problem_.Known({"overwrite"}, ran); }

  std::string About(const Candidate& candidate) const {
    return "; " + candidate.Name() + ", " + session().LibraryText() + KernelsText(candidate.kernels(), "; ");
  }

  // Some runs more, on data whose sums round.
  Again RunAgain(const Trial& trial, int runs) {
    try {
      data_->UploadRandom();
      Again again;
      const Repetition runs_more = Repeat(needs_, runs, trial.candidate, &*data_, session_);
      LearnKernels(problem_, trial.candidate, data_->Pack(false), session_);
      const std::string about = About(*trial.candidate);
      again.wrong = JudgeRepetition(ctx_, problem_, runs_more, *trial.candidate, about);
      if (!again.wrong) again.timed = runs_more;
      if (again.timed && !RightOnRandom(trial, runs_more)) again.wrong = "imprecise on normal data";
      if (!JudgeSurroundingsAgain(ctx_, findings_, {about, Overwrites(trial.candidate)}, needs_, session_,
                                  &*data_))
        again.wrong = "writes outside its outputs in a repeated run";
      return again;
    } catch (const CudnnFailure& e) {
      // It has just run, so that it is not unsupported.
      throw CudnnFailure("in a repeated run, " + std::string(e.what()), false);
    } catch (const DriverError& e) {
      FailOnDevice(trial.candidate->Name(), e);
    }
  }

  // Beside the exact data, on which it was right, and never in their place. True where nothing is promised.
  bool RightOnRandom(const Trial& trial, const Repetition& again) {
    if (!needs_.has_random() || !trial.decisive()) return true;
    const std::string wrong = problem_.WrongOnRandom(*trial.candidate, again.first);
    if (!wrong.empty())
      ctx_.Finding(findings_.imprecise, "on random data " + wrong + About(*trial.candidate));
    return wrong.empty();
  }

  void Time(const Trial& trial) {
    ctx_.Step("time");
    const Again again = RunAgain(trial, kTimedRuns);
    if (again.timed) MeasureRepetition(ctx_, *trial.candidate, *again.timed, problem_.Flops());
  }

  Context& ctx_;
  ComputeProblem& problem_;
  const CaseRequest& request_;
  const ComputeFindings& findings_;
  CaseMemory needs_;
  DeviceSession* session_ = nullptr;              // set before anything throws CudnnFailure
  std::optional<CaseData> data_;                  // likewise
  bool proposed_ = false, context_lost_ = false;  // by the library itself; while another one was asked
  bool device_short_ = false;                     // of memory, for one choice of a sweep
  CaseOpinions opinions_;
  RefusalSummary refused_;  // what did not run
};

}  // namespace

void RunComputeCase(Context& ctx, ComputeProblem* problem) { ComputeCase(ctx, problem).Run(); }

}  // namespace cudnn_ci
