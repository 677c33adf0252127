// The products of a grouped call as a compute case takes them.
#ifndef CUDNN_CI_PLUGINS_GEMM_GROUPED_PROBLEM_H_
#define CUDNN_CI_PLUGINS_GEMM_GROUPED_PROBLEM_H_

#include <memory>
#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "compute/problem.h"
#include "gemm/cublas_session.h"
#include "gemm/grouped_data.h"
#include "gemm/grouped_spec.h"

namespace cudnn_ci {

class GroupedProblem : public ComputeProblem {
 public:
  explicit GroupedProblem(const GroupedSpec& spec);

  const Operands& operands() const override { return operands_; }
  const ComputeFindings& findings() const override;
  const CaseRequest& request() const override { return request_; }
  std::string Text() const override { return spec_.Text(); }
  std::string Place(std::size_t output, std::int64_t index) const override;
  // Skips where there is no cuBLAS, or one that has no grouped products.
  DeviceSession& OpenSession(Context& ctx) override;
  Candidates Open(const std::string& choice, const SearchMemory& search_memory) override;
  std::shared_ptr<const ReferenceSource> SearchData() const override { return data_; }
  Expectation ExpectationOf(const Candidate& candidate) const override;
  std::string Known(std::initializer_list<const char*> effects, const Candidate* ran) const override;

 private:
  const GroupedSpec spec_;
  const Operands operands_;
  const CaseRequest request_;
  const std::shared_ptr<const GroupedData> data_;
  CublasSession* session_ = nullptr;  // set by OpenSession, as is what is known
  std::vector<KnownRegression> known_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_GROUPED_PROBLEM_H_
