// What the cases of one process share: the driver's primary context, the cuDNN handle, device memory and
// host buffers. Creating them costs more than most cases. Nothing in here can be seen by a later case:
// all memory is filled anew for each. Must not know any operation.
#ifndef CUDNN_CI_PLUGINS_COMMON_SESSION_H_
#define CUDNN_CI_PLUGINS_COMMON_SESSION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/cudnn_api.h"
#include "common/device_buffers.h"
#include "common/driver_api.h"

namespace cudnn_ci {

// A host buffer that only grows: filling fresh pages would cost more than most transfers.
class HostBuffer {
 public:
  // At least `bytes`, aligned for every element type. Contents are undefined.
  unsigned char* Get(std::size_t bytes);
  // Gives the memory back if it is more than `bytes`.
  void Trim(std::size_t bytes);

 private:
  std::unique_ptr<unsigned char[]> data_;
  std::size_t size_ = 0;
};

class Session {
 public:
  // This process's session, with the first of these majors of cuDNN (CudnnMajors) that there is; made at the
  // first call, by its thread. Throws std::runtime_error naming the
  // call that failed, and then tries again at the next call. Makes the context current.
  static Session& Get(const std::vector<int>& cudnn_majors);

  const DriverApi& driver() const { return driver_; }
  const CudnnApi& cudnn() const { return cudnn_; }
  cudnnHandle_t handle() const { return handle_; }
  DeviceBuffers& memory() { return memory_; }
  // "cuDNN 9.19.0 (/usr/lib/libcudnn.so.9)".
  std::string CudnnText() const;

  // Bytes free on the device, counting what memory() holds.
  std::size_t FreeBytes() const;
  void Synchronize() const;
  // Runs `work` on the default stream and returns the milliseconds it took on the device.
  double Milliseconds(const std::function<void()>& work) const;
  // Gives back what would be missed if another process needed it. Called after each case.
  void Trim();

  HostBuffer a, b, readback;

 private:
  Session() : context_(driver_), memory_(driver_) {}
  void Open(const std::vector<int>& cudnn_majors);

  DriverApi driver_;
  PrimaryContext context_;
  CudnnApi cudnn_;
  cudnnHandle_t handle_ = nullptr;
  CUevent start_ = nullptr, stop_ = nullptr;
  DeviceBuffers memory_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_SESSION_H_
