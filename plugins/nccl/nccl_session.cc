// The session is never taken down, as common/session.cc says.
#include "nccl/nccl_session.h"

#include <memory>
#include <stdexcept>

namespace cudnn_ci {

NcclSession& NcclSession::Get(int device) {
  static NcclSession* session = nullptr;
  if (!session) {
    std::unique_ptr<NcclSession> fresh(new NcclSession);
    fresh->Open(device);
    session = fresh.release();
  }
  session->MakeCurrent();
  return *session;
}

void NcclSession::Open(int device) {
  device_ = device;
  OpenDriver(device);
  if (!nccl_.Load()) throw std::runtime_error(nccl_.error());
  version_ = nccl_.Version();
  text_ = nccl_.Text();
  OpenEvents();
}

NcclApi::Comm NcclSession::OneRank() {
  if (!one_rank_) one_rank_ = nccl_.Init(1, nccl_.UniqueId(), 0);
  return one_rank_;
}

std::string NcclSession::ComputeCapability() const {
  CUdevice device = 0;
  int major = 0, minor = 0;
  driver().Require(driver().DeviceGet(&device, device_), "cuDeviceGet");
  for (const auto& [value, attribute] : {std::pair{&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
                                         std::pair{&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR}})
    driver().Require(driver().DeviceGetAttribute(value, attribute, device), "cuDeviceGetAttribute");
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace cudnn_ci
