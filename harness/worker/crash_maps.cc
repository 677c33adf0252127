#include "worker/crash_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace cudnn_ci::worker {
namespace {

// The hexadecimal number at *text, which moves behind it.
uint64_t TakeHex(const char** text) {
  uint64_t number = 0;
  for (;; ++*text) {
    const char c = **text;
    if (c >= '0' && c <= '9')
      number = number * 16 + static_cast<uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      number = number * 16 + static_cast<uint64_t>(c - 'a' + 10);
    else
      return number;
  }
}

}  // namespace

void CrashMaps::Resolve() {
  for (Place& place : places_) {
    place.offset = 0;
    place.module = "";
  }
  paths_size_ = last_path_ = line_size_ = 0;
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return;
  char some[1024];
  for (;;) {
    const ssize_t n = read(maps, some, sizeof some);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    for (ssize_t i = 0; i < n; ++i) {
      if (some[i] == '\n')
        TakeLine();
      else if (line_size_ + 1 < sizeof line_)
        line_[line_size_++] = some[i];
    }
  }
  close(maps);
}

// "start-end rights offset device inode   path"
void CrashMaps::TakeLine() {
  line_[line_size_] = '\0';
  line_size_ = 0;
  const char* at = line_;
  const uint64_t start = TakeHex(&at);
  if (*at++ != '-') return;
  const uint64_t end = TakeHex(&at);
  const char* const rights_end = *at == ' ' ? strchr(at + 1, ' ') : nullptr;
  if (!rights_end) return;
  at = rights_end + 1;
  const uint64_t offset = TakeHex(&at);
  const char* const path = strpbrk(at, "/[");
  if (!path) return;
  const char* kept = nullptr;
  for (size_t i = 0; i <= kMaxCrashFrames; ++i) {
    Place& place = places_[i];
    if ((i >= count_ && i < kMaxCrashFrames) || place.address < start || place.address >= end) continue;
    if (!kept) kept = Keep(path);
    place.module = kept;
    place.offset = place.address - start + offset;
  }
}

// A file has several lines, one after the other.
const char* CrashMaps::Keep(const char* path) {
  const size_t size = strlen(path) + 1;
  if (paths_size_ > 0 && strcmp(paths_ + last_path_, path) == 0) return paths_ + last_path_;
  if (size > sizeof paths_ - paths_size_) return kUnkeptModule;
  last_path_ = paths_size_;
  memcpy(paths_ + last_path_, path, size);
  paths_size_ += size;
  return paths_ + last_path_;
}

}  // namespace cudnn_ci::worker
