#include "nccl/collective_problem.h"

#include "common/known_rows.h"
#include "nccl/collective_call.h"
#include "nccl/findings.h"
#include "nccl/known_faults.h"

namespace cudnn_ci {
namespace {

// There is one way to compute a collective: of one that is wrong none is asked for another opinion. What is
// not reported here has the finding of a failure.
constexpr ComputeFindings kFindings = {
    kCollectiveFailed, kCollectiveFailed,     kCollectiveWrongValue,       kCollectiveWrongValue,
    kCollectiveFailed, kCollectiveNotWritten, kCollectiveOutOfBoundsWrite, kCollectiveInputModified,
    kCollectiveFailed, kCollectiveFailed,     kCollectiveNotRepeatable};

constexpr char kOnly[] = "only", kNone[] = "none";

CaseRequest RequestOf(const CollectiveSpec& spec) {
  CaseRequest request;
  request.choice = kOnly;
  request.alternatives = kNone;
  request.text = "the collective " + spec.Text();
  request.run_step = spec.Call();
  request.number = "ranks";
  return request;
}

// Data of one rank are made from the places of their elements alone.
class Source : public ReferenceSource {
 public:
  explicit Source(const CollectiveSpec& spec) : data_(std::make_shared<const CollectiveData>(spec, 0)) {}

  std::shared_ptr<const ReferenceData> Get() const override { return data_; }
  double MakingBytes() const override { return 0; }
  double Growth() const override { return 0; }
  void ForgetOthers() const override {}

 private:
  const std::shared_ptr<const ReferenceData> data_;
};

class OneRankCall : public Candidate {
 public:
  OneRankCall(NcclSession* session, const CollectiveSpec& spec) : session_(*session), spec_(spec) {}

  std::string Name() const override { return spec_.Call(); }
  std::size_t Prepare() override {
    Asked([this] { session_.OneRank(); });
    return 0;
  }
  bool deterministic() const override { return true; }
  std::int64_t number() const override { return spec_.ranks; }
  void Run(const VariantPack& pack) override {
    Asked([&] {
      CallCollective(spec_, 0, session_.nccl(), session_.OneRank(), session_.driver(), pack.inputs[0],
                     pack.outputs[0], nullptr);
    });
  }

 private:
  template <class Calls>
  void Asked(const Calls& calls) {
    try {
      calls();
    } catch (const NcclError& e) {
      throw CudnnFailure(e.what(), false, e.result());
    }
  }

  NcclSession& session_;
  const CollectiveSpec spec_;
};

}  // namespace

CollectiveProblem::CollectiveProblem(const CollectiveSpec& spec)
    : spec_(spec),
      operands_(OperandsOf(spec, 0)),
      request_(RequestOf(spec)),
      reference_(std::make_shared<const Source>(spec)) {}

const ComputeFindings& CollectiveProblem::findings() const { return kFindings; }

std::string CollectiveProblem::Place(std::size_t, std::int64_t index) const {
  return CollectiveData(spec_, 0).Place(index);
}

DeviceSession& CollectiveProblem::OpenSession(Context& ctx) {
  session_ = &NcclSession::Get();
  const std::string lacks = LacksFor(spec_, session_->nccl(), session_->ComputeCapability());
  if (!lacks.empty()) ctx.Skip(CCI_SKIP_VERSION, lacks, session_->LibraryText());
  known_ = KnownRowsOf(
      ctx, session_->version(), [this](const Predicates& hits) { return HitsCollective(hits, spec_); },
      kNccl);
  return *session_;
}

Candidates CollectiveProblem::Open(const std::string& choice, const SearchMemory&) {
  Candidates candidates;
  if (choice == kOnly) candidates.list.push_back(std::make_unique<OneRankCall>(session_, spec_));
  return candidates;
}

Expectation CollectiveProblem::ExpectationOf(const Candidate&) const { return {reference_, {0}}; }

std::string CollectiveProblem::Known(std::initializer_list<const char*> effects, const Candidate*) const {
  return TextOfKnown(known_, effects, [this](const Predicates& hits) { return HitsCollective(hits, spec_); });
}

}  // namespace cudnn_ci
