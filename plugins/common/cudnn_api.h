// cuDNN's legacy API and its graph API, bound at run time, for cuDNN 8 and 9 alike. Only types and prototypes
// come from cudnn.h. Judges nothing; must not know the SDK's Context or any check.
#ifndef CUDNN_CI_PLUGINS_COMMON_CUDNN_API_H_
#define CUDNN_CI_PLUGINS_COMMON_CUDNN_API_H_

#include <cudnn.h>

#include <cstddef>
#include <string>
#include <vector>

#include "common/late_function.h"
#include "common/promise.h"

namespace cudnn_ci {

// The type of a function that cudnn.h declares, by the name a caller writes; never a reference to it.
#define CUDNN_CI_CUDNN_FUNCTION(member) LateFunction<decltype(::cudnn##member)> member

// "9.19.0" of what cudnnGetVersion gives: 91900, or 8907 for 8.9.7.
std::string CudnnVersionText(std::size_t version);

// The majors known here, in the order in which a judge looks for one: those that a subject has in folders of
// its own, those that the contract promises, newest first.
std::vector<int> CudnnMajors(const Promise& promise, const std::vector<std::string>& subject_folders);

// A table of cuDNN's functions. Members are called like functions, cudnnCreate as `api.Create(...)`;
// one that the library lacks throws MissingSymbol. As thread-safe as cuDNN: a handle belongs to one
// thread at a time.
class CudnnApi {
 public:
  // Loads libcudnn.so of the first of these majors (CudnnMajors) that there is, as ld.so would: one that is
  // broken is never replaced by the next. False: error() has the loader's text. Calls no function of the
  // library. Loading twice is harmless.
  bool Load(const std::vector<int>& majors);
  // Loads this file or soname alone.
  bool LoadFile(const std::string& name);
  bool loaded() const { return library_.loaded(); }
  const std::string& error() const { return error_; }
  // The file that was loaded, as the loader recorded it (links not followed); empty if none was.
  std::string path() const { return library_.Path(); }

  // The version the library itself states, as it codes it: 8907 is 8.9.7, 91900 is 9.19.0. 0: it is not
  // loaded or has no cudnnGetVersion.
  std::size_t version() const;
  // 8 or 9; 0 when the version is unknown.
  int major() const;
  // "9.19.0"; "unknown" when the version is.
  std::string VersionText() const;

  // "3000 CUDNN_STATUS_NOT_SUPPORTED: <text of the last error>" in the words of the library that
  // answered; only cuDNN 9 has a text of the last error, and reading it clears it. Numbers mean
  // different things in 8 and 9, so the names of cudnn.h are never used.
  std::string Describe(cudnnStatus_t status) const;
  // Throws std::runtime_error "cudnnCreate: 1001 CUDNN_STATUS_NOT_INITIALIZED: ..." unless `status` is
  // success, which is 0 in every version.
  void Require(cudnnStatus_t status, const char* call) const;
  // True if the library answered that it does not offer what was asked, or not on this GPU: 9 and 6 in cuDNN
  // 8, 3000 to 3999 in 9, less the codes there that speak of a broken installation or a driver that does not
  // fit (3005, 3006, 3008, 3009).
  // https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html
  bool IsUnsupported(cudnnStatus_t status) const;

  CUDNN_CI_CUDNN_FUNCTION(GetVersion);
  CUDNN_CI_CUDNN_FUNCTION(GetCudartVersion);
  CUDNN_CI_CUDNN_FUNCTION(GetErrorString);
  // By hand: not every cudnn.h declares them. Optional: older libraries lack them.
  LateFunction<std::size_t()> GetMaxDeviceVersion;
  LateFunction<void(char*, std::size_t)> GetLastErrorString;
  // Since 9.0. Each loads that sub-library and says whether it is of the main library's version.
  LateFunction<cudnnStatus_t()> GraphVersionCheck, OpsVersionCheck, CnnVersionCheck, AdvVersionCheck;

  CUDNN_CI_CUDNN_FUNCTION(Create);
  CUDNN_CI_CUDNN_FUNCTION(Destroy);
  CUDNN_CI_CUDNN_FUNCTION(SetStream);
  CUDNN_CI_CUDNN_FUNCTION(GetStream);
  CUDNN_CI_CUDNN_FUNCTION(CreateTensorDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(SetTensor4dDescriptorEx);
  CUDNN_CI_CUDNN_FUNCTION(SetTensorNdDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(DestroyTensorDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(CreateFilterDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(SetFilter4dDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(SetFilterNdDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(DestroyFilterDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(CreateConvolutionDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(SetConvolution2dDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(SetConvolutionNdDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(SetConvolutionGroupCount);
  CUDNN_CI_CUDNN_FUNCTION(SetConvolutionMathType);
  CUDNN_CI_CUDNN_FUNCTION(DestroyConvolutionDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(GetConvolutionNdForwardOutputDim);
  CUDNN_CI_CUDNN_FUNCTION(GetConvolutionForwardWorkspaceSize);
  CUDNN_CI_CUDNN_FUNCTION(GetConvolutionForwardAlgorithm_v7);
  CUDNN_CI_CUDNN_FUNCTION(FindConvolutionForwardAlgorithmEx);
  CUDNN_CI_CUDNN_FUNCTION(ConvolutionForward);
  CUDNN_CI_CUDNN_FUNCTION(GetConvolutionBackwardDataWorkspaceSize);
  CUDNN_CI_CUDNN_FUNCTION(GetConvolutionBackwardDataAlgorithm_v7);
  CUDNN_CI_CUDNN_FUNCTION(FindConvolutionBackwardDataAlgorithmEx);
  CUDNN_CI_CUDNN_FUNCTION(ConvolutionBackwardData);
  CUDNN_CI_CUDNN_FUNCTION(GetConvolutionBackwardFilterWorkspaceSize);
  CUDNN_CI_CUDNN_FUNCTION(GetConvolutionBackwardFilterAlgorithm_v7);
  CUDNN_CI_CUDNN_FUNCTION(FindConvolutionBackwardFilterAlgorithmEx);
  CUDNN_CI_CUDNN_FUNCTION(ConvolutionBackwardFilter);
  // The graph API, the same calls from 8.0 on.
  CUDNN_CI_CUDNN_FUNCTION(BackendCreateDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(BackendDestroyDescriptor);
  CUDNN_CI_CUDNN_FUNCTION(BackendSetAttribute);
  CUDNN_CI_CUDNN_FUNCTION(BackendGetAttribute);
  CUDNN_CI_CUDNN_FUNCTION(BackendFinalize);
  CUDNN_CI_CUDNN_FUNCTION(BackendExecute);

 private:
  void Bind();
  LateLibrary library_;
  std::string error_;
};

#undef CUDNN_CI_CUDNN_FUNCTION

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_CUDNN_API_H_
