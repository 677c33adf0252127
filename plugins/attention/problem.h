// An attention, or its gradients, as a compute case takes it.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_PROBLEM_H_
#define CUDNN_CI_PLUGINS_ATTENTION_PROBLEM_H_

#include <memory>
#include <string>
#include <vector>

#include "attention/data.h"
#include "attention/findings.h"
#include "common/known_rows.h"
#include "common/session.h"
#include "compute/problem.h"

namespace cudnn_ci {

inline constexpr ComputeFindings kAttentionFindings = {
    kAttentionFailed,           kAttentionCudnnMixed,     kAttentionWrongValue,
    kAttentionWrongUnexplained, kAttentionImpreciseValue, kAttentionOutputNotWritten,
    kAttentionOutOfBoundsWrite, kAttentionInputModified,  kAttentionWorkspaceUnderstated,
    kAttentionProposalRefused,  kAttentionNotRepeatable};

class AttentionProblem : public ComputeProblem {
 public:
  AttentionProblem(AttentionProblemSpec spec, const std::string& algo, bool deterministic);

  const Operands& operands() const override { return operands_; }
  const ComputeFindings& findings() const override { return kAttentionFindings; }
  const CaseRequest& request() const override { return request_; }
  std::string Text() const override { return spec_.shape.Text(); }
  std::string Place(std::size_t output, std::int64_t index) const override {
    return AttentionPlace(spec_, output, index);
  }
  double Flops() const override;
  DeviceSession& OpenSession(Context& ctx) override;
  Candidates Open(const std::string& choice, const SearchMemory& search_memory) override;
  std::shared_ptr<const ReferenceSource> SearchData() const override { return reference_; }
  Expectation ExpectationOf(const Candidate& candidate) const override;
  std::string Known(std::initializer_list<const char*> effects, const Candidate* ran) const override;

 private:
  const AttentionProblemSpec spec_;
  const bool deterministic_;
  const Operands operands_;
  const CaseRequest request_;
  const std::shared_ptr<const ReferenceSource> reference_;
  Session* session_ = nullptr;  // set by OpenSession, as is what is known
  std::vector<KnownRegression> known_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_ATTENTION_PROBLEM_H_
