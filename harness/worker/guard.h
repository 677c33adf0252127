// What a worker process does to itself before it loads anything: it must die with the harness, leave no
// descriptor or child behind, and be the first to go when memory runs out.
#ifndef CUDNN_CI_WORKER_GUARD_H_
#define CUDNN_CI_WORKER_GUARD_H_

#include <sys/types.h>

namespace cudnn_ci::worker {

// Dies with the thread that started us; exits at once if `parent` is already gone (a harness killed
// between spawn and this call would otherwise leave the worker alive for ever).
void DieWithParent(pid_t parent);

// Closes all descriptors from this one on.
void CloseFrom(int first);

// DieWithParent, first choice of the OOM killer, hidden from other processes of the user (unless a debugger
// is to look in), child subreaper, descriptors from `first_closed` on closed and those before it, but for the
// standard ones, closed in whatever is executed, line-buffered stdout.
void GuardProcess(pid_t parent, int first_closed, bool hidden);

// Reaps what has exited; true if a child or an adopted grandchild is still alive, or none can be asked for.
bool HasLiveChildren();

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_GUARD_H_
