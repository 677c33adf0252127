// Reference data that are made while the library is asked what it offers: the CPU would wait meanwhile. Must
// not know CUDA, cuDNN or the SDK.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_PRECOMPUTED_REFERENCE_H_
#define CUDNN_CI_PLUGINS_COMPUTE_PRECOMPUTED_REFERENCE_H_

#include <functional>
#include <memory>
#include <thread>

#include "compute/reference_data.h"

namespace cudnn_ci {

// Makes, in a thread of its own, what will probably be asked for; whoever asks then gets that, or waits for
// it. A guess that turns out wrong costs time, and nothing else: what is asked for is made all the same.
class PrecomputedReference {
 public:
  // `make` is called once, and what it throws is dropped: whoever asks meets the same, and can say so. It
  // must leave what it makes where it is asked for. Nothing is made if it is empty, or where no thread can be
  // had.
  explicit PrecomputedReference(std::function<void()> make);
  // Waits until they are made.
  ~PrecomputedReference();
  PrecomputedReference(const PrecomputedReference&) = delete;
  PrecomputedReference& operator=(const PrecomputedReference&) = delete;

 private:
  std::thread thread_;
};

// Makes the data of a source, which must keep them. Empty if that takes more than `most_bytes` of host
// memory, or than 256 MiB: a case asks for memory only when it knows what it needs.
std::function<void()> MakingOf(std::shared_ptr<const ReferenceSource> source, double most_bytes);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_PRECOMPUTED_REFERENCE_H_
