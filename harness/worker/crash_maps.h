// Addresses to files and offsets by /proc/self/maps, in static memory and async-signal-safely.
#ifndef CUDNN_CI_WORKER_CRASH_MAPS_H_
#define CUDNN_CI_WORKER_CRASH_MAPS_H_

#include <limits.h>

#include <cstddef>
#include <cstdint>

#include "model/record/crash.h"

namespace cudnn_ci::worker {

// For a signal handler: allocates nothing, and calls open, read and close alone. One thread.
class CrashMaps {
 public:
  struct Place {
    uint64_t address = 0, offset = 0;
    const char* module = "";  // valid until the next Resolve
  };

  void Clear() { count_ = 0; }
  // At most kMaxCrashFrames; more are ignored.
  void Add(uint64_t address) {
    if (count_ < kMaxCrashFrames) places_[count_++].address = address;
  }
  // One more address, which is no frame.
  void SetExtra(uint64_t address) { places_[kMaxCrashFrames].address = address; }
  // Fills in modules and offsets.
  void Resolve();

  size_t count() const { return count_; }
  const Place& At(size_t i) const { return places_[i]; }
  const char* ExtraModule() const { return places_[kMaxCrashFrames].module; }

 private:
  void TakeLine();
  const char* Keep(const char* path);

  Place places_[kMaxCrashFrames + 1];
  size_t count_ = 0;
  char line_[PATH_MAX + 200];
  size_t line_size_ = 0;
  char paths_[16 * 1024];
  size_t paths_size_ = 0, last_path_ = 0;
};

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_CRASH_MAPS_H_
