// Whether the host's or the device's memory was short, by the words of a plugin that calls `skip` in place of
// `skip_memory`, as plugin.h promises.
#ifndef CUDNN_CI_WORKER_SKIP_WORDS_H_
#define CUDNN_CI_WORKER_SKIP_WORDS_H_

#include <string>

#include "model/record/outcome.h"

namespace cudnn_ci::worker {

// A device's, unless the words speak of host memory alone.
Resource MemoryInWords(const std::string& need, const std::string& seen);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_SKIP_WORDS_H_
