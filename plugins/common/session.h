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

// A host buffer that only grows: filling fresh pages would cost more than most transfers. Its pages are the
// driver's own (pinned) where it gives some, since it copies from and to others by way of those, at a
// fraction of the speed.
class HostBuffer {
 public:
  // The table must outlive this object.
  explicit HostBuffer(const DriverApi& api) : api_(api) {}
  ~HostBuffer() { Free(); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  // At least `bytes`, aligned for every element type. Contents are undefined.
  unsigned char* Get(std::size_t bytes);
  // What Get takes for so many bytes.
  static std::size_t SizeFor(std::size_t bytes);
  // How much more of that this process has behind it than before.
  std::size_t Growth(std::size_t bytes) const;
  // Gives the memory back if it is more than `bytes`.
  void Trim(std::size_t bytes);
  bool pinned() const { return pinned_; }

 private:
  void Free();
  const DriverApi& api_;
  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
  bool pinned_ = false;
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

  // From now on this process counts on `most` bytes of device memory at most: others use the rest, and will
  // allocate it. 0: it is alone.
  static void LimitMemory(std::size_t most);
  static bool InCompany();
  // Bytes free on the device, counting what memory() holds, within LimitMemory.
  std::size_t FreeBytes() const;
  void Synchronize() const;
  // Runs `work` on the default stream and returns the milliseconds it took on the device.
  double Milliseconds(const std::function<void()>& work) const;
  // The names of the kernels that `run` launches through the handle (KernelNameOf), which it does not run: it
  // is recorded (launch_capture.h). It has run before, so that all is loaded and made. Empty where they
  // cannot be told, with "others without a name" behind them where some cannot; the handle and the context
  // are as before. Throws DriverError where they are not: the process is done. It takes as long as the
  // launches do.
  std::vector<std::string> KernelsOf(const std::function<void()>& run);
  // Gives back what would be missed if another process needed it. Called after each case.
  void Trim();

 private:
  Session()
      : context_(driver_), memory_(driver_), a(driver_), b(driver_), readback(driver_), repeated(driver_) {}
  void Open(const std::vector<int>& cudnn_majors);

  DriverApi driver_;
  PrimaryContext context_;
  CudnnApi cudnn_;
  cudnnHandle_t handle_ = nullptr;
  CUevent start_ = nullptr, stop_ = nullptr;
  CUstream recorded_ = nullptr;  // the stream that launches are recorded from
  bool records_ = true;          // false: tried, and the driver or the handle will not have it
  DeviceBuffers memory_;

 public:
  HostBuffer a, b, readback, repeated;  // behind the table that they use
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_SESSION_H_
