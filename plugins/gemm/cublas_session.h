// This process's session with cuBLASLt and cuBLAS: a device session and the libraries' handles.
#ifndef CUDNN_CI_PLUGINS_GEMM_CUBLAS_SESSION_H_
#define CUDNN_CI_PLUGINS_GEMM_CUBLAS_SESSION_H_

#include <string>
#include <vector>

#include "common/cublaslt_api.h"
#include "common/device_session.h"
#include "common/promise.h"
#include "gemm/cublas_api.h"

namespace cudnn_ci {

class CublasSession : public DeviceSession {
 public:
  // Made at the first call, by its thread. Throws std::runtime_error naming the call that failed, and then
  // tries again at the next call. Makes the context current. What computes is cuBLASLt, until UseCublas.
  static CublasSession& Get(const Promise& promise, const std::vector<std::string>& subject_folders);
  // Loads cuBLAS, which computes from now on. Its load() says why where it could not: of one that is there
  // and broken toolkit.runtime speaks first, and each call of it throws MissingSymbol.
  CublasApi& UseCublas(const Promise& promise, const std::vector<std::string>& subject_folders);

  const CublasLtApi& lt() const { return lt_; }
  const CublasApi& cublas() const { return cublas_; }
  // Of cuBLASLt.
  const std::string& version() const { return version_; }
  std::string LibraryText() const override;
  // What products run on; null: the default stream.
  CUstream stream() const { return stream_; }

 private:
  CublasSession() = default;
  void Open(const Promise& promise, const std::vector<std::string>& subject_folders);
  bool HasStreams() const override { return true; }
  std::string SetStream(CUstream stream) override;

  CublasLtApi lt_;
  CublasApi cublas_;
  bool uses_cublas_ = false;
  std::string version_;
  CUstream stream_ = nullptr;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_CUBLAS_SESSION_H_
