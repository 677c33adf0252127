// A reference that is made while cuDNN is asked what it offers: the CPU would wait meanwhile. Must not know
// CUDA or cuDNN.
#ifndef CUDNN_CI_PLUGINS_CONV_REFERENCE_AHEAD_H_
#define CUDNN_CI_PLUGINS_CONV_REFERENCE_AHEAD_H_

#include <thread>

#include "conv/reference.h"

namespace cudnn_ci {

// Has ReferenceOf make, in a thread of its own, what will probably be asked for; whoever asks then gets that,
// or waits for it. A guess that turns out wrong costs time, and nothing else: what is asked for is made all
// the same.
class ReferenceAhead {
 public:
  // Makes none that is too large to be kept or takes more than `most_bytes` to make, nor where no thread can
  // be had.
  ReferenceAhead(const Problem& problem, const Recipe& recipe, double most_bytes);
  // Waits until it is made.
  ~ReferenceAhead();
  ReferenceAhead(const ReferenceAhead&) = delete;
  ReferenceAhead& operator=(const ReferenceAhead&) = delete;

 private:
  std::thread thread_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_REFERENCE_AHEAD_H_
