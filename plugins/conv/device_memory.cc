// Layout, fills and guards of the device buffers. Knows no convolution.
#include "conv/device_memory.h"

#include <algorithm>
#include <cstdint>

#include "conv/fill.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kGuardBytes = 4096;
// Behind outputs a pattern that a stray NaN would not restore.
constexpr unsigned char kPatternByte = 0xA5;

constexpr const char* kNames[kBufferCount] = {"x", "w", "y", "workspace"};

std::size_t AlignUp(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

std::size_t DeviceMemory::BytesFor(const BufferSizes& sizes) {
  std::size_t bytes = kGuardBytes;
  for (const std::size_t size : sizes) bytes = AlignUp(bytes + size + kGuardBytes);
  return bytes;
}

CUresult DeviceMemory::Reserve(const BufferSizes& sizes) {
  const std::size_t bytes = BytesFor(sizes);
  if (bytes > held_) {
    Free();
    const CUresult result = api_.MemAlloc(&base_, bytes);
    if (result != CUDA_SUCCESS) {
      base_ = 0;
      return result;
    }
    held_ = bytes;
  }
  sizes_ = sizes;
  guards_.clear();
  std::size_t at = 0;
  for (std::size_t i = 0; i < kBufferCount; ++i) {
    offsets_[i] = AlignUp(at + kGuardBytes);
    guards_.push_back({at, offsets_[i], i <= kOutput ? kNanByte : kPatternByte});
    at = offsets_[i] + sizes[i];
  }
  guards_.push_back({at, at + kGuardBytes, kPatternByte});
  // The words may reach past an output of odd size; its guard is filled after it.
  const std::uint32_t words = kUnwrittenWord * 0x10001u;
  api_.Require(api_.MemsetD32(base_ + offsets_[kOutput], words, (sizes[kOutput] + 3) / 4), "cuMemsetD32");
  if (sizes[kWorkspace] > 0)
    api_.Require(api_.MemsetD8(base_ + offsets_[kWorkspace], kNanByte, sizes[kWorkspace]), "cuMemsetD8");
  for (const Guard& g : guards_)
    api_.Require(api_.MemsetD8(base_ + g.begin, g.pattern, g.end - g.begin), "cuMemsetD8");
  return CUDA_SUCCESS;
}

void DeviceMemory::Free() {
  const CUdeviceptr base = base_;
  base_ = 0;
  held_ = 0;
  if (base) api_.Require(api_.MemFree(base), "cuMemFree");
}

void DeviceMemory::Trim(std::size_t bytes) {
  if (held_ > bytes) Free();
}

void* DeviceMemory::Pointer(BufferName name) const {
  return sizes_[name] == 0 ? nullptr : reinterpret_cast<void*>(base_ + offsets_[name]);
}

void DeviceMemory::Upload(BufferName name, const void* from) {
  api_.Require(api_.MemcpyHtoD(base_ + offsets_[name], from, sizes_[name]), "cuMemcpyHtoD");
}

void DeviceMemory::Download(BufferName name, void* to) const {
  api_.Require(api_.MemcpyDtoH(to, base_ + offsets_[name], sizes_[name]), "cuMemcpyDtoH");
}

std::string DeviceMemory::TouchedGuards() const {
  std::string touched;
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i < guards_.size(); ++i) {
    const Guard& g = guards_[i];
    bytes.resize(g.end - g.begin);
    api_.Require(api_.MemcpyDtoH(bytes.data(), base_ + g.begin, bytes.size()), "cuMemcpyDtoH");
    const auto wrong = [&g](unsigned char b) { return b != g.pattern; };
    const auto first = std::find_if(bytes.begin(), bytes.end(), wrong);
    if (first == bytes.end()) continue;
    const auto last = std::find_if(bytes.rbegin(), bytes.rend(), wrong);
    if (!touched.empty()) touched += "; ";
    touched += std::to_string(std::count_if(first, bytes.end(), wrong)) + " bytes written";
    if (i > 0)
      touched += ", the first " + std::to_string(first - bytes.begin()) + " bytes behind the end of " +
                 kNames[i - 1];
    if (i < kBufferCount)
      touched += ", the last " + std::to_string(last - bytes.rbegin() + 1) + " bytes before the start of " +
                 kNames[i];
  }
  return touched;
}

}  // namespace cudnn_ci
