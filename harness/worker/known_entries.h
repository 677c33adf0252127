// What plugins ask of the table of version facts and of what is known. Most cases ask for nothing of it.
#ifndef CUDNN_CI_WORKER_KNOWN_ENTRIES_H_
#define CUDNN_CI_WORKER_KNOWN_ENTRIES_H_

#include <map>
#include <mutex>
#include <string>

namespace cudnn_ci::worker {

class KnownEntries {
 public:
  // A text of wire::PackEntries behind those before it. Not while a case runs.
  void Add(const std::string& text);
  // The value of a key; null: there is none. It stays where it is until Add. From any thread.
  const char* Find(const char* key) const;

 private:
  mutable std::mutex mutex_;
  mutable std::string packed_;  // what has not been unpacked yet
  mutable std::map<std::string, std::string> entries_;
};

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_KNOWN_ENTRIES_H_
