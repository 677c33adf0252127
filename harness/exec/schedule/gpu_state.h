// Whom the state of a GPU before the run began accuses of what a case ran short of on it.
#ifndef CUDNN_CI_EXEC_SCHEDULE_GPU_STATE_H_
#define CUDNN_CI_EXEC_SCHEDULE_GPU_STATE_H_

#include <string>

#include "model/plan/plan.h"
#include "model/record/facts.h"
#include "model/record/finding.h"

namespace cudnn_ci {

// "3072 MiB were in use before the run began"; empty: no more than an idle driver takes, or unknown.
std::string MemoryOfOthers(const Facts& facts, const std::string& device);

// Of a required case that found too little device memory: the runner's fault if others hold it; else
// `finding` as it is.
Finding BlameForMemory(const Facts& facts, const Case& c, Finding finding, const Skipped& skipped);

// What makes a GPU slow for whatever runs on it, and is no fault of the image: clocks that are held down,
// others that use it. Empty: nothing that is known.
std::string SlowdownCause(const Facts& facts, const std::string& device);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_GPU_STATE_H_
