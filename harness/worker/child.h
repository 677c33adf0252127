// Children started on a check's behalf. They die with the worker, get stdin from /dev/null, and their
// output is read to its end or to its bound.
#ifndef CUDNN_CI_WORKER_CHILD_H_
#define CUDNN_CI_WORKER_CHILD_H_

#include <string>
#include <vector>

namespace cudnn_ci::worker {

struct ChildRequest {
  std::vector<std::string> argv, env;  // env: NAME=VALUE laid over the environment
  double timeout_s = 0;
};
struct ChildOutcome {
  int exit_status = -1, signal = 0;
  bool timed_out = false;
  std::string output;  // stdout and stderr: head and tail, 256 KiB in all
};

// Ends at the timeout, whatever the child writes or leaves behind, and whether it may be killed or not, as
// one of another user may not: the end of the output then says so. One that was killed is waited for two
// seconds more. False with errno set when it cannot be started, or (ECHILD) when another thread of the
// process has taken its exit status.
bool RunChild(const ChildRequest& request, ChildOutcome* outcome);

// The program `cudnn-ci-worker --exec PARENT argv...`: makes itself die with its parent, then becomes argv.
// PDEATHSIG is cleared by neither exec nor ordinary programs; only set-user-ID programs lose it.
[[noreturn]] void ExecChild(int argc, char** argv);
// Becomes argv, or says "cannot run PROGRAM: WHY" on stderr and exits with 127.
[[noreturn]] void ExecCommand(char** argv);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_CHILD_H_
