// What /proc says: whether it can be believed, and what it tells others of this process.
#ifndef CUDNN_CI_BASE_PROC_SELF_H_
#define CUDNN_CI_BASE_PROC_SELF_H_

namespace cudnn_ci {

// /proc is mounted and counts processes as this one does. That of another PID namespace speaks of others: a
// signal to a number found there would hit a stranger.
bool ProcIsOurs();

// From now on no process of the same user may trace this one, or read its memory, environment, descriptors or
// maps: its files in /proc are root's. It dumps no core. What it forks without an exec inherits that; an exec
// takes it back.
void HideFromOthers();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_PROC_SELF_H_
