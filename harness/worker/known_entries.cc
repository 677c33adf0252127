#include "worker/known_entries.h"

#include "wire/entries.h"

namespace cudnn_ci::worker {

void KnownEntries::Add(const std::string& text) {
  const std::lock_guard lock(mutex_);
  packed_ += text;
}

const char* KnownEntries::Find(const char* key) const {
  if (key == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  if (!packed_.empty()) {
    entries_.merge(wire::UnpackEntries(packed_));
    packed_.clear();
  }
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? nullptr : entry->second.c_str();
}

}  // namespace cudnn_ci::worker
