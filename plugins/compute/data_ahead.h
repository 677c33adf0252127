// Reference data that are made while the library is asked what it offers: the CPU would wait meanwhile. Must
// not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_DATA_AHEAD_H_
#define CUDNN_CI_PLUGINS_COMPUTE_DATA_AHEAD_H_

#include <memory>
#include <thread>

#include "compute/reference_data.h"

namespace cudnn_ci {

// Has a source make its data in a thread of its own; whoever asks the source then gets them, or waits. The
// source must keep what it makes.
class DataAhead {
 public:
  // Makes none that take more than `most_bytes` of host memory, or than 256 MiB, since a case asks for memory
  // only when it knows what it needs; nor where no thread can be had.
  DataAhead(std::shared_ptr<const ReferenceSource> source, double most_bytes);
  // Waits until they are made.
  ~DataAhead();
  DataAhead(const DataAhead&) = delete;
  DataAhead& operator=(const DataAhead&) = delete;

 private:
  std::thread thread_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_DATA_AHEAD_H_
