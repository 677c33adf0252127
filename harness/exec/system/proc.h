// What /proc says about processes: their children, size, and what a hung one is doing. Everything here works
// in an unprivileged container and says so where it could not look.
#ifndef CUDNN_CI_EXEC_SYSTEM_PROC_H_
#define CUDNN_CI_EXEC_SYSTEM_PROC_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_ci {

// The direct children of a process (0: this one); none where /proc is of another PID namespace.
std::vector<pid_t> ChildrenOf(pid_t pid);

// How many descendants a process has; stops counting at `limit`.
int CountDescendants(pid_t pid, int limit);

// The name of the command most of whose processes a worker's descendants are: of a child that leads a process
// separate group, as run_child makes one. Empty: a plugin has forked most of them itself.
std::string LargestCommandOf(pid_t worker);

// "su, of user 0": the command's name and the effective user.
std::string DescribeOwner(pid_t pid);

// Resident bytes; 0 when the process is gone.
int64_t ResidentBytes(pid_t pid);

// State, wait channel and system call of each thread, a line each, at most 16, and the processor time that it
// has used. Wait channel and system call of a process that hides, as workers do, are root's to see. Costs a
// few reads a thread.
std::string DescribeProcess(pid_t pid);

// CPUs this process may use: affinity, bounded by the cgroup's quota (rounded up); at least 1.
int AvailableCpus();
// Whether that is a cgroup's quota, and fewer than the process may run on.
bool HasCpuQuota();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_PROC_H_
