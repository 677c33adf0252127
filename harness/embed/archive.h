// The archive at the end of an executable, a ZIP file whose entries are packed by zstd, method 93, each
// in a frame with a checksum. Frames may refer to the executable, which is zstd's prefix: worker and plugins
// have much code of it. Written by ci/bundling/single.py. The offsets in it are those in the whole file.
#ifndef CUDNN_CI_EMBED_ARCHIVE_H_
#define CUDNN_CI_EMBED_ARCHIVE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci {

struct ArchiveEntry {
  uint64_t offset = 0, packed = 0, size = 0;  // of its bytes in the file; their number there and unpacked
  bool program = false;                       // its owner may execute it
};

class Archive {
 public:
  // Of an open file, which is kept. An archive without entries: the file is an executable and nothing more.
  // Errors say what is wrong: it was cut off or changed.
  static Result<Archive> Open(Fd file);

  // By their names: "plugins/conv.cci.so".
  const std::map<std::string, ArchiveEntry>& entries() const { return entries_; }
  // What is unpacked of an entry, `entry.size` bytes at `to`. Errors are of a file that was changed.
  Status Unpack(const ArchiveEntry& entry, char* to) const;
  // The executable before it.
  std::string Program() const { return {program_.get(), program_size_}; }

 private:
  Status ReadIndex(uint64_t file_size);
  Status TakeEntry(const std::string& index, size_t* at);
  Status MapProgram();

  Fd file_;
  std::shared_ptr<const char> program_;  // mapped
  uint64_t program_size_ = 0, index_offset_ = 0;
  std::map<std::string, ArchiveEntry> entries_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EMBED_ARCHIVE_H_
