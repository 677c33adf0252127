#include "cudnn/handles.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace cudnn_ci {
namespace {

// A handle with its kernels and workspace takes a few hundred megabytes at most; with less free than this,
// memory is the likelier cause.
constexpr std::size_t kLittleMemory = std::size_t{500} << 20;
// Memory is looked at so many times while handles are made one after the other. A device gives memory away in
// granules of 2 MiB, so that a small leak is seen only over many handles.
constexpr int kBatches = 4;
constexpr int kFewestBatches = 3;
// Another process that makes a context takes memory for some 100 ms, piece by piece.
constexpr std::chrono::milliseconds kQuiet{150}, kBetweenLooks{5}, kLongestWait{5000};

std::string Mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

// Bytes free on the current context's device; nothing where the driver does not tell.
std::optional<std::size_t> FreeBytes(const DriverApi& driver) {
  std::size_t free_bytes = 0, total = 0;
  if (driver.MemGetInfo(&free_bytes, &total) != CUDA_SUCCESS) return std::nullopt;
  return free_bytes;
}

// Waits until the free memory has stood still for a while. False: it never did, or the driver does not tell.
bool AwaitQuiet(const DriverApi& driver) {
  const auto start = std::chrono::steady_clock::now();
  auto since = start;
  std::optional<std::size_t> last = FreeBytes(driver);
  for (auto now = start; last && now - start < kLongestWait; now = std::chrono::steady_clock::now()) {
    if (now - since >= kQuiet) return true;
    std::this_thread::sleep_for(kBetweenLooks);
    const std::optional<std::size_t> free_bytes = FreeBytes(driver);
    if (free_bytes != last) since = std::chrono::steady_clock::now();
    last = free_bytes;
  }
  return false;
}

}  // namespace

std::string MemoryText(const DriverApi& driver) {
  std::size_t free_bytes = 0, total = 0;
  const CUresult asked = driver.MemGetInfo(&free_bytes, &total);
  return asked == CUDA_SUCCESS ? Mebibytes(free_bytes) + " free of " + Mebibytes(total)
                               : "free memory unknown: " + driver.Describe(asked);
}

bool IsAllocationFailure(const CudnnApi& cudnn, cudnnStatus_t status) {
  const int code = static_cast<int>(status);
  return cudnn.major() < 9 ? code == 2 : code == 4003 || code == 4004;
}

Handles::Handles(const CudnnApi& cudnn, const DriverApi& driver) : cudnn_(cudnn), driver_(driver) {
  driver.Require(driver.Init(0), "cuInit");
  int count = 0;
  driver.Require(driver.DeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0) throw std::runtime_error("cuDeviceGetCount: no device is visible");
  for (int device = 0; device < count; ++device) {
    contexts_.push_back(std::make_unique<PrimaryContext>(driver));
    const CUresult created = contexts_.back()->Create(device);
    if (created != CUDA_SUCCESS) driver.Require(created, contexts_.back()->failed_call());
  }
}

