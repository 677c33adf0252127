// Runs of the fake cuDNN in a stream that the driver records: they compute nothing, and say which kernels
// they would launch.
//
//   FAKE_CUDNN_KERNELS    "NUMBER/SYMBOL,SYMBOL;NUMBER/...": the kernels of an algorithm or engine; of others
//   one of
//                         its own, fake_kernel_NUMBER
//   FAKE_CUDNN_RECORDS    "no": a run that is recorded does what ends the recording and answers 5000;
//   "leaves": and
//                         the next run answers 5000 as well
#include <dlfcn.h>

#include <map>
#include <mutex>
#include <sstream>

#include "fake_cudnn.h"
#include "fake_env.h"

#define CALL() FAKE_CALL("FAKE_CUDNN_FAULT", cudnnStatus_t)

namespace fake_cudnn {
namespace {

constexpr auto kExecutionFailed = static_cast<cudnnStatus_t>(5000);

std::mutex mutex;
std::map<cudnnHandle_t, void*> streams;
bool left = false;

template <class Function>
Function* OfDriver(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver ? reinterpret_cast<Function*>(dlsym(driver, name)) : nullptr;
}

void* StreamOf(cudnnHandle_t handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = streams.find(handle);
  return found == streams.end() ? nullptr : found->second;
}

// Symbols, separated by commas.
std::string KernelsOf(int number) {
  const char* text = getenv("FAKE_CUDNN_KERNELS");
  std::istringstream entries(text ? text : "");
  const std::string wanted = std::to_string(number) + "/";
  for (std::string entry; std::getline(entries, entry, ';');)
    if (entry.compare(0, wanted.size(), wanted) == 0) return entry.substr(wanted.size());
  const std::string name = "fake_kernel_" + std::to_string(number);
  return "_Z" + std::to_string(name.size()) + name + "v";  // mangled: of no arguments
}

}  // namespace

bool Recording(cudnnHandle_t handle) {
  auto* const recording = OfDriver<int(const void*)>("FakeCudaRecording");
  void* const stream = StreamOf(handle);
  return recording && stream && recording(stream) != 0;
}

cudnnStatus_t Record(cudnnHandle_t handle, int number) {
  void* const stream = StreamOf(handle);
  if (getenv("FAKE_CUDNN_RECORDS")) {
    left = FakeIs("FAKE_CUDNN_RECORDS", "leaves");
    OfDriver<void(void*)>("FakeCudaBreakRecording")(stream);
    return kExecutionFailed;
  }
  std::istringstream kernels(KernelsOf(number));
  for (std::string kernel; std::getline(kernels, kernel, ',');)
    OfDriver<void(void*, const char*)>("FakeCudaRecord")(stream, kernel.c_str());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t LeftByRecording() {
  const bool failed = left;
  left = false;
  return failed ? kExecutionFailed : CUDNN_STATUS_SUCCESS;
}

}  // namespace fake_cudnn

extern "C" __attribute__((visibility("default"))) cudnnStatus_t cudnnSetStream(cudnnHandle_t handle,
                                                                               cudaStream_t stream) {
  CALL();
  if (!fake_cudnn::IsHandle(handle)) return static_cast<cudnnStatus_t>(2000);
  const std::lock_guard<std::mutex> lock(fake_cudnn::mutex);
  fake_cudnn::streams[handle] = stream;
  return CUDNN_STATUS_SUCCESS;
}
