#include "embed/own_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/embedded.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/text.h"
#include "embed/archive.h"
#include "embed/unnamed_file.h"

namespace cudnn_ci {
namespace {

class OwnFiles : public EmbeddedFiles {
 public:
  OwnFiles(Archive archive, const std::string& executable)
      : archive_(std::move(archive)), prefix_(executable + "/"), folders_{"/tmp", "/dev/shm", "/run"} {
    if (const char* named = getenv("TMPDIR"); named != nullptr && *named == '/')
      folders_.insert(folders_.begin(), named);
  }

  bool Has(const std::string& path) const override { return Find(path) != nullptr; }
  std::vector<std::string> Paths() const override {
    std::vector<std::string> paths;
    for (const auto& [name, entry] : archive_.entries()) paths.push_back(prefix_ + name);
    return paths;
  }
  bool IsProgram(const std::string& path) const override {
    const ArchiveEntry* entry = Find(path);
    return entry != nullptr && entry->program;
  }
  Result<std::string> Read(const std::string& path) const override {
    const ArchiveEntry* entry = Find(path);
    if (entry == nullptr) return Error{path + ": " + strerror(ENOENT)};
    std::string content(entry->size, '\0');
    if (Status s = archive_.Unpack(*entry, content.data()); !s.ok()) return Error{path + ": " + s.error()};
    return content;
  }
  Result<int> Descriptor(const std::string& path) override;
  void MayUnpackInto(const std::string& folder) override { folders_.push_back(folder); }
  Result<std::string> ProgramAlone() const override { return archive_.Program(); }

 private:
  const ArchiveEntry* Find(const std::string& path) const {
    if (!path.starts_with(prefix_)) return nullptr;
    const auto found = archive_.entries().find(path.substr(prefix_.size()));
    return found == archive_.entries().end() ? nullptr : &found->second;
  }

  const Archive archive_;
  const std::string prefix_;
  std::vector<std::string> folders_;
  std::map<std::string, int> descriptors_;  // open until the end of the process
};

Result<int> OwnFiles::Descriptor(const std::string& path) {
  if (const auto known = descriptors_.find(path); known != descriptors_.end()) return known->second;
  const ArchiveEntry* entry = Find(path);
  if (entry == nullptr) return Error{path + ": " + strerror(ENOENT)};
  std::string why;
  Fd file = FileInMemory(
      path.substr(path.rfind('/') + 1), entry->size, [&](char* to) { return archive_.Unpack(*entry, to); },
      &why);
  std::vector<std::string> tried = {why};
  const Result<std::string> content = file.valid() ? std::string() : Read(path);
  if (!content.ok()) return Error{content.error()};
  for (size_t i = 0; i < folders_.size() && !file.valid(); ++i) {
    file = UnnamedFileIn(folders_[i], *content, &why);
    tried.push_back(folders_[i] + ": " + why);
  }
  if (!file.valid()) return Error{"cudnn-ci could not unpack what it carries: " + Join(tried, "; ")};
  // Above those that a worker's become.
  const int kept = fcntl(file.get(), F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (kept < 0) return Error{std::string("cudnn-ci could not unpack what it carries: ") + strerror(errno)};
  return descriptors_[path] = kept;
}

// This executable, opened; without /proc by what the kernel was told to execute.
Fd OpenOwn() {
  Fd own(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (own.valid()) return own;
  const auto* executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return executed != nullptr ? Fd(open(executed, O_RDONLY | O_CLOEXEC)) : Fd();
}

}  // namespace

Status UseOwnArchive() {
  Fd own = OpenOwn();
  // One that may be executed and not read is one of a tree.
  if (!own.valid()) return {};
  // Out of the way of the descriptors that a worker's become.
  if (const int high = fcntl(own.get(), F_DUPFD_CLOEXEC, EmbeddedFiles::kFirstDescriptor); high >= 0)
    own = Fd(high);
  Result<Archive> archive = Archive::Open(std::move(own));
  if (!archive.ok()) return Error{archive.error()};
  if (archive->entries().empty()) return {};
  // Never destroyed: it is used until the last report is written.
  SetEmbedded(new OwnFiles(std::move(*archive), ExecutablePath()));
  return {};
}

}  // namespace cudnn_ci
