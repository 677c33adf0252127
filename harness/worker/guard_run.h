// The program `cudnn-ci-worker --guard PARENT MARK SCRATCH...`: waits for the harness's death, then ends what
// it left.
#ifndef CUDNN_CI_WORKER_GUARD_RUN_H_
#define CUDNN_CI_WORKER_GUARD_RUN_H_

namespace cudnn_ci::worker {

// Kills every process whose environment holds CUDNN_CI_RUN=MARK, again and again until none is found, removes
// the scratch folders that are there, and exits.
[[noreturn]] void GuardRun(int argc, char** argv);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_GUARD_RUN_H_
