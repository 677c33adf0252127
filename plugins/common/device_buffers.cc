// Layout, fills and guards of the device buffers. Knows no operation.
#include "common/device_buffers.h"

#include <algorithm>
#include <cstring>

#include "common/numeric/fill.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kGuardBytes = 4096;
// Between outputs and workspaces a pattern that a stray NaN would not restore.
constexpr unsigned char kPatternByte = 0xA5;

using Role = BufferSpec::Role;

std::size_t AlignUp(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Between the buffer before place i and the one there.
std::size_t GuardBytes(const std::vector<BufferSpec>& specs, std::size_t i) {
  return std::max({kGuardBytes, i > 0 ? specs[i - 1].guard : 0, i < specs.size() ? specs[i].guard : 0});
}

bool IsInput(const std::vector<BufferSpec>& specs, std::size_t i) {
  return i < specs.size() && specs[i].role == Role::kInput;
}

}  // namespace

std::size_t DeviceBuffers::BytesFor(const std::vector<BufferSpec>& specs) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < specs.size(); ++i)
    bytes = AlignUp(bytes + GuardBytes(specs, i)) + specs[i].bytes;
  return AlignUp(bytes + GuardBytes(specs, specs.size()));
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
  for (std::size_t i = 0; i < specs_.size(); ++i) FillBuffer(i, specs_[i].fill);
  for (const Guard& g : guards_)
    api_.Require(api_.MemsetD8(base_ + g.begin, g.pattern, g.end - g.begin), "cuMemsetD8");
  return CUDA_SUCCESS;
}

void DeviceBuffers::LayOut(const std::vector<BufferSpec>& specs) {
  std::vector<std::size_t> offsets;
  guards_.clear();
  std::size_t at = 0;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    offsets.push_back(AlignUp(at + GuardBytes(specs, i)));
    // A kernel might read beyond an input, and then shall find NaNs.
    const bool readable = IsInput(specs, i) || (i > 0 && IsInput(specs, i - 1));
    guards_.push_back({at, offsets[i], readable ? kNanByte : kPatternByte});
    at = offsets[i] + specs[i].bytes;
    if (specs[i].role != Role::kInput) continue;
    inputs_kept_ = inputs_kept_ && i < specs_.size() && specs_[i].role == Role::kInput &&
                   specs_[i].bytes == specs[i].bytes && offsets_[i] == offsets[i];
  }
  const bool readable = !specs.empty() && IsInput(specs, specs.size() - 1);
  guards_.push_back({at, at + GuardBytes(specs, specs.size()), readable ? kNanByte : kPatternByte});
  specs_ = specs;
  offsets_ = std::move(offsets);
}

void DeviceBuffers::FillBuffer(std::size_t buffer, std::uint32_t output_word) {
  const BufferSpec& spec = specs_[buffer];
  const CUdeviceptr begin = base_ + offsets_[buffer];
  if (spec.role == Role::kWorkspace && spec.bytes > 0)
    api_.Require(api_.MemsetD8(begin, kNanByte, spec.bytes), "cuMemsetD8");
  if (spec.role != Role::kOutput) return;
  // No byte behind its end, which may lie within a word: the guard may have been written to, and tells so.
  const std::size_t words = spec.bytes / sizeof output_word;
  if (words > 0) api_.Require(api_.MemsetD32(begin, output_word, words), "cuMemsetD32");
  for (std::size_t at = words * sizeof output_word; at < spec.bytes; ++at, output_word >>= 8)
    api_.Require(api_.MemsetD8(begin + at, static_cast<unsigned char>(output_word), 1), "cuMemsetD8");
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
    // Usually all of it: each byte is the one before it.
    if (bytes.front() == g.pattern && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0)
      continue;
    const auto wrong = [&g](unsigned char b) { return b != g.pattern; };
    const auto first = std::find_if(bytes.begin(), bytes.end(), wrong);
    if (first == bytes.end()) continue;
    const auto last = std::find_if(bytes.rbegin(), bytes.rend(), wrong);
    if (!touched.empty()) touched += "; ";
    touched += std::to_string(std::count_if(first, bytes.end(), wrong)) + " bytes written";
    if (i > 0)
      touched += ", the first " + std::to_string(first - bytes.begin()) + " bytes after the end of " +
                 specs_[i - 1].name;
    if (i < specs_.size())
      touched += ", the last " + std::to_string(last - bytes.rbegin() + 1) + " bytes before the start of " +
                 specs_[i].name;
  }
  return touched;
}

}  // namespace cudnn_ci
