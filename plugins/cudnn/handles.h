// cuDNN handles, made and given back in the ways in which programs do it: one after the other, several at
// once, from several threads, on several devices. Reports nothing; must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CUDNN_HANDLES_H_
#define CUDNN_CI_PLUGINS_CUDNN_HANDLES_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/cudnn_api.h"
#include "common/driver_api.h"

namespace cudnn_ci {

// "100 MiB free of 131072 MiB" of the current context's device, or why the driver does not tell.
std::string MemoryText(const DriverApi& driver);

// True if the library answered that it could not allocate memory: 2 in cuDNN 8, 4003 and 4004 in 9.
// https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html#cudnnstatus-t
bool IsAllocationFailure(const CudnnApi& cudnn, cudnnStatus_t status);

class Handles {
 public:
  // Makes the primary context of each device that this process sees, which live as long as this does. Throws
  // std::runtime_error naming the call of the driver that failed.
  Handles(const CudnnApi& cudnn, const DriverApi& driver);
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  std::size_t devices() const { return contexts_.size(); }

  // Each of these makes handles and gives all of them back. False: failure() says which call of which handle
  // failed, and nothing more may be asked.
  // One on each device.
  bool First();
  // `count` on each device, one after the other, the devices in turn.
  bool InTurn(int count);
  // Two on each device, all at once; the first ones are given back before the second ones.
  bool AtOnce();
  // One in each of these threads, all at once, the devices in turn. Fewer threads, where no more can be
  // started: *started says how many ran.
  bool FromThreads(int threads, int* started);

  // "the first handle: cudnnCreate: 1001 CUDNN_STATUS_...; device memory: 100 MiB free of 131072 MiB".
  const std::string& failure() const { return failure_; }
  // True if hardly any device memory was left when a handle could not be made, or cuDNN said that it got
  // none.
  bool out_of_memory() const { return out_of_memory_; }
  // Milliseconds that the handles took: of the very first, and of each of InTurn at the median.
  double first_ms() const { return first_ms_; }
  double median_ms() const;
  // Bytes of device memory that each handle of InTurn left behind; 0: none. A loss counts if it is seen again
  // after the free memory has stood still: another process on the device may take memory meanwhile.
  std::size_t leaked_bytes() const { return leaked_bytes_; }

 private:
  bool Enter(std::size_t device);
  bool Make(const std::string& which, cudnnHandle_t* handle, double* ms = nullptr);
  bool GiveBack(const std::string& which, cudnnHandle_t handle);
  bool Fail(const std::string& which, const std::string& what, bool out_of_memory = false);
  std::string On(std::size_t device) const;
  bool Batch(std::size_t device, int first, int count, int all, std::size_t* lost);
  std::size_t LostPerHandle(std::size_t device, int count, bool* good);

  const CudnnApi& cudnn_;
  const DriverApi& driver_;
  std::vector<std::unique_ptr<PrimaryContext>> contexts_;
  std::mutex mutex_;  // guards the members below while threads run
  std::string failure_;
  bool out_of_memory_ = false;
  double first_ms_ = 0;
  std::vector<double> times_;
  std::size_t leaked_bytes_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_HANDLES_H_
