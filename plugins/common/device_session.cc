// Host buffers, the context, timing and recorded launches.
#include "common/device_session.h"

#include <algorithm>
#include <stdexcept>

#include "common/launch_capture.h"

namespace cudnn_ci {
namespace {

// Beyond this a buffer is given back after its case.
constexpr std::size_t kKeptBytes = std::size_t{1} << 30;

// To pin pages takes about as long as to copy them some times: not bit by bit, and not gigabytes of a host's
// memory.
constexpr std::size_t kSmallestBytes = std::size_t{16} << 20;
constexpr std::size_t kMostPinnedBytes = std::size_t{256} << 20;

std::size_t g_most_device_bytes = 0;  // 0: all of them

}  // namespace

std::size_t HostBuffer::SizeFor(std::size_t bytes) { return std::max(bytes, kSmallestBytes); }

std::size_t HostBuffer::Growth(std::size_t bytes) const {
  return data_ && bytes <= size_ ? 0 : SizeFor(bytes) - size_;
}

unsigned char* HostBuffer::Get(std::size_t bytes) {
  if (data_ && bytes <= size_) return data_;
  Free();  // first, so that old and new do not stand side by side
  const std::size_t size = SizeFor(bytes);
  void* pinned = nullptr;
  if (size <= kMostPinnedBytes && api_.MemAllocHost && api_.MemFreeHost &&
      api_.MemAllocHost(&pinned, size) == CUDA_SUCCESS && pinned) {
    data_ = static_cast<unsigned char*>(pinned);
    pinned_ = true;
  } else {
    data_ = new unsigned char[size];  // uninitialised, unlike make_unique
  }
  size_ = size;
  return data_;
}

void HostBuffer::Trim(std::size_t bytes) {
  if (size_ > bytes) Free();
}

void HostBuffer::Free() {
  // What the driver answers does not matter: at worst the pages stay its own until the process ends.
  if (pinned_)
    api_.MemFreeHost(data_);
  else
    delete[] data_;
  data_ = nullptr;
  size_ = 0;
  pinned_ = false;
}

void DeviceSession::OpenDriver(int ordinal) {
  if (!driver_.Load()) throw std::runtime_error("libcuda.so.1: " + driver_.error());
  const CUresult created = context_.Create(ordinal);
  if (created != CUDA_SUCCESS) driver_.Require(created, context_.failed_call());
}

void DeviceSession::OpenEvents() {
  driver_.Require(driver_.EventCreate(&start_, CU_EVENT_DEFAULT), "cuEventCreate");
  driver_.Require(driver_.EventCreate(&stop_, CU_EVENT_DEFAULT), "cuEventCreate");
}

void DeviceSession::MakeCurrent() const {
  driver_.Require(driver_.CtxSetCurrent(context_.context()), "cuCtxSetCurrent");
}

void DeviceSession::LimitMemory(std::size_t most) { g_most_device_bytes = most; }

bool DeviceSession::IsShared() { return g_most_device_bytes > 0; }

std::size_t DeviceSession::FreeBytes() const {
  std::size_t free_bytes = 0, total = 0;
  driver_.Require(driver_.MemGetInfo(&free_bytes, &total), "cuMemGetInfo");
  free_bytes += memory_.held();
  return IsShared() ? std::min(free_bytes, g_most_device_bytes) : free_bytes;
}

void DeviceSession::Synchronize() const { driver_.Require(driver_.CtxSynchronize(), "cuCtxSynchronize"); }

double DeviceSession::Milliseconds(const std::function<void()>& work) const {
  driver_.Require(driver_.EventRecord(start_, nullptr), "cuEventRecord");
  work();
  driver_.Require(driver_.EventRecord(stop_, nullptr), "cuEventRecord");
  driver_.Require(driver_.EventSynchronize(stop_), "cuEventSynchronize");
  float elapsed = 0;
  driver_.Require(driver_.EventElapsedTime(&elapsed, start_, stop_), "cuEventElapsedTime");
  return static_cast<double>(elapsed);
}

std::vector<std::string> DeviceSession::KernelsOf(const std::function<void()>& run) {
  std::vector<std::string> names;
  if (!records_ || !driver_.StreamCreate || !HasStreams()) return names;
  // The default stream cannot be recorded. What waits for that one must not wait for this one.
  if (!recorded_ && driver_.StreamCreate(&recorded_, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
    recorded_ = nullptr;
  records_ = recorded_ && SetStream(recorded_).empty();
  if (!records_) return names;
  const CapturedLaunches captured = CaptureLaunches(driver_, recorded_, [&run] { return run(), true; });
  // A library that stays on that stream would compute concurrently with all that comes after it: this process
  // is done.
  const std::string back = SetStream(nullptr);
  if (!back.empty()) throw DriverError(CUDA_ERROR_UNKNOWN, back);
  if (!captured.tried) records_ = false;
  // A call that is not allowed leaves its error in the library, which would be told of the next one. Whether
  // this run succeeds is not judged: it did before. Whether it leaves the context usable is.
  if (captured.broken) {
    try {
      run();
    } catch (const std::exception&) {
    }
    Synchronize();
  }
  for (const std::string& symbol : captured.symbols) names.push_back(KernelNameOf(symbol));
  if (!captured.whole && !names.empty()) names.emplace_back("others without a name");
  return names;
}

void DeviceSession::Trim() {
  memory_.Trim(kKeptBytes);
  for (HostBuffer& buffer : inputs_) buffer.Trim(kKeptBytes);
  for (HostBuffer* buffer : {&readback, &repeated}) buffer->Trim(kKeptBytes);
}

HostBuffer& DeviceSession::input(std::size_t place) {
  while (inputs_.size() <= place) inputs_.emplace_back(driver_);
  return inputs_[place];
}

}  // namespace cudnn_ci
