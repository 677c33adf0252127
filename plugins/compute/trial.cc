#include "compute/trial.h"

#include <algorithm>

#include "common/loaded_libraries.h"

namespace cudnn_ci {

double Trial::bound() const {
  return *std::max_element(expectation.bounds.begin(), expectation.bounds.end());
}

Trial PrepareTrial(Candidate& candidate, const ComputeProblem& problem) {
  Trial trial;
  trial.candidate = &candidate;
  trial.workspace_bytes = candidate.Prepare();
  KeepLibrariesLoaded();  // of those that a plan opens
  trial.expectation = problem.ExpectationOf(candidate);
  return trial;
}

bool LearnKernels(const ComputeProblem& problem, Candidate* candidate, const VariantPack& pack,
                  DeviceSession* session) {
  if (!candidate->kernels().empty()) return false;
  candidate->set_kernels(session->KernelsOf([&] { candidate->Run(pack); }));
  return problem.KernelsChangeExpectation(*candidate);
}

bool OutputJudgements::AllMatch() const {
  return std::all_of(outputs.begin(), outputs.end(), [](const Judgement& j) { return j.AllMatch(); });
}

bool OutputJudgements::AnyWrong() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const Judgement& j) { return j.wrong > 0; });
}

bool OutputJudgements::AnyUnwritten() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const Judgement& j) { return j.unwritten > 0; });
}

double OutputJudgements::WorstError() const {
  double worst = 0;
  for (const Judgement& j : outputs) worst = std::max(worst, j.worst_error);
  return worst;
}

OutputJudgements JudgeOutputs(const ReferenceData& data, const Trial& trial, const CaseMemory& needs,
                              const unsigned char* downloaded) {
  OutputJudgements judgements;
  for (std::size_t o = 0; o < needs.operands().outputs.size(); ++o)
    judgements.outputs.push_back(data.Judge(o, trial.decisive() ? trial.expectation.bounds[o] : kAnyNumber,
                                            downloaded + needs.OutputOffset(o)));
  return judgements;
}

}  // namespace cudnn_ci
