// Fatal signals that explain themselves: what the process knows about its crash goes to the harness before
// it dies of it.
#ifndef CUDNN_CI_WORKER_CRASH_HANDLER_H_
#define CUDNN_CI_WORKER_CRASH_HANDLER_H_

namespace cudnn_ci::worker {

// From here on SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT and SIGTERM (by which the harness ends it
// when its time is over) of this process are told as wire::Crashed on `control_fd`, then it dies of the same
// signal as it would have. Where something else has a handler already (a sanitizer, a library that the image
// preloads), that stays. A child of the process tells nothing. The calling thread gets a separate stack for
// the handler, so that its overflow can be told; that of another thread cannot. Everything in the handler is
// async-signal-safe but for the unwinder, which may take the loader's lock: after 3 s the process dies
// without more words.
void InstallCrashHandler(int control_fd);

// Never returns while another thread of this process tells of its crash: the process dies of that, and a
// verdict or an exit in the meantime would make it look as if it had ended well. To be called before anything
// is said or ended that the harness takes for granted; exit(3) calls it. Any thread.
void WaitForCrash();

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_CRASH_HANDLER_H_
