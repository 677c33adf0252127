// What the cases of one process that compute on a device share: the driver's primary context, device memory
// and host buffers. Creating them costs more than most cases. Nothing in here can be seen by a later case:
// all memory is filled anew for each. Knows no operation and no library above the driver.
#ifndef CUDNN_CI_PLUGINS_COMMON_DEVICE_SESSION_H_
#define CUDNN_CI_PLUGINS_COMMON_DEVICE_SESSION_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

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

// One thread at a time, with the context current. Functions throw DriverError naming the driver's call.
class DeviceSession {
 public:
  virtual ~DeviceSession() = default;
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;

  const DriverApi& driver() const { return driver_; }
  DeviceBuffers& memory() { return memory_; }
  // The library that computes: "cuDNN 9.19.0 (/usr/lib/libcudnn.so.9)".
  virtual std::string LibraryText() const = 0;

  // From now on this process counts on `most` bytes of device memory at most: others use the rest, and will
  // allocate it. 0: it is alone.
  static void LimitMemory(std::size_t most);
  static bool IsShared();
  // Bytes free on the device, counting what memory() holds, within LimitMemory.
  std::size_t FreeBytes() const;
  void Synchronize() const;
  // Runs `work` on the default stream and returns the milliseconds it took on the device.
  double Milliseconds(const std::function<void()>& work) const;
  // The names of the kernels that `run` launches through the library (KernelNameOf), which it does not run:
  // it is recorded (launch_capture.h). It has run before, so that all is loaded and made. Empty where they
  // cannot be told, with "others without a name" behind them where some cannot; the library and the context
  // are as before. Throws DriverError where they are not: the process is done. It takes as long as the
  // launches do.
  std::vector<std::string> KernelsOf(const std::function<void()>& run);
  // Gives back what would be missed if another process needed it. Called after each case.
  void Trim();
  // The buffer of input `place` as it was uploaded; made when it is first asked for.
  HostBuffer& input(std::size_t place);

 protected:
  DeviceSession() : context_(driver_), memory_(driver_), readback(driver_), repeated(driver_) {}
  // Loads the driver, makes the context of the device of that number, and the events. Throws
  // std::runtime_error naming the call that failed.
  void OpenDriver(int ordinal = 0);
  void OpenEvents();
  void MakeCurrent() const;
  // Has the library launch on this stream, null: the default one. Empty, or what it answered; it may lack the
  // function, which can be seen before anything is made.
  virtual bool HasStreams() const = 0;
  virtual std::string SetStream(CUstream stream) = 0;

 private:
  DriverApi driver_;
  PrimaryContext context_;
  CUevent start_ = nullptr, stop_ = nullptr;
  CUstream recorded_ = nullptr;  // the stream that launches are recorded from
  bool records_ = true;          // false: tried, and the driver or the library will not have it
  DeviceBuffers memory_;
  std::deque<HostBuffer> inputs_;

 public:
  HostBuffer readback, repeated;  // behind the table that they use
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_DEVICE_SESSION_H_
