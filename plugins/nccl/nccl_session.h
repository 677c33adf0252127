// This process's session with NCCL: a device session and a communicator of one rank.
#ifndef CUDNN_CI_PLUGINS_NCCL_NCCL_SESSION_H_
#define CUDNN_CI_PLUGINS_NCCL_NCCL_SESSION_H_

#include <string>

#include "common/device_session.h"
#include "nccl/nccl_api.h"

namespace cudnn_ci {

class NcclSession : public DeviceSession {
 public:
  // Made at the first call, by its thread, on the device of that number; the context is current then. Throws
  // std::runtime_error naming the call that failed, and then tries again at the next call.
  static NcclSession& Get(int device = 0);

  const NcclApi& nccl() const { return nccl_; }
  const std::string& version() const { return version_; }
  std::string LibraryText() const override { return text_; }
  // Made at the first call.
  NcclApi::Comm OneRank();
  // "9.0".
  std::string ComputeCapability() const;

 private:
  NcclSession() = default;
  void Open(int device);
  // A call that is recorded needs a stream that NCCL may hold back: its kernels have names that tell nothing.
  bool HasStreams() const override { return false; }
  std::string SetStream(CUstream) override { return "NCCL is given a stream at each call"; }

  NcclApi nccl_;
  std::string version_, text_;
  int device_ = 0;
  NcclApi::Comm one_rank_ = nullptr;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_NCCL_SESSION_H_
