// The legacy API of cuDNN: descriptors, an algorithm by number, cudnnConvolutionForward. Translates a
// shape into calls and judges nothing; must not know the SDK's Context or the oracle.
#ifndef CUDNN_CI_PLUGINS_CONV_LEGACY_API_H_
#define CUDNN_CI_PLUGINS_CONV_LEGACY_API_H_

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cudnn_api.h"
#include "conv/numeric.h"
#include "conv/shape.h"

namespace cudnn_ci {

// A call that cuDNN did not answer with success. what() is "cudnnX: 3000 CUDNN_STATUS_...: last error".
class CudnnFailure : public std::runtime_error {
 public:
  CudnnFailure(const std::string& text, bool unsupported)
      : std::runtime_error(text), unsupported_(unsupported) {}
  // The library said that it does not offer this, as opposed to having failed.
  bool unsupported() const { return unsupported_; }

 private:
  bool unsupported_;
};

// "implicit_gemm" is 0, ... Throws std::invalid_argument for an unknown name.
cudnnConvolutionFwdAlgo_t LegacyAlgorithm(const std::string& name);
// The name of a number; "algorithm 12" for an unknown one.
std::string LegacyAlgorithmName(cudnnConvolutionFwdAlgo_t algorithm);
// "default", "fma", "tensor". Throws std::invalid_argument for others.
cudnnMathType_t LegacyMath(const std::string& name);

struct LegacyProposal {
  cudnnConvolutionFwdAlgo_t algorithm;
  cudnnMathType_t math;
};

// One forward convolution: float32 accumulates float32 and both 16-bit types, float64 itself. All
// functions throw CudnnFailure. Belongs to the thread of its handle; table and handle must outlive it.
class LegacyForward {
 public:
  LegacyForward(const CudnnApi& api, cudnnHandle_t handle, const ConvShape& shape, DataType type,
                Layout layout);
  ~LegacyForward();
  LegacyForward(const LegacyForward&) = delete;
  LegacyForward& operator=(const LegacyForward&) = delete;

  void SetMath(cudnnMathType_t math);
  // What cudnnGetConvolutionForwardAlgorithm_v7 proposes, best first; those it rules out itself are left out.
  std::vector<LegacyProposal> Proposals() const;
  std::size_t WorkspaceBytes(cudnnConvolutionFwdAlgo_t algorithm) const;
  // y = conv(x, w), all in device memory; asynchronous. `workspace` may be null if bytes is 0.
  void Run(cudnnConvolutionFwdAlgo_t algorithm, const void* x, const void* w, void* y, void* workspace,
           std::size_t workspace_bytes) const;

 private:
  void SetTensor(cudnnTensorDescriptor_t descriptor, std::int64_t channels, const Axes& sizes);
  void SetFilterAndConvolution();
  void CheckOutputSize() const;
  void Require(cudnnStatus_t status, const char* call) const;
  void Destroy();

  const CudnnApi& api_;
  cudnnHandle_t handle_;
  const ConvShape shape_;
  const DataType type_;
  const Layout layout_;
  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnFilterDescriptor_t w_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_LEGACY_API_H_
