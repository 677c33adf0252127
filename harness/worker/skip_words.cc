#include "worker/skip_words.h"

namespace cudnn_ci::worker {

Resource MemoryInWords(const std::string& need, const std::string& seen) {
  const std::string words = need + "\n" + seen;
  const auto says = [&](const char* memory) { return words.find(memory) != std::string::npos; };
  return says("host memory") && !says("device memory") ? Resource::kHostMemory : Resource::kDeviceMemory;
}

}  // namespace cudnn_ci::worker
