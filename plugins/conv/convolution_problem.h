// A convolution, or one gradient of it, as a compute case takes it: its candidates, by which data and within
// which bounds each is judged, and what is known of the cuDNN in use.
#ifndef CUDNN_CI_PLUGINS_CONV_CONVOLUTION_PROBLEM_H_
#define CUDNN_CI_PLUGINS_CONV_CONVOLUTION_PROBLEM_H_

#include <optional>
#include <string>
#include <vector>

#include "common/session.h"
#include "compute/problem.h"
#include "conv/convolution_case.h"
#include "conv/known_faults.h"
#include "conv/normal.h"
#include "conv/recipe.h"

namespace cudnn_ci {

class ConvolutionProblem : public ComputeProblem {
 public:
  // The parameters were validated; they must outlive it.
  ConvolutionProblem(const ConvolutionParams& params, Operation operation);

  const Operands& operands() const override { return operands_; }
  const ComputeFindings& findings() const override;
  const CaseRequest& request() const override { return request_; }
  std::string Text() const override { return problem_.Text(); }
  std::string Place(std::size_t output, std::int64_t index) const override;
  double Flops() const override { return problem_.shape.Flops(); }
  DeviceSession& OpenSession(Context& ctx) override;
  Candidates Open(const std::string& choice, const SearchMemory& search_memory) override;
  std::shared_ptr<const ReferenceSource> SearchData() const override;
  Expectation ExpectationOf(const Candidate& candidate) const override;
  bool KernelsChangeExpectation(const Candidate& candidate) const override;
  std::string WrongOnRandom(const Candidate& candidate,
                            const std::vector<const unsigned char*>& outputs) override;
  std::string Known(std::initializer_list<const char*> effects, const Candidate* ran) const override;

  const Problem& problem() const { return problem_; }
  // The recipe of sums of products, which most candidates get.
  Recipe UsualRecipe() const;

 private:
  ApiPromise Promised() const;
  // By notes and tables; by its kernels, too, where they are known.
  Arithmetic NotedArithmetic(const Candidate& candidate) const;
  Arithmetic ArithmeticOf(const Candidate& candidate) const;

  const ConvolutionParams& params_;
  const bool graph_;
  const DataType type_;
  const Layout layout_;
  const Problem problem_;
  const Operands operands_;
  const CaseRequest request_;
  const bool normal_;           // what is right is also judged on normal data
  Session* session_ = nullptr;  // set by OpenSession, as is what is known
  KnownFaults known_;
  std::optional<NormalSample> sample_;  // of the result on normal data; made when it is asked for
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_CONVOLUTION_PROBLEM_H_
