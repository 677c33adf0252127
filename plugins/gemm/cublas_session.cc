// The session is never taken down, as common/session.cc says.
#include "gemm/cublas_session.h"

#include <memory>
#include <stdexcept>

#include "common/loader_path.h"

namespace cudnn_ci {

CublasSession& CublasSession::Get(const Promise& promise, const std::vector<std::string>& subject_folders) {
  static CublasSession* session = nullptr;
  if (!session) {
    std::unique_ptr<CublasSession> fresh(new CublasSession);
    fresh->Open(promise, subject_folders);
    session = fresh.release();
  }
  session->MakeCurrent();
  return *session;
}

void CublasSession::Open(const Promise& promise, const std::vector<std::string>& subject_folders) {
  OpenDriver();
  if (!cublas_.Load(promise, subject_folders)) throw std::runtime_error("cuBLASLt: " + cublas_.load().error);
  cublas_.Create();
  version_ = cublas_.Version();
  OpenEvents();
}

std::string CublasSession::LibraryText() const {
  return "cuBLASLt " + version_ + " (" + RealPath(cublas_.path()) + ")";
}

std::string CublasSession::SetStream(CUstream stream) {
  stream_ = stream;
  return "";
}

}  // namespace cudnn_ci
