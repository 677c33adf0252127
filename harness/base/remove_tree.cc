#include "base/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "base/fd.h"
#include "base/time.h"

namespace cudnn_ci {
namespace {

constexpr size_t kAtOnce = 1000;  // names held in memory

// The next names in a folder, not all of them if they are many. Takes the descriptor over.
std::vector<std::string> Names(Fd folder) {
  std::vector<std::string> names;
  DIR* d = folder.valid() ? fdopendir(folder.get()) : nullptr;
  if (d == nullptr) return names;
  (void)folder.Release();
  while (const dirent* e = readdir(d)) {
    const std::string name = e->d_name;
    if (name != "." && name != "..") names.push_back(name);
    if (names.size() == kAtOnce) break;
  }
  closedir(d);
  return names;
}

// A folder in a folder, made ours to change. Never a link.
Fd Open(int parent, const std::string& name) {
  constexpr int kFlags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  // The mode may forbid to open it for reading, and then fchmod has no descriptor to take.
  const Fd found(openat(parent, name.c_str(), O_PATH | kFlags));
  if (!found.valid()) return Fd();
  (void)chmod(("/proc/self/fd/" + std::to_string(found.get())).c_str(), S_IRWXU);
  return Fd(openat(parent, name.c_str(), O_RDONLY | kFlags));
}

bool Remove(int folder, const std::string& name) {
  return unlinkat(folder, name.c_str(), 0) == 0 || unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0;
}

class Tree {
 public:
  Tree(Fd root, double seconds)
      : root_(std::move(root)), until_ns_(MonotonicNs() + static_cast<int64_t>(seconds * 1e9)) {}

  // Each pass brings what is two levels below the root up by one: so the depth costs time alone.
  void Clear() {
    for (bool progress = true; progress;) {
      progress = false;
      for (const std::string& name : Names(Fd(openat(root_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))))
        progress |= MonotonicNs() < until_ns_ && (Remove(root_.get(), name) || Lift(name));
    }
  }

 private:
  // What is in a folder of the root is removed or moved to the root, and then the folder goes.
  bool Lift(const std::string& name) {
    const Fd folder = Open(root_.get(), name);
    bool progress = false;
    for (const std::string& child : Names(Fd(fcntl(folder.get(), F_DUPFD_CLOEXEC, 0))))
      progress |= Remove(folder.get(), child) || Move(folder.get(), child);
    return Remove(root_.get(), name) || progress;
  }

  bool Move(int folder, const std::string& child) {
    const std::string to = "cudnn-ci-" + std::to_string(++moved_);  // never over a folder that is not empty
    if (renameat(folder, child.c_str(), root_.get(), to.c_str()) == 0) return true;
    // A folder that moves must be ours to write: its ".." changes.
    (void)Open(folder, child);
    return renameat(folder, child.c_str(), root_.get(), to.c_str()) == 0;
  }

  const Fd root_;
  const int64_t until_ns_;
  unsigned moved_ = 0;
};

}  // namespace

bool RemoveTree(const std::string& path, double seconds) {
  if (Fd root = Open(AT_FDCWD, path); root.valid()) Tree(std::move(root), seconds).Clear();
  return rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace cudnn_ci
