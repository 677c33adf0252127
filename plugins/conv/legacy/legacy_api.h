// The legacy API of cuDNN: descriptors, an algorithm by number, cudnnConvolutionForward and its two
// gradients. Translates a problem into calls and judges nothing; must not know the SDK's Context or the
// oracle.
#ifndef CUDNN_CI_PLUGINS_CONV_LEGACY_LEGACY_API_H_
#define CUDNN_CI_PLUGINS_CONV_LEGACY_LEGACY_API_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/cudnn_api.h"
#include "common/numeric/data_type.h"
#include "compute/candidate.h"
#include "conv/operation.h"

namespace cudnn_ci {

// "default", "fma", "tensor". Throws std::invalid_argument for others.
cudnnMathType_t LegacyMath(const std::string& name);

struct LegacyProposal {
  int algorithm;
  cudnnMathType_t math;
  std::size_t workspace_bytes;
};

// One problem. Sums are in float32 for float32 and the 16-bit types, in float64 for float64, in int32 for
// int8. All functions throw CudnnFailure. Belongs to the thread of its handle; table and handle must outlive
// it.
class LegacyConvolution {
 public:
  // Different pads at both ends of an axis cannot be described: that is unsupported.
  LegacyConvolution(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem, DataType type,
                    Layout layout);
  ~LegacyConvolution();
  LegacyConvolution(const LegacyConvolution&) = delete;
  LegacyConvolution& operator=(const LegacyConvolution&) = delete;

  void SetMath(cudnnMathType_t math);
  // What cudnnGetConvolution...Algorithm_v7 proposes, best first; those it rules out itself are left out.
  // With `memory`, what cudnnFindConvolution...AlgorithmEx found by running them there: it overwrites y.
  std::vector<LegacyProposal> Proposals(const VariantPack* memory = nullptr) const;
  // The function that Proposals asks, for messages.
  const char* ProposalCall(bool search) const;
  std::size_t WorkspaceBytes(int algorithm) const;
  // y from a and b, all in device memory; asynchronous.
  void Run(int algorithm, const VariantPack& memory) const;
  const Problem& problem() const { return problem_; }
  // Asks the library for the size of the output. Another one than the shape's is a CudnnFailure.
  void RequireOutputSize() const;

 private:
  void SetTensor(cudnnTensorDescriptor_t descriptor, const Tensor& tensor);
  void SetFilterAndConvolution();
  void Require(cudnnStatus_t status, const char* call) const;
  void Destroy();

  const CudnnApi& api_;
  cudnnHandle_t handle_;
  const Problem problem_;
  const DataType type_;
  const Layout layout_;
  // Of x or dx, y or dy, w or dw.
  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnFilterDescriptor_t w_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
};

// The algorithms that a matrix asks for: one by its name, "auto" for what the library proposes, "find" for
// what it finds by running them in memory that is asked for then, or "every" for all. `math` is "default",
// "fma" or "tensor"; proposals come with the math type they were made for, unless one is asked for. Of a
// shape that is not `possible` the library is not asked for the output's size.
Candidates LegacyCandidates(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem, DataType type,
                            Layout layout, const std::string& choice, const std::string& math,
                            const SearchMemory& search_memory, bool possible = true);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_LEGACY_LEGACY_API_H_
