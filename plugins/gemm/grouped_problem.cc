#include "gemm/grouped_problem.h"

#include <cudnn_ci/facts.h>

#include "common/known_rows.h"
#include "common/promised_library.h"
#include "gemm/cublas_types.h"
#include "gemm/grouped_candidates.h"
#include "gemm/known_faults.h"
#include "gemm/matmul_findings.h"

namespace cudnn_ci {
namespace {

constexpr char kGrouped[] = "grouped", kSingle[] = "single";
constexpr char kFirstVersion[] = "12.5";

CaseRequest RequestOf(const GroupedSpec& spec) {
  CaseRequest request;
  request.choice = kGrouped;
  request.alternatives = kSingle;
  request.text = "grouped products, " + spec.Text();
  request.run_step = "multiply";
  request.number = "algorithm";
  return request;
}

}  // namespace

GroupedProblem::GroupedProblem(const GroupedSpec& spec)
    : spec_(spec),
      operands_(OperandsOf(spec)),
      request_(RequestOf(spec)),
      data_(std::make_shared<const GroupedData>(spec)) {}

const ComputeFindings& GroupedProblem::findings() const { return kMatmulFindings; }

std::string GroupedProblem::Place(std::size_t, std::int64_t index) const {
  const GroupedPlace group = PlaceIn(spec_.Starts(&MatmulSpec::D), index);
  const MatmulPlace at = MatmulSpec::PlaceOf(spec_.groups[group.group].D(), group.index);
  return std::string(at.padding ? "in the padding " : "") + "(group=" + std::to_string(group.group) +
         ",product=" + std::to_string(at.batch) + ",row=" + std::to_string(at.row) +
         ",column=" + std::to_string(at.column) + ")";
}

DeviceSession& GroupedProblem::OpenSession(Context& ctx) {
  const Promise promise = PromisedOrServed(PromiseOf(ctx, "image.toolkit"), ctx.Fact(CCI_FACT_DRIVER_CUDA));
  session_ = &CublasSession::Get(promise, ctx.SubjectFolders());
  CublasApi& cublas = session_->UseCublas(promise, ctx.SubjectFolders());
  if (cublas.load().missing || !promise.OfMajor(cublas.load().major))
    ctx.Skip(CCI_SKIP_ABSENT, "one of " + CublasApi::Names() + ", of the promised major version",
             cublas.loaded() ? cublas.path() : cublas.load().error);
  const std::string version = cublas.Version();
  if (!ctx.Satisfies(version, std::string(">=") + kFirstVersion))
    ctx.Skip(CCI_SKIP_VERSION,
             std::string("cuBLAS ") + kFirstVersion + " or later, which has grouped products",
             session_->LibraryText());
  cublas.Create();
  known_ = KnownRowsOf(
      ctx, version, [this](const Predicates& hits) { return HitsGrouped(hits, spec_); }, kCublas);
  return *session_;
}

Candidates GroupedProblem::Open(const std::string& choice, const SearchMemory&) {
  return choice == kSingle ? SingleCalls(*session_, spec_) : GroupedCall(*session_, spec_);
}

Expectation GroupedProblem::ExpectationOf(const Candidate&) const { return {data_, {0}}; }

std::string GroupedProblem::Known(std::initializer_list<const char*> effects, const Candidate*) const {
  return TextOfKnown(known_, effects, [this](const Predicates& hits) { return HitsGrouped(hits, spec_); });
}

}  // namespace cudnn_ci
