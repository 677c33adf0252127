// The archive at the end of an executable, a ZIP file whose entries are stored or packed by zstd (methods 0
// and 93). Written by ci/bundling/single.py. The offsets in it are those in the whole file.
#ifndef CUDNN_CI_EMBED_ARCHIVE_H_
#define CUDNN_CI_EMBED_ARCHIVE_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci {

struct ArchiveEntry {
  uint64_t offset = 0, packed = 0, size = 0;  // of its bytes in the file; their number there and unpacked
  uint32_t checksum = 0;                      // CRC-32 of what is unpacked
  uint16_t method = 0;
  bool program = false;  // its owner may execute it
};

class Archive {
 public:
  // Of an open file, which is kept. An archive without entries: the file is an executable and nothing more.
  // Errors say what is wrong: it was cut off or changed.
  static Result<Archive> Open(Fd file);

  // By their names: "plugins/conv.cci.so".
  const std::map<std::string, ArchiveEntry>& entries() const { return entries_; }
  // What is unpacked of an entry. Errors are of a file that was changed.
  Result<std::string> Unpack(const ArchiveEntry& entry) const;
  // The executable before it.
  Result<std::string> Program() const;

 private:
  Status ReadIndex(uint64_t file_size);
  Status TakeEntry(const std::string& index, size_t* at);

  Fd file_;
  uint64_t program_size_ = 0, index_offset_ = 0;
  std::map<std::string, ArchiveEntry> entries_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EMBED_ARCHIVE_H_
