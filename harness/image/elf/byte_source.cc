#include "image/elf/byte_source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace cudnn_ci {

ByteSource ByteSource::Part(std::uint64_t offset, std::uint64_t size) const {
  ByteSource part = *this;
  offset = std::min(offset, size_);
  part.begin_ = begin_ + offset;
  part.size_ = std::min(size, size_ - offset);
  return part;
}

bool ByteSource::Read(std::uint64_t offset, void* to, std::size_t count) const {
  if (offset > size_ || count > size_ - offset) return false;
  if (memory_) {
    memcpy(to, memory_ + begin_ + offset, count);
    return true;
  }
  auto* bytes = static_cast<char*>(to);
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = pread(fd_, bytes + done, count - done, static_cast<off_t>(begin_ + offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

std::string ByteSource::Text(std::uint64_t offset, std::size_t count) const {
  if (offset > size_ || count > size_ - offset) return {};
  std::string text(count, '\0');
  return Read(offset, text.data(), count) ? text : std::string();
}

std::string ByteSource::Name(std::uint64_t offset, std::size_t most) const {
  const ByteSource part = Part(offset, most);
  std::string name = part.Text(0, part.size());
  name.resize(std::min(name.find('\0'), name.size()));
  return name;
}

FileBytes::FileBytes(Fd file) : file_(std::move(file)) {
  struct stat st {};
  ok_ = file_.valid() && fstat(file_.get(), &st) == 0;
  if (ok_) bytes_ = ByteSource(file_.get(), static_cast<std::uint64_t>(st.st_size));
}

}  // namespace cudnn_ci
