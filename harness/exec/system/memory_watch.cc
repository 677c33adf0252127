#include "exec/system/memory_watch.h"

#include <algorithm>

namespace cudnn_ci {

int64_t MemoryWatch::IntervalNs(int64_t room) const {
  const int64_t spare = std::max<int64_t>(0, room - Reserve());
  return std::clamp<int64_t>(spare / 4, 2'000'000, 200'000'000);  // bytes / 4 = ns at 4 GB/s
}

}  // namespace cudnn_ci
