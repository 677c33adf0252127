// A call that may be given up: it runs in a child process, because a file on a mount that does not answer
// (FUSE, NFS) blocks whoever touches it, and nothing ends that wait.
#ifndef CUDNN_CI_EXEC_WORKERS_BOUNDED_CALL_H_
#define CUDNN_CI_EXEC_WORKERS_BOUNDED_CALL_H_

#include <functional>
#include <string>

#include "exec/system/process.h"

namespace cudnn_ci {

// Says what is looked at now; the last word is told of a call that was given up. At most 500 bytes.
using LookingAt = std::function<void(const std::string& what)>;

struct BoundedCall {
  enum class End {
    kReturned,     // `value` is what the call returned
    kNoAnswer,     // its time was up
    kInterrupted,  // a signal came
    kFailed        // its process ended without a value
  };
  End end = End::kFailed;
  std::string value;
  std::string looking_at;  // what it looked at last; empty: it never said
};

// Runs `call` in a child of this process, which must have one thread only, for at most `limit_s` seconds.
// Where no process is to be had it runs in this one, without a limit: what is next will say so. *interrupted
// gets the signal that came on `signal_fd`. A child that cannot be killed is spared by later sweeps of
// `control` and left to the kernel.
BoundedCall CallWithin(double limit_s, const std::function<std::string(const LookingAt&)>& call,
                       ProcessControl* control, int signal_fd, int* interrupted);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_BOUNDED_CALL_H_
