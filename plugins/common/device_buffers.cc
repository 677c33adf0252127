// Layout, fills and guards of the device buffers. Knows no operation.
#include "common/device_buffers.h"

#include <algorithm>

#include "common/numeric/fill.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kGuardBytes = 4096;
// Between outputs and workspaces a pattern that a stray NaN would not restore.
constexpr unsigned char kPatternByte = 0xA5;

using Role = BufferSpec::Role;

std::size_t AlignUp(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool IsInput(const std::vector<BufferSpec>& specs, std::size_t i) {
  return i < specs.size() && specs[i].role == Role::kInput;
}

}  // namespace

std::size_t DeviceBuffers::BytesFor(const std::vector<BufferSpec>& specs) {
  std::size_t bytes = kGuardBytes;
  for (const BufferSpec& spec : specs) bytes = AlignUp(bytes + spec.bytes + kGuardBytes);
  return bytes;
}

CUresult DeviceBuffers::Reserve(const std::vector<BufferSpec>& specs) {
  const std::size_t bytes = BytesFor(specs);
  inputs_kept_ = bytes <= held_;
  if (bytes > held_) {
    Free();
    const CUresult result = api_.MemAlloc(&base_, bytes);
    if (result != CUDA_SUCCESS) {
      base_ = 0;
      return result;
    }
    held_ = bytes;
  }
  LayOut(specs);
  Fill();
  return CUDA_SUCCESS;
}

void DeviceBuffers::LayOut(const std::vector<BufferSpec>& specs) {
  std::vector<std::size_t> offsets;
  guards_.clear();
  std::size_t at = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    offsets.push_back(AlignUp(at + kGuardBytes));
    // A kernel might read beyond an input, and then shall find NaNs.
    const bool readable = IsInput(specs, i) || (i > 0 && IsInput(specs, i - 1));
    guards_.push_back({at, offsets[i], readable ? kNanByte : kPatternByte});
    at = offsets[i] + specs[i].bytes;
    if (specs[i].role != Role::kInput) continue;
    inputs_kept_ = inputs_kept_ && i < specs_.size() && specs_[i].role == Role::kInput &&
                   specs_[i].bytes == specs[i].bytes && offsets_[i] == offsets[i];
  }
  const bool readable = !specs.empty() && IsInput(specs, specs.size() - 1);
  guards_.push_back({at, at + kGuardBytes, readable ? kNanByte : kPatternByte});
  specs_ = specs;
  offsets_ = std::move(offsets);
}

void DeviceBuffers::Fill() {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const CUdeviceptr begin = base_ + offsets_[i];
    // The words may reach past an output of odd size; its guard is filled after it.
    if (specs_[i].role == Role::kOutput)
      api_.Require(api_.MemsetD32(begin, specs_[i].fill, (specs_[i].bytes + 3) / 4), "cuMemsetD32");
    if (specs_[i].role == Role::kWorkspace && specs_[i].bytes > 0)
      api_.Require(api_.MemsetD8(begin, kNanByte, specs_[i].bytes), "cuMemsetD8");
  }
  for (const Guard& g : guards_)
    api_.Require(api_.MemsetD8(base_ + g.begin, g.pattern, g.end - g.begin), "cuMemsetD8");
}

void DeviceBuffers::Free() {
  const CUdeviceptr base = base_;
  base_ = 0;
  held_ = 0;
  if (base) api_.Require(api_.MemFree(base), "cuMemFree");
}

void DeviceBuffers::Trim(std::size_t bytes) {
  if (held_ > bytes) Free();
}

void* DeviceBuffers::Pointer(std::size_t buffer) const {
  return specs_[buffer].bytes == 0 ? nullptr : reinterpret_cast<void*>(base_ + offsets_[buffer]);
}

void DeviceBuffers::Upload(std::size_t buffer, const void* from) {
  api_.Require(api_.MemcpyHtoD(base_ + offsets_[buffer], from, specs_[buffer].bytes), "cuMemcpyHtoD");
}

void DeviceBuffers::Download(std::size_t buffer, void* to) const {
  api_.Require(api_.MemcpyDtoH(to, base_ + offsets_[buffer], specs_[buffer].bytes), "cuMemcpyDtoH");
}

std::string DeviceBuffers::TouchedGuards() const {
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
                 specs_[i - 1].name;
    if (i < specs_.size())
      touched += ", the last " + std::to_string(last - bytes.rbegin() + 1) + " bytes before the start of " +
                 specs_[i].name;
  }
  return touched;
}

}  // namespace cudnn_ci
