// Whose memory was short, of a plugin that calls `skip` and not `skip_memory`: plugin.h promises that its
// words tell it.
#ifndef CUDNN_CI_WORKER_SKIP_WORDS_H_
#define CUDNN_CI_WORKER_SKIP_WORDS_H_

#include <string>

#include "model/record/outcome.h"

namespace cudnn_ci::worker {

// A device's, unless the words speak of host memory alone.
Resource MemoryInWords(const std::string& need, const std::string& seen);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_SKIP_WORDS_H_
