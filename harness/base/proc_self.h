// Whether /proc can be believed.
#ifndef CUDNN_CI_BASE_PROC_SELF_H_
#define CUDNN_CI_BASE_PROC_SELF_H_

namespace cudnn_ci {

// /proc is mounted and counts processes as this one does. That of another PID namespace speaks of others: a
// signal to a number found there would hit a stranger.
bool ProcIsOurs();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_PROC_SELF_H_
