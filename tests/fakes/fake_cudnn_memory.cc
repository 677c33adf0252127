// The device memory that a handle of the fake cuDNN takes, from the driver that is there, and an error that a
// convolution leaves in the driver.
//
//   FAKE_CUDNN_HANDLE_KB  KiB of device memory that each handle takes and gives back (0)
//   FAKE_CUDNN_LEAK_KB    KiB that each handle leaves behind (0)
//   FAKE_CUDNN_NO_MEMORY  "STATUS[:AFTERWARDS]": the status of cudnnCreate where it gets none (4004), and of
//                         every later call in that process, however much there is
#include <dlfcn.h>

#include <map>

#include "fake_cudnn.h"
#include "fake_env.h"

namespace fake_cudnn {
namespace {

using Pointer = unsigned long long;

std::map<cudnnHandle_t, Pointer> pieces;

template <class Function>
Function* OfDriver(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver ? reinterpret_cast<Function*>(dlsym(driver, name)) : nullptr;
}

}  // namespace

// The caller holds the lock of all handles.
cudnnStatus_t TakeMemory(cudnnHandle_t handle) {
  const auto kilobytes = FakeNumber("FAKE_CUDNN_HANDLE_KB", 0), leak = FakeNumber("FAKE_CUDNN_LEAK_KB", 0);
  if (kilobytes == 0 && leak == 0) return CUDNN_STATUS_SUCCESS;
  static bool refused = false;
  int status = 4004, afterwards = 0;
  if (const char* text = getenv("FAKE_CUDNN_NO_MEMORY")) sscanf(text, "%d:%d", &status, &afterwards);
  if (refused && afterwards != 0) return static_cast<cudnnStatus_t>(afterwards);
  const auto take = [](long size, Pointer* piece) {
    auto* allocate = OfDriver<int(Pointer*, size_t)>("cuMemAlloc_v2");
    return size == 0 || (allocate && allocate(piece, static_cast<size_t>(size) << 10) == 0);
  };
  Pointer piece = 0, left = 0;
  if (!take(kilobytes, &piece) || !take(leak, &left)) {
    refused = true;
    return static_cast<cudnnStatus_t>(status);
  }
  if (kilobytes > 0) pieces[handle] = piece;
  return CUDNN_STATUS_SUCCESS;
}

void LeaveError(int error) {
  if (auto* leave = OfDriver<void(int)>("FakeCudaLeaveError")) leave(error);
}

void GiveMemory(cudnnHandle_t handle) {
  const auto piece = pieces.find(handle);
  if (piece == pieces.end()) return;
  if (auto* give = OfDriver<int(Pointer)>("cuMemFree_v2")) give(piece->second);
  pieces.erase(piece);
}

}  // namespace fake_cudnn
