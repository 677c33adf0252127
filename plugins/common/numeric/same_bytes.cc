// The comparison, a range for each thread.
#include "common/numeric/same_bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "common/numeric/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kGrain = 1 << 20;  // bytes

}  // namespace

std::size_t FirstDifference(const unsigned char* a, const unsigned char* b, std::size_t bytes) {
  std::mutex mutex;
  std::size_t first = bytes;
  ParallelFor(static_cast<std::int64_t>(bytes), kGrain, [&](std::int64_t begin, std::int64_t end) {
    if (std::memcmp(a + begin, b + begin, static_cast<std::size_t>(end - begin)) == 0) return;
    const unsigned char* differs = std::mismatch(a + begin, a + end, b + begin).first;
    const std::lock_guard<std::mutex> lock(mutex);
    first = std::min(first, static_cast<std::size_t>(differs - a));
  });
  return first;
}

}  // namespace cudnn_ci
