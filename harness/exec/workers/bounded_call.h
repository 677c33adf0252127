// A call that may be given up: it runs in a child process, because a file on a mount that does not answer
// (FUSE, NFS) blocks whoever touches it, and nothing ends that wait.
#ifndef CUDNN_CI_EXEC_WORKERS_BOUNDED_CALL_H_
#define CUDNN_CI_EXEC_WORKERS_BOUNDED_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "exec/system/process.h"

namespace cudnn_ci {

// Says what is looked at now; the last word is told of a call that was given up. At most 500 bytes.
using LookingAt = std::function<void(const std::string& what)>;

class SharedWords;

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

// A call that runs in a child of this process, which must have one thread only, while this one does other
// things. Where no process is to be had it has run in this one when the constructor returns, without a limit:
// what is next will say so. Sweeps of `control`, which must outlive it, spare the child. One that cannot be
// killed is spared for good and left to the kernel.
class StartedCall {
 public:
  StartedCall(const std::function<std::string(const LookingAt&)>& call, ProcessControl* control);
  ~StartedCall();  // gives the call up
  StartedCall(const StartedCall&) = delete;
  StartedCall& operator=(const StartedCall&) = delete;
  // Waits until the call is `limit_s` seconds old, or a moment where it is older already. *interrupted gets
  // the signal that came on `signal_fd`. Once.
  BoundedCall Finish(double limit_s, int signal_fd, int* interrupted);

 private:
  // Collects the child. Whether it exited by itself and well.
  bool End(bool kill_it);
  ProcessControl* const control_;
  const std::unique_ptr<SharedWords> words_;
  const int64_t start_ns_;
  Fd in_;
  pid_t pid_ = -1;                    // of a child that is to be collected
  std::optional<std::string> value_;  // of a call that ran in this process
};

// Runs `call` as a StartedCall, for at most `limit_s` seconds.
BoundedCall CallWithin(double limit_s, const std::function<std::string(const LookingAt&)>& call,
                       ProcessControl* control, int signal_fd, int* interrupted);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_BOUNDED_CALL_H_
