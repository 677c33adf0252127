// A process that this one forks for a part of a case. Must not know CUDA, which does not survive a fork.
#ifndef CUDNN_CI_PLUGINS_NCCL_FORKED_H_
#define CUDNN_CI_PLUGINS_NCCL_FORKED_H_

#include <sys/types.h>

namespace cudnn_ci {

// Forks a process that dies with this one. Of the descriptors it has the standard ones and `own`: the
// worker's channel to the harness and other processes' sockets stay with this one. 0: in the new process; -1:
// errno says why there is none.
pid_t ForkWith(int own);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_FORKED_H_
