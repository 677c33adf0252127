// Device memory for one operation at a time, with guard zones around every buffer. Goes through the
// driver API on the primary context, which CUDA's runtime shares. Must not know any operation or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_DEVICE_BUFFERS_H_
#define CUDNN_CI_PLUGINS_COMMON_DEVICE_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/driver_api.h"

namespace cudnn_ci {

struct BufferSpec {
  enum class Role { kInput, kOutput, kWorkspace };
  std::string name;  // for messages
  std::size_t bytes = 0;
  Role role = Role::kInput;
  std::uint32_t fill = 0;  // of an output: the word it holds before (common/numeric/fill.h)
  std::size_t guard = 0;   // bytes that are guarded at either side of it, where that is more than the usual
};

// One allocation that holds guard, buffer, guard, buffer, ..., guard. Buffers begin at multiples of 256
// bytes, as every allocation of CUDA does; the guard behind one begins at its very end. The allocation is
// kept for the next operation and grows with need. One thread at a time, with the context current. All
// functions but Reserve throw std::runtime_error naming the driver's call.
class DeviceBuffers {
 public:
  // The table must outlive this object. Nothing is freed at the end: the process's context goes first.
  explicit DeviceBuffers(const DriverApi& api) : api_(api) {}
  DeviceBuffers(const DeviceBuffers&) = delete;
  DeviceBuffers& operator=(const DeviceBuffers&) = delete;

  // Bytes that Reserve needs for these buffers, guards included.
  static std::size_t BytesFor(const std::vector<BufferSpec>& specs);
  // Bytes held now.
  std::size_t held() const { return held_; }

  // Lays out the buffers and fills everything but inputs: outputs with their words, workspaces with NaNs,
  // guards with their pattern. Not success: the driver's answer to the allocation; nothing is held then.
  CUresult Reserve(const std::vector<BufferSpec>& specs);
  // Fills an output with this word, or a workspace as before, for a run that follows another.
  void FillAgain(std::size_t buffer, std::uint32_t output_word) { FillBuffer(buffer, output_word); }
  // Whether the inputs still hold what was uploaded before the last Reserve: they lie where they lay.
  bool inputs_kept() const { return inputs_kept_; }
  // Gives the memory back if more than `bytes` are held.
  void Trim(std::size_t bytes);

  // A buffer, by its place in the specs. Its address is null for an empty one.
  void* Pointer(std::size_t buffer) const;
  void Upload(std::size_t buffer, const void* from);
  void Download(std::size_t buffer, void* to) const;
  // Which guard bytes no longer hold their pattern, in words; empty if all do.
  std::string TouchedGuards() const;

 private:
  struct Guard {
    std::size_t begin, end;  // offsets into the allocation
    unsigned char pattern;
  };
  void LayOut(const std::vector<BufferSpec>& specs);
  void FillBuffer(std::size_t buffer, std::uint32_t output_word);
  void Free();

  const DriverApi& api_;
  CUdeviceptr base_ = 0;
  std::size_t held_ = 0;
  bool inputs_kept_ = false;
  std::vector<BufferSpec> specs_;
  std::vector<std::size_t> offsets_;
  std::vector<Guard> guards_;  // guards_[i] lies before buffer i, the last one behind all
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_DEVICE_BUFFERS_H_
