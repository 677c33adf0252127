// What cudnn-ci does to its own process first: whatever it was started from must not decide how it ends.
#ifndef CUDNN_CI_CLI_PROCESS_SETUP_H_
#define CUDNN_CI_CLI_PROCESS_SETUP_H_

#include <signal.h>

#include <string>
#include <vector>

namespace cudnn_ci {

// What the harness reads from a signalfd, and so blocks: the end of a child, and what ends a run, whose
// reports are written then.
inline constexpr int kHandledSignals[] = {SIGCHLD, SIGINT, SIGTERM, SIGALRM};

// Hidden from other processes of the user; descriptors 0 to 2 open; signals as this program and its workers
// expect them (see DESIGN.md, section 5), those that a signalfd will read blocked and no others; a umask
// under which we can read our own files and others cannot write them; the soft limits of open files, stack
// and address space raised as far as is useful; what would keep the loader from running any program taken out
// of the environment. For the first line of main: no threads, nothing opened. Never fails: what cannot be
// changed is left as it is.
void PrepareProcess();

// Whoever started this process had closed its standard output, and PrepareProcess has put the null device in
// its place: what is written there is lost.
bool StandardOutputWasClosed();

// The variables that PrepareProcess took out of the environment, by name.
const std::vector<std::string>& RemovedVariables();

// A limit of this machine under which checks would fail that are right, and what to do about it; empty: there
// is room.
std::string LowLimit();

// The same of a limit that leaves no descriptors for reports.
std::string NoFilesForReports();

// What is not mounted and cannot be done without, and what to do about it; empty: all is there.
std::string MissingMount();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_PROCESS_SETUP_H_