double Handles::median_ms() const {
  if (times_.empty()) return 0;
  std::vector<double> sorted = times_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

std::string Handles::On(std::size_t device) const {
  return contexts_.size() == 1 ? "" : " on device " + std::to_string(device);
}

bool Handles::Fail(const std::string& which, const std::string& what, bool out_of_memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The first failure is the cause of the others.
  if (!failure_.empty()) return false;
  failure_ = which + ": " + what + "; device memory: " + MemoryText(driver_);
  out_of_memory_ = out_of_memory;
  return false;
}

bool Handles::Enter(std::size_t device) {
  const CUresult entered = driver_.CtxSetCurrent(contexts_[device]->context());
  return entered == CUDA_SUCCESS ||
         Fail("a thread" + On(device), "cuCtxSetCurrent: " + driver_.Describe(entered));
}

bool Handles::Make(const std::string& which, cudnnHandle_t* handle, double* ms) {
  const bool little = FreeBytes(driver_).value_or(kLittleMemory) < kLittleMemory;
  const auto start = std::chrono::steady_clock::now();
  const cudnnStatus_t status = cudnn_.Create(handle);
  if (ms) *ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (status == CUDNN_STATUS_SUCCESS && *handle) return true;
  if (status == CUDNN_STATUS_SUCCESS) return Fail(which, "cudnnCreate: success, but no handle");
  return Fail(which, "cudnnCreate: " + cudnn_.Describe(status),
              little || IsAllocationFailure(cudnn_, status));
}

bool Handles::GiveBack(const std::string& which, cudnnHandle_t handle) {
  const cudnnStatus_t status = cudnn_.Destroy(handle);
  return status == CUDNN_STATUS_SUCCESS || Fail(which, "cudnnDestroy: " + cudnn_.Describe(status));
}

bool Handles::First() {
  for (std::size_t device = 0; device < contexts_.size(); ++device) {
    const std::string which = "the first handle" + On(device);
    cudnnHandle_t handle = nullptr;
    double ms = 0;
    if (!Enter(device) || !Make(which, &handle, &ms) || !GiveBack(which, handle)) return false;
    if (device == 0) first_ms_ = ms;
  }
  return true;
}

// *lost: how much less memory is free behind it; 0 if there is more, or the driver does not tell.
bool Handles::Batch(std::size_t device, int first, int count, int all, std::size_t* lost) {
  const std::optional<std::size_t> before = FreeBytes(driver_);
  for (int i = first; i < first + count; ++i) {
    const std::string which = "handle " + std::to_string(i + 1) + " of " + std::to_string(all) +
                              " one after the other" + On(device);
    cudnnHandle_t handle = nullptr;
    double ms = 0;
    if (!Make(which, &handle, &ms) || !GiveBack(which, handle)) return false;
    times_.push_back(ms);
  }
  const std::optional<std::size_t> after = FreeBytes(driver_);
  *lost = before && after && *after < *before ? *before - *after : 0;
  return true;
}

// What every batch of the handles lost at the least, by the handle.
std::size_t Handles::LostPerHandle(std::size_t device, int count, bool* good) {
  const int batches = std::min(count, kBatches);
  std::size_t least = SIZE_MAX;
  int made = 0;
  for (int batch = 0; batch < batches; ++batch) {
    const int size = (count - made) / (batches - batch);
    std::size_t lost = 0;
    *good = Batch(device, made, size, count, &lost);
    if (!*good) return 0;
    least = std::min(least, lost / static_cast<std::size_t>(size));
    made += size;
  }
  return batches < kFewestBatches ? 0 : least;
}

bool Handles::InTurn(int count) {
  for (std::size_t device = 0; device < contexts_.size(); ++device) {
    bool good = Enter(device);
    const std::size_t lost = good ? LostPerHandle(device, count, &good) : 0;
    // Another process may have taken memory at every look, as one does that makes a context.
    const std::size_t again =
        good && lost > 0 && AwaitQuiet(driver_) ? LostPerHandle(device, count, &good) : 0;
    if (!good) return false;
    leaked_bytes_ = std::max(leaked_bytes_, std::min(lost, again));
  }
  return true;
}

bool Handles::AtOnce() {
  struct Held {
    std::size_t device;
    std::string which;
    cudnnHandle_t handle;
  };
  std::vector<Held> held;
  for (const char* number : {"the first of two", "the second of two"}) {
    for (std::size_t device = 0; device < contexts_.size(); ++device) {
      held.push_back({device, number + (" handles at once" + On(device)), nullptr});
      if (!Enter(device) || !Make(held.back().which, &held.back().handle)) return false;
    }
  }
  return std::all_of(held.begin(), held.end(), [this](const Held& one) {
    return Enter(one.device) && GiveBack(one.which, one.handle);
  });
}

bool Handles::FromThreads(int threads, int* started) {
  std::latch start(1);
  std::unique_ptr<std::latch> made;  // set before any thread passes `start`
  std::atomic<bool> good = true;
  const auto work = [&](int index) {
    start.wait();
    const std::string which = "the handle of thread " + std::to_string(index + 1);
    cudnnHandle_t handle = nullptr;
    const bool have = Enter(static_cast<std::size_t>(index) % contexts_.size()) && Make(which, &handle);
    // All are held at once, and whoever got none must not keep the others waiting.
    made->arrive_and_wait();
    if (!have || !GiveBack(which, handle)) good = false;
  };
  std::vector<std::thread> running;
  try {
    for (int index = 0; index < threads; ++index) running.emplace_back(work, index);
  } catch (const std::system_error&) {
    // This user may have no more threads: those that there are will do.
  }
  made = std::make_unique<std::latch>(static_cast<std::ptrdiff_t>(running.size()));
  start.count_down();
  for (std::thread& thread : running) thread.join();
  *started = static_cast<int>(running.size());
  return good;
}

}  // namespace cudnn_ci
