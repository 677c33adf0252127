// The signals that end a launch. They are blocked and read from a descriptor, so that none interrupts what
// must be done whole: a launch that is cancelled still stops its container and writes its reports.
#ifndef CUDNN_CI_LAUNCH_CANCEL_H_
#define CUDNN_CI_LAUNCH_CANCEL_H_

#include <string>

#include "base/fd.h"

namespace cudnn_ci::launch {

// Of one thread.
class Cancel {
 public:
  // Blocks SIGINT, SIGTERM, SIGALRM, SIGCHLD, and SIGHUP unless the caller has it ignored (nohup).
  Cancel();
  // Takes what has come. True when a signal that ends the launch was among it, the first time alone: those
  // that follow end nothing that is under way for the first.
  bool Take();
  // The first signal that ends the launch; 0: none has come so far.
  int signal() const { return signal_; }
  // Whether a second one has come.
  bool came_again() const { return came_again_; }
  // Can be read when a signal, or the end of a child, has come.
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
  int signal_ = 0;
  bool came_again_ = false;
};

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_CANCEL_H_
