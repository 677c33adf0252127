// A matrix product as a compute case takes it.
#ifndef CUDNN_CI_PLUGINS_GEMM_MATMUL_PROBLEM_H_
#define CUDNN_CI_PLUGINS_GEMM_MATMUL_PROBLEM_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "compute/problem.h"
#include "gemm/cublas_session.h"
#include "gemm/matmul_data.h"
#include "gemm/matmul_spec.h"

namespace cudnn_ci {

class MatmulProblem : public ComputeProblem {
 public:
  // `algo`: "auto" or "every".
  MatmulProblem(const MatmulSpec& spec, const std::string& algo, std::size_t workspace_limit);

  const Operands& operands() const override { return operands_; }
  const ComputeFindings& findings() const override;
  const CaseRequest& request() const override { return request_; }
  std::string Text() const override { return spec_.Text(); }
  std::string Place(std::size_t output, std::int64_t index) const override;
  double Flops() const override { return spec_.Flops(); }
  DeviceSession& OpenSession(Context& ctx) override;
  Candidates Open(const std::string& choice, const SearchMemory& search_memory) override;
  std::shared_ptr<const ReferenceSource> SearchData() const override { return reference_; }
  Expectation ExpectationOf(const Candidate& candidate) const override;
  std::string Known(std::initializer_list<const char*> effects, const Candidate* ran) const override;

 private:
  const MatmulSpec spec_;
  const std::size_t workspace_limit_;
  const Operands operands_;
  const CaseRequest request_;
  const std::shared_ptr<const ReferenceSource> reference_;
  CublasSession* session_ = nullptr;  // set by OpenSession, as is what is known
  std::vector<KnownRegression> known_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_MATMUL_PROBLEM_H_
