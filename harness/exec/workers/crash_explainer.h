// What the harness adds to a crash that a worker told of: symbols from the files, and whose code it was.
#ifndef CUDNN_CI_EXEC_WORKERS_CRASH_EXPLAINER_H_
#define CUDNN_CI_EXEC_WORKERS_CRASH_EXPLAINER_H_

#include <functional>

#include "exec/workers/worker_process.h"
#include "model/record/crash.h"

namespace cudnn_ci {

// For a process about to be started with `command`, whose worker and plugins are ours. The function fills in
// the frames' symbols, for at most 0.2 s in all; the files that it reads are named by the process and read
// as such (image/elf/elf_symbol.h).
std::function<CrashSite(Crash*)> CrashExplainer(const WorkerCommand& command);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_CRASH_EXPLAINER_H_
