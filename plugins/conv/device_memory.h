// Device memory for one convolution at a time, with guard zones around every buffer. Goes through the
// driver API on the primary context, which cuDNN's runtime shares. Must not know convolutions or the SDK.
#ifndef CUDNN_CI_PLUGINS_CONV_DEVICE_MEMORY_H_
#define CUDNN_CI_PLUGINS_CONV_DEVICE_MEMORY_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "common/driver_api.h"

namespace cudnn_ci {

enum BufferName { kInput, kFilter, kOutput, kWorkspace, kBufferCount };
using BufferSizes = std::array<std::size_t, kBufferCount>;  // bytes

// One allocation that holds guard, x, guard, w, guard, y, guard, workspace, guard. Buffers begin at
// multiples of 256 bytes, as every allocation of CUDA does; the guard behind one begins at its very end.
// The allocation is kept for the next convolution and grows with need. One thread at a time, with the
// context current. All functions but Reserve throw std::runtime_error naming the driver's call.
class DeviceMemory {
 public:
  // The table must outlive this object. Nothing is freed at the end: the process's context goes first.
  explicit DeviceMemory(const DriverApi& api) : api_(api) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Bytes that Reserve needs for these buffers, guards included.
  static std::size_t BytesFor(const BufferSizes& sizes);
  // Bytes held now.
  std::size_t held() const { return held_; }

  // Lays out the buffers and fills everything: output and workspace with NaNs, guards with their
  // pattern. Not success: the driver's answer to the allocation; nothing is held then.
  CUresult Reserve(const BufferSizes& sizes);
  // Gives the memory back if more than `bytes` are held.
  void Trim(std::size_t bytes);

  // The buffer's address; null for an empty one.
  void* Pointer(BufferName name) const;
  void Upload(BufferName name, const void* from);
  void Download(BufferName name, void* to) const;
  // Which guard bytes no longer hold their pattern, in words; empty if all do.
  std::string TouchedGuards() const;

 private:
  struct Guard {
    std::size_t begin, end;  // offsets into the allocation
    unsigned char pattern;
  };
  void Free();

  const DriverApi& api_;
  CUdeviceptr base_ = 0;
  std::size_t held_ = 0;
  BufferSizes sizes_{}, offsets_{};
  std::vector<Guard> guards_;  // guards_[i] lies before buffer i, the last one behind all
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_DEVICE_MEMORY_H_
