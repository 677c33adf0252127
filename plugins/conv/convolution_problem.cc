#include "conv/convolution_problem.h"

#include <limits>
#include <memory>

#include "common/host_memory.h"
#include "compute/compute_case.h"
#include "compute/describe_result.h"
#include "compute/graph/graph_candidates.h"
#include "compute/precomputed_reference.h"
#include "conv/bounds.h"
#include "conv/convolution_data.h"
#include "conv/findings.h"
#include "conv/graph/convolution_graph.h"
#include "conv/graph/engines.h"
#include "conv/kernel_arithmetic.h"
#include "conv/legacy/algorithms.h"
#include "conv/legacy/legacy_api.h"

namespace cudnn_ci {
namespace {

constexpr ComputeFindings kFindings = {kConvolutionFailed,     kConvolutionCudnnMixed, kWrongValue,
                                       kWrongValueUnexplained, kImpreciseValue,        kOutputNotWritten,
                                       kOutOfBoundsWrite,      kInputModified,         kWorkspaceUnderstated,
                                       kProposalRefused,       kNotRepeatable};

CaseRequest RequestOf(const ConvolutionParams& params, const Problem& problem) {
  const bool graph = params.api == kGraphApi;
  CaseRequest request;
  request.choice = params.algo;
  // All algorithms, or the engines that the heuristics name.
  request.alternatives = graph ? "auto" : "every";
  if (params.algo == "auto" || params.algo == "find") request.all = graph ? kEveryEngine : "every";
  request.sweep = IsSweep(params.algo);
  request.search = params.algo == "find";
  request.text = params.Text() + ", " + problem.Text();
  request.run_step = "convolve";
  request.number = graph ? "engine" : "algorithm";
  return request;
}

// Why results are not verifiable that may be off by so much.
Expectation::Undecided UndecidedBy(double bound, const Candidate& candidate, const Problem& problem) {
  return {
      "an error bound below " + Short(kDecisiveBound) + ", which one lost product exceeds; " + problem.Text(),
      "not verifiable with this data: errors of " + candidate.Name() + " reach " + Short(bound) + " over " +
          std::to_string(problem.Reduction()) + " products"};
}

}  // namespace

ConvolutionProblem::ConvolutionProblem(const ConvolutionParams& params, Operation operation)
    : params_(params),
      graph_(params.api == kGraphApi),
      type_(DataTypeFrom(params.dtype)),
      layout_(LayoutFrom(params.layout)),
      problem_(params.ProblemOf(operation)),
      operands_(OperandsOf(problem_, type_, layout_)),
      request_(RequestOf(params, problem_)),
      normal_((request_.sweep || params.normal) && !problem_.epilogue.any() && !problem_.output) {}

const ComputeFindings& ConvolutionProblem::findings() const { return kFindings; }

std::string ConvolutionProblem::Place(std::size_t, std::int64_t index) const { return problem_.Place(index); }

DeviceSession& ConvolutionProblem::OpenSession(Context& ctx) {
  session_ = &Session::Get(CudnnMajors(PromiseOf(ctx, "image.cudnn"), ctx.SubjectFolders()));
  known_ = KnownFaults(ctx, session_->cudnn().VersionText(), params_.Known(problem_), params_.algo);
  known_.NoteCrashes(ctx);
  return *session_;
}

Candidates ConvolutionProblem::Open(const std::string& choice, const SearchMemory& search_memory) {
  if (graph_)
    return GraphCandidates(std::make_shared<const ConvolutionGraph>(session_->cudnn(), session_->handle(),
                                                                    problem_, type_, layout_),
                           choice, Promised().strict);
  return LegacyCandidates(session_->cudnn(), session_->handle(), problem_, type_, layout_, choice,
                          params_.math, search_memory);
}

ApiPromise ConvolutionProblem::Promised() const {
  // FMA math forbids TF32 and whatever else is shorter than the type. The graph API has engines that round
  // partial sums.
  return {params_.math == "fma", !graph_};
}

Recipe ConvolutionProblem::UsualRecipe() const {
  return RecipeFor(problem_, type_, Arithmetic::kExact, Promised());
}

std::shared_ptr<const ReferenceSource> ConvolutionProblem::SearchData() const {
  return ReferenceSourceOf(problem_, operands_, UsualRecipe());
}

Arithmetic ConvolutionProblem::NotedArithmetic(const Candidate& candidate) const {
  if (graph_) return ArithmeticOfEngine(problem_, type_, {candidate.number(), candidate.numerical_notes()});
  return LegacyAlgorithmOf(problem_.operation, static_cast<int>(candidate.number())).arithmetic;
}

Arithmetic ConvolutionProblem::ArithmeticOf(const Candidate& candidate) const {
  return ArithmeticByKernels(NotedArithmetic(candidate), candidate.kernels());
}

Expectation ConvolutionProblem::ExpectationOf(const Candidate& candidate) const {
  const Arithmetic arithmetic = ArithmeticOf(candidate);
  const Recipe recipe = RecipeFor(problem_, type_, arithmetic, Promised());
  const double bound = ErrorBound(arithmetic, type_, problem_, recipe);
  Expectation expectation = {ReferenceSourceOf(problem_, operands_, recipe), {bound}};
  if (!IsDecisive(bound)) expectation.undecided = UndecidedBy(bound, candidate, problem_);
  return expectation;
}

bool ConvolutionProblem::KernelsChangeExpectation(const Candidate& candidate) const {
  return ArithmeticOf(candidate) != NotedArithmetic(candidate);
}

std::string ConvolutionProblem::WrongOnRandom(const Candidate& candidate,
                                              const std::vector<const unsigned char*>& outputs) {
  const bool rounds = graph_ && RoundsToHalf({candidate.number(), candidate.numerical_notes()});
  const std::optional<NormalBound> bound = NormalBoundOf(
      problem_, {type_, ArithmeticOf(candidate), Promised(), ClassOfKernels(candidate.kernels()), rounds});
  if (!normal_ || !bound) return "";
  if (!sample_) sample_.emplace(problem_, type_, layout_);
  return sample_->Judge(*bound, outputs[kY]);
}

std::string ConvolutionProblem::Known(std::initializer_list<const char*> effects,
                                      const Candidate* ran) const {
  return known_.KnownFaultText(effects, ran);
}

void RunConvolution(Context& ctx, const ConvolutionParams& params, Operation operation) {
  ConvolutionProblem problem(params, operation);
  const std::optional<HostRoom> room = LookAtHostMemory();
  const PrecomputedReference ahead(
      MakingOfReference(problem.problem(), problem.UsualRecipe(),
                        room ? room->bytes : std::numeric_limits<double>::infinity()));
  RunComputeCase(ctx, &problem);
}

}  // namespace cudnn_ci
