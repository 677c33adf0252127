// Bytes at offsets: of a file, of memory, or of a part of either. Every read is held to the bounds. Never
// maps a file: one that is cut meanwhile would end the process.
#ifndef CUDNN_CI_IMAGE_ELF_BYTE_SOURCE_H_
#define CUDNN_CI_IMAGE_ELF_BYTE_SOURCE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace cudnn_ci {

// A view: what it looks at must outlive it. Copies are cheap. Reads from several threads at once are safe.
class ByteSource {
 public:
  ByteSource() = default;
  // Of memory.
  explicit ByteSource(std::string_view bytes) : memory_(bytes.data()), size_(bytes.size()) {}
  // Of an open file of this size.
  ByteSource(int fd, std::uint64_t size) : fd_(fd), size_(size) {}

  std::uint64_t size() const { return size_; }
  // A part of this one; what would lie behind the end is left out.
  ByteSource Part(std::uint64_t offset, std::uint64_t size) const;
  // True if all `count` bytes at `offset` are there and were read.
  bool Read(std::uint64_t offset, void* to, std::size_t count) const;
  // The same as a text; empty where they are not all there.
  std::string Text(std::uint64_t offset, std::size_t count) const;
  // The text at `offset` up to its NUL, at most `most` bytes; what would lie behind the end is left out.
  std::string Name(std::uint64_t offset, std::size_t most) const;
  // `count` rows at `offset`; none where that is more than `most`, or not all are there.
  template <class T>
  std::vector<T> Table(std::uint64_t offset, std::uint64_t count, std::uint64_t most) const {
    if (count > most || offset > size_ || count > (size_ - offset) / sizeof(T)) return {};
    std::vector<T> rows(count);
    if (!Read(offset, rows.data(), count * sizeof(T))) rows.clear();
    return rows;
  }
  // A little-endian number or struct of them.
  template <class T>
  bool ReadObject(std::uint64_t offset, T* object) const {
    return Read(offset, object, sizeof(T));
  }

 private:
  const char* memory_ = nullptr;
  int fd_ = -1;
  std::uint64_t begin_ = 0, size_ = 0;
};

// An open file as bytes, of the size that it has now.
class FileBytes {
 public:
  explicit FileBytes(Fd file);
  // False: the file is not open, or tells no size; errno says why.
  bool ok() const { return ok_; }
  const ByteSource& operator*() const { return bytes_; }
  const ByteSource* operator->() const { return &bytes_; }

 private:
  Fd file_;
  ByteSource bytes_;
  bool ok_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_BYTE_SOURCE_H_
