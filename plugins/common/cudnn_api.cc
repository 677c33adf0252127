// The binding of cuDNN's legacy API and its error texts. Knows symbol names and nothing of checks.
#include "common/cudnn_api.h"

#include <algorithm>
#include <stdexcept>

#include "common/loader_path.h"
#include "image/contents/cudnn_files.h"

namespace cudnn_ci {
namespace {

// cudnnGetLastErrorString cuts its text to the buffer. Texts of cuDNN 9 reach about 500 bytes.
constexpr std::size_t kMaxErrorText = 2048;

// cuDNN codes versions as 1000 * major before 9 and as 10000 * major from 9 on.
constexpr std::size_t kFirstVersionOf9 = 90000;

}  // namespace

std::string CudnnVersionText(std::size_t version) {
  const std::size_t unit = version >= kFirstVersionOf9 ? 10000 : 1000;
  return std::to_string(version / unit) + "." + std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

std::vector<int> CudnnMajors(const Promise& promise, const std::vector<std::string>& subject_folders) {
  return OwnFirst(PromisedFirst(promise, {std::begin(kCudnnMajors), std::end(kCudnnMajors)}), subject_folders,
                  [](int major) { return CudnnSoname(major); });
}

bool CudnnApi::Load(const std::vector<int>& majors) {
  std::string errors;
  for (const int major : majors) {
    const std::string name = CudnnSoname(major);
    if (LoadFile(name)) return true;
    errors += (errors.empty() ? "" : "; ") + error_;
    if (!IsNotFound(name, error_)) break;
  }
  error_ = errors;
  return false;
}

bool CudnnApi::LoadFile(const std::string& name) {
  if (!library_.Open(name)) {
    error_ = library_.error();
    return false;
  }
  error_.clear();
  Bind();
  return true;
}

std::size_t CudnnApi::version() const { return GetVersion ? GetVersion() : 0; }

int CudnnApi::major() const {
  const std::size_t v = version();
  return static_cast<int>(v >= kFirstVersionOf9 ? v / 10000 : v / 1000);
}

std::string CudnnApi::VersionText() const {
  const std::size_t v = version();
  return v == 0 ? "unknown" : CudnnVersionText(v);
}

std::string CudnnApi::Describe(cudnnStatus_t status) const {
  std::string text = std::to_string(static_cast<int>(status));
  if (GetErrorString) {
    const char* name = GetErrorString(status);
    if (name) text += std::string(" ") + name;
  }
  if (GetLastErrorString && status != CUDNN_STATUS_SUCCESS) {
    char last[kMaxErrorText] = "";
    GetLastErrorString(last, sizeof last - 1);
    if (last[0] != '\0') text += std::string(": ") + last;
  }
  return text;
}

void CudnnApi::Require(cudnnStatus_t status, const char* call) const {
  if (status != CUDNN_STATUS_SUCCESS) throw std::runtime_error(std::string(call) + ": " + Describe(status));
}

bool CudnnApi::IsUnsupported(cudnnStatus_t status) const {
  const int code = static_cast<int>(status);
  // 6 is ARCH_MISMATCH, which became 3007.
  if (major() < 9) return code == 9 || code == 6;
  const bool broken_stack = code == 3005 || code == 3006 || code == 3008 || code == 3009;
  return code >= 3000 && code < 4000 && !broken_stack;
}

void CudnnApi::Bind() {
  GetVersion.Bind(library_, "cudnnGetVersion");
  GetCudartVersion.Bind(library_, "cudnnGetCudartVersion");
  GetErrorString.Bind(library_, "cudnnGetErrorString");
  GetMaxDeviceVersion.Bind(library_, "cudnnGetMaxDeviceVersion");
  GetLastErrorString.Bind(library_, "cudnnGetLastErrorString");
  GraphVersionCheck.Bind(library_, "cudnnGraphVersionCheck");
  OpsVersionCheck.Bind(library_, "cudnnOpsVersionCheck");
  CnnVersionCheck.Bind(library_, "cudnnCnnVersionCheck");
  AdvVersionCheck.Bind(library_, "cudnnAdvVersionCheck");
  Create.Bind(library_, "cudnnCreate");
  Destroy.Bind(library_, "cudnnDestroy");
  SetStream.Bind(library_, "cudnnSetStream");
  GetStream.Bind(library_, "cudnnGetStream");
  CreateTensorDescriptor.Bind(library_, "cudnnCreateTensorDescriptor");
  SetTensor4dDescriptorEx.Bind(library_, "cudnnSetTensor4dDescriptorEx");
  SetTensorNdDescriptor.Bind(library_, "cudnnSetTensorNdDescriptor");
  DestroyTensorDescriptor.Bind(library_, "cudnnDestroyTensorDescriptor");
  CreateFilterDescriptor.Bind(library_, "cudnnCreateFilterDescriptor");
  SetFilter4dDescriptor.Bind(library_, "cudnnSetFilter4dDescriptor");
  SetFilterNdDescriptor.Bind(library_, "cudnnSetFilterNdDescriptor");
  DestroyFilterDescriptor.Bind(library_, "cudnnDestroyFilterDescriptor");
  CreateConvolutionDescriptor.Bind(library_, "cudnnCreateConvolutionDescriptor");
  SetConvolution2dDescriptor.Bind(library_, "cudnnSetConvolution2dDescriptor");
  SetConvolutionNdDescriptor.Bind(library_, "cudnnSetConvolutionNdDescriptor");
  SetConvolutionGroupCount.Bind(library_, "cudnnSetConvolutionGroupCount");
  SetConvolutionMathType.Bind(library_, "cudnnSetConvolutionMathType");
  DestroyConvolutionDescriptor.Bind(library_, "cudnnDestroyConvolutionDescriptor");
  GetConvolutionNdForwardOutputDim.Bind(library_, "cudnnGetConvolutionNdForwardOutputDim");
  GetConvolutionForwardWorkspaceSize.Bind(library_, "cudnnGetConvolutionForwardWorkspaceSize");
  GetConvolutionForwardAlgorithm_v7.Bind(library_, "cudnnGetConvolutionForwardAlgorithm_v7");
  FindConvolutionForwardAlgorithmEx.Bind(library_, "cudnnFindConvolutionForwardAlgorithmEx");
  ConvolutionForward.Bind(library_, "cudnnConvolutionForward");
  GetConvolutionBackwardDataWorkspaceSize.Bind(library_, "cudnnGetConvolutionBackwardDataWorkspaceSize");
  GetConvolutionBackwardDataAlgorithm_v7.Bind(library_, "cudnnGetConvolutionBackwardDataAlgorithm_v7");
  FindConvolutionBackwardDataAlgorithmEx.Bind(library_, "cudnnFindConvolutionBackwardDataAlgorithmEx");
  ConvolutionBackwardData.Bind(library_, "cudnnConvolutionBackwardData");
  GetConvolutionBackwardFilterWorkspaceSize.Bind(library_, "cudnnGetConvolutionBackwardFilterWorkspaceSize");
  GetConvolutionBackwardFilterAlgorithm_v7.Bind(library_, "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
  FindConvolutionBackwardFilterAlgorithmEx.Bind(library_, "cudnnFindConvolutionBackwardFilterAlgorithmEx");
  ConvolutionBackwardFilter.Bind(library_, "cudnnConvolutionBackwardFilter");
  BackendCreateDescriptor.Bind(library_, "cudnnBackendCreateDescriptor");
  BackendDestroyDescriptor.Bind(library_, "cudnnBackendDestroyDescriptor");
  BackendSetAttribute.Bind(library_, "cudnnBackendSetAttribute");
  BackendGetAttribute.Bind(library_, "cudnnBackendGetAttribute");
  BackendFinalize.Bind(library_, "cudnnBackendFinalize");
  BackendExecute.Bind(library_, "cudnnBackendExecute");
}

}  // namespace cudnn_ci
