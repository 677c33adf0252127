// A collective of one rank as a compute case takes it.
#ifndef CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_PROBLEM_H_
#define CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_PROBLEM_H_

#include <memory>
#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "compute/problem.h"
#include "nccl/collective_data.h"
#include "nccl/collective_spec.h"
#include "nccl/nccl_session.h"

namespace cudnn_ci {

class CollectiveProblem : public ComputeProblem {
 public:
  explicit CollectiveProblem(const CollectiveSpec& spec);

  const Operands& operands() const override { return operands_; }
  const ComputeFindings& findings() const override;
  const CaseRequest& request() const override { return request_; }
  std::string Text() const override { return spec_.Text(); }
  std::string Place(std::size_t output, std::int64_t index) const override;
  DeviceSession& OpenSession(Context& ctx) override;
  Candidates Open(const std::string& choice, const SearchMemory& search_memory) override;
  std::shared_ptr<const ReferenceSource> SearchData() const override { return reference_; }
  Expectation ExpectationOf(const Candidate& candidate) const override;
  std::string Known(std::initializer_list<const char*> effects, const Candidate* ran) const override;

 private:
  const CollectiveSpec spec_;
  const Operands operands_;
  const CaseRequest request_;
  const std::shared_ptr<const ReferenceSource> reference_;
  NcclSession* session_ = nullptr;  // set by OpenSession, as is what is known
  std::vector<KnownRegression> known_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_PROBLEM_H_
