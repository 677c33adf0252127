// This process's session with cuDNN: a device session and the library's handle. Must not know any operation.
#ifndef CUDNN_CI_PLUGINS_COMMON_SESSION_H_
#define CUDNN_CI_PLUGINS_COMMON_SESSION_H_

#include <string>
#include <vector>

#include "common/cudnn_api.h"
#include "common/device_session.h"

namespace cudnn_ci {

class Session : public DeviceSession {
 public:
  // This process's session, with the first of these majors of cuDNN (CudnnMajors) that there is; made at the
  // first call, by its thread. Throws std::runtime_error naming the call that failed, and then tries again at
  // the next call. Makes the context current.
  static Session& Get(const std::vector<int>& cudnn_majors);

  const CudnnApi& cudnn() const { return cudnn_; }
  cudnnHandle_t handle() const { return handle_; }
  std::string LibraryText() const override;

 private:
  Session() = default;
  void Open(const std::vector<int>& cudnn_majors);
  bool HasStreams() const override;
  std::string SetStream(CUstream stream) override;

  CudnnApi cudnn_;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_SESSION_H_
