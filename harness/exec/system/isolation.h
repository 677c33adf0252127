// What this system refuses of the calls by which the gate keeps processes apart: a filter of system calls
// (seccomp) or a security module answers "not permitted", and nothing else tells.
#ifndef CUDNN_CI_EXEC_SYSTEM_ISOLATION_H_
#define CUDNN_CI_EXEC_SYSTEM_ISOLATION_H_

#include <vector>

#include "model/record/finding.h"

namespace cudnn_ci {

// The findings of what is refused, none where nothing is. An error where programs of the image could change
// what the gate's processes say, a warning of what they cannot be kept from otherwise. Asked of this process,
// whose filters every worker inherits; to be called behind what hides it (HideFromOthers) and makes it a
// subreaper (PosixProcessControl). Changes nothing.
std::vector<Finding> RefusedIsolation();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_ISOLATION_H_
