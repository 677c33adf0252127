// The process's session. It is never taken down: at exit the order in which CUDA's libraries end is not
// ours, and the driver gives everything back anyway.
#include "common/session.h"

#include <memory>
#include <stdexcept>

namespace cudnn_ci {

Session& Session::Get(const std::vector<int>& cudnn_majors) {
  static Session* session = nullptr;
  if (!session) {
    std::unique_ptr<Session> fresh(new Session);
    fresh->Open(cudnn_majors);
    session = fresh.release();
  }
  // A case may come on another thread than the one before it.
  session->MakeCurrent();
  return *session;
}

void Session::Open(const std::vector<int>& cudnn_majors) {
  OpenDriver();
  if (!cudnn_.Load(cudnn_majors)) throw std::runtime_error("cuDNN: " + cudnn_.error());
  cudnn_.Require(cudnn_.Create(&handle_), "cudnnCreate");
  OpenEvents();
}

std::string Session::LibraryText() const {
  return "cuDNN " + cudnn_.VersionText() + " (" + cudnn_.path() + ")";
}

bool Session::HasStreams() const { return static_cast<bool>(cudnn_.SetStream); }

std::string Session::SetStream(CUstream stream) {
  const cudnnStatus_t answer = cudnn_.SetStream(handle_, stream);
  return answer == CUDNN_STATUS_SUCCESS ? "" : "cudnnSetStream: " + cudnn_.Describe(answer);
}

}  // namespace cudnn_ci
