// Which files a command's processes have mapped when they end. Told by ptrace, which alone stops a process
// when it has ended and still has its memory.
#ifndef CUDNN_CI_WORKER_MAPPED_FILES_H_
#define CUDNN_CI_WORKER_MAPPED_FILES_H_

namespace cudnn_ci::worker {

// The program `cudnn-ci-worker --exec-mapped FILE COMMAND...`: runs COMMAND, writes into FILE, and ends as
// COMMAND did, by the same exit status or signal. FILE then has "ok" and, a line each, the paths that COMMAND
// or a descendant had mapped at its end, or (of those that live on) at COMMAND's; or one line that says why
// nothing could be seen, when the kernel or a seccomp filter refuses ptrace: COMMAND has run all the same.
// What was unmapped before is not there. Under ptrace a set-user-ID program gets no privilege, and a command
// cannot trace its own children.
[[noreturn]] void ExecMapped(int argc, char** argv);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_MAPPED_FILES_H_
