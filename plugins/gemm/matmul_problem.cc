#include "gemm/matmul_problem.h"

#include <cudnn_ci/facts.h>

#include <mutex>

#include "common/known_rows.h"
#include "common/promised_library.h"
#include "gemm/known_faults.h"
#include "gemm/matmul_candidates.h"
#include "gemm/matmul_findings.h"

namespace cudnn_ci {
namespace {

constexpr char kEvery[] = "every";
constexpr int kMostAlgorithms = 100;
// A framework takes the first; the next ones are asked where that one is refused.
constexpr int kFirstAlgorithms = 4;

CaseRequest RequestOf(const MatmulSpec& spec, const std::string& algo) {
  CaseRequest request;
  request.choice = algo;
  request.alternatives = kEvery;
  request.sweep = algo == kEvery;
  request.text = "the product " + spec.Text();
  request.run_step = "multiply";
  request.number = "algorithm";
  return request;
}

class Source : public ReferenceSource {
 public:
  explicit Source(const MatmulSpec& spec) : spec_(spec) {}

  std::shared_ptr<const ReferenceData> Get() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!data_) data_ = std::make_shared<const MatmulData>(spec_);
    return data_;
  }
  double MakingBytes() const override { return BytesOfData(spec_); }
  double Growth() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return data_ ? 0 : MakingBytes();
  }
  void ForgetOthers() const override {}

 private:
  const MatmulSpec spec_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ReferenceData> data_;
};

}  // namespace

MatmulProblem::MatmulProblem(const MatmulSpec& spec, const std::string& algo, std::size_t workspace_limit)
    : spec_(spec),
      workspace_limit_(workspace_limit),
      operands_(OperandsOf(spec)),
      request_(RequestOf(spec, algo)),
      reference_(std::make_shared<const Source>(spec)) {}

const ComputeFindings& MatmulProblem::findings() const { return kMatmulFindings; }

std::string MatmulProblem::Place(std::size_t, std::int64_t index) const {
  const MatmulPlace at = MatmulSpec::PlaceOf(spec_.D(), index);
  return std::string(at.padding ? "in the padding " : "") + "(" +
         (spec_.batch > 1 ? "batch=" + std::to_string(at.batch) + "," : "") +
         "row=" + std::to_string(at.row) + ",column=" + std::to_string(at.column) + ")";
}

DeviceSession& MatmulProblem::OpenSession(Context& ctx) {
  const Promise promise = PromiseOf(ctx, "image.toolkit");
  session_ =
      &CublasSession::Get(PromisedOrServed(promise, ctx.Fact(CCI_FACT_DRIVER_CUDA)), ctx.SubjectFolders());
  known_ = KnownRowsOf(
      ctx, session_->version(), [this](const Predicates& hits) { return HitsMatmul(hits, spec_, -1); },
      kCublas);
  return *session_;
}

Candidates MatmulProblem::Open(const std::string& choice, const SearchMemory&) {
  return MatmulCandidates(*session_, spec_, workspace_limit_,
                          choice == kEvery ? kMostAlgorithms : kFirstAlgorithms);
}

Expectation MatmulProblem::ExpectationOf(const Candidate&) const { return {reference_, {0}}; }

std::string MatmulProblem::Known(std::initializer_list<const char*> effects, const Candidate* ran) const {
  return TextOfKnown(known_, effects, [this, ran](const Predicates& hits) {
    return HitsMatmul(hits, spec_, ran ? ran->number() : -1);
  });
}

}  // namespace cudnn_ci
