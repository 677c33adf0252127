// The session is never taken down, as common/session.cc says.
#include "gemm/cublas_session.h"

#include <memory>
#include <stdexcept>

#include "base/path.h"

namespace cudnn_ci {

CublasSession& CublasSession::Get(const Promise& promise, const std::vector<std::string>& subject_folders) {
  static CublasSession* session = nullptr;
  if (!session) {
    std::unique_ptr<CublasSession> fresh(new CublasSession);
    fresh->Open(promise, subject_folders);
    session = fresh.release();
  }
  session->MakeCurrent();
  session->uses_cublas_ = false;
  return *session;
}

void CublasSession::Open(const Promise& promise, const std::vector<std::string>& subject_folders) {
  OpenDriver();
  if (!lt_.Load(promise, subject_folders)) throw std::runtime_error("cuBLASLt: " + lt_.load().error);
  lt_.Create();
  version_ = lt_.Version();
  OpenEvents();
}

CublasApi& CublasSession::UseCublas(const Promise& promise, const std::vector<std::string>& subject_folders) {
  if (!cublas_.loaded()) cublas_.Load(promise, subject_folders);
  uses_cublas_ = cublas_.loaded();
  return cublas_;
}

std::string CublasSession::LibraryText() const {
  if (uses_cublas_) return "cuBLAS " + cublas_.Version() + " (" + RealPath(cublas_.path()) + ")";
  return "cuBLASLt " + version_ + " (" + RealPath(lt_.path()) + ")";
}

// cuBLAS keeps it in its handle.
std::string CublasSession::SetStream(CUstream stream) {
  stream_ = stream;
  try {
    if (cublas_.created()) cublas_.SetStream(stream);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

}  // namespace cudnn_ci
