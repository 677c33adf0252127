#include "embed/archive.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace cudnn_ci {
namespace {

// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.7, 4.3.12 and 4.3.16. Numbers are
// little-endian, as this machine's are.
constexpr uint32_t kEntryMark = 0x04034b50, kIndexMark = 0x02014b50, kEndMark = 0x06054b50;
constexpr size_t kEntryHead = 30, kIndexHead = 46, kEndHead = 22;
constexpr uint16_t kZstd = 93;
constexpr uint64_t kMostIndex = 1 << 20, kMostBytes = 256 << 20;  // of all entries' names; of one entry
constexpr uint32_t kOwnerExecutes = 0100;

template <class T>
T Number(const std::string& bytes, size_t at) {
  T number = 0;
  memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

Error Damaged(const std::string& what) {
  return Error{"this executable is damaged (" + what + "): download it again, and compare its SHA-256"};
}

// All `count` bytes at `offset`; none: they are not there.
std::optional<std::string> ReadAt(int fd, uint64_t offset, uint64_t count) {
  std::string bytes(count, '\0');
  for (size_t done = 0; done < count;) {
    const ssize_t got = pread(fd, bytes.data() + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<size_t>(got);
  }
  return bytes;
}

// Where the executable itself ends: its section headers are the last of it. 0: it tells no end.
uint64_t EndOfElf(int fd) {
  const std::optional<std::string> bytes = ReadAt(fd, 0, sizeof(Elf64_Ehdr));
  Elf64_Ehdr header{};
  if (!bytes) return 0;
  memcpy(&header, bytes->data(), sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shoff == 0) return 0;
  return header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name[0] != '/' && name.find("..") == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

Result<Archive> Archive::Open(Fd file) {
  Archive archive;
  archive.file_ = std::move(file);
  struct stat st {};
  if (!archive.file_.valid() || fstat(archive.file_.get(), &st) != 0)
    return Error{std::string("cannot read this executable: ") + strerror(errno)};
  const auto size = static_cast<uint64_t>(st.st_size);
  Status read = archive.ReadIndex(size);
  if (read.ok() && !archive.entries_.empty()) read = archive.MapProgram();
  if (!read.ok()) return Error{read.error()};
  return archive;
}

Status Archive::ReadIndex(uint64_t file_size) {
  const std::optional<std::string> end =
      file_size < kEndHead ? std::nullopt : ReadAt(file_.get(), file_size - kEndHead, kEndHead);
  if (!end) return Error{"cannot read this executable"};
  if (Number<uint32_t>(*end, 0) != kEndMark) {
    const uint64_t end_of_elf = EndOfElf(file_.get());
    if (end_of_elf > file_size) return Damaged("its end is missing");
    const std::optional<std::string> behind = ReadAt(file_.get(), end_of_elf, sizeof kEntryMark);
    return behind && Number<uint32_t>(*behind, 0) == kEntryMark ? Damaged("its end is missing") : Status();
  }
  const uint16_t count = Number<uint16_t>(*end, 10);
  const uint64_t size = Number<uint32_t>(*end, 12);
  index_offset_ = program_size_ = Number<uint32_t>(*end, 16);
  if (size > kMostIndex || index_offset_ + size + kEndHead != file_size) return Damaged("its index");
  const std::optional<std::string> index = ReadAt(file_.get(), index_offset_, size);
  size_t at = 0;
  for (unsigned i = 0; i < count; ++i)
    if (Status s = index ? TakeEntry(*index, &at) : Damaged("its index"); !s.ok()) return s;
  return at == size && count > 0 ? Status() : Damaged("its index");
}

Status Archive::TakeEntry(const std::string& index, size_t* at) {
  if (index.size() - *at < kIndexHead || Number<uint32_t>(index, *at) != kIndexMark)
    return Damaged("its index");
  ArchiveEntry entry;
  const bool known = Number<uint16_t>(index, *at + 10) == kZstd;
  entry.packed = Number<uint32_t>(index, *at + 20);
  entry.size = Number<uint32_t>(index, *at + 24);
  const size_t name_size = Number<uint16_t>(index, *at + 28);
  const size_t rest = size_t{Number<uint16_t>(index, *at + 30)} + Number<uint16_t>(index, *at + 32);
  entry.program = (Number<uint32_t>(index, *at + 38) >> 16 & kOwnerExecutes) != 0;
  const uint64_t head_at = Number<uint32_t>(index, *at + 42);
  if (index.size() - *at - kIndexHead < name_size + rest) return Damaged("its index");
  const std::string name = index.substr(*at + kIndexHead, name_size);
  *at += kIndexHead + name_size + rest;
  const std::optional<std::string> head =
      head_at < index_offset_ ? ReadAt(file_.get(), head_at, kEntryHead) : std::nullopt;
  if (!head || Number<uint32_t>(*head, 0) != kEntryMark || !IsPlainName(name)) return Damaged("its index");
  entry.offset = head_at + kEntryHead + Number<uint16_t>(*head, 26) + Number<uint16_t>(*head, 28);
  const bool fits = entry.offset + entry.packed <= index_offset_ && entry.size <= kMostBytes;
  if (!fits || !known || !entries_.emplace(name, entry).second) return Damaged(name);
  program_size_ = std::min(program_size_, head_at);
  return {};
}

Status Archive::MapProgram() {
  const size_t size = program_size_;
  void* const bytes = size == 0 ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file_.get(), 0);
  if (bytes == MAP_FAILED) return Error{std::string("cannot read this executable: ") + strerror(errno)};
  program_ = {static_cast<const char*>(bytes), [size](const char* p) { munmap(const_cast<char*>(p), size); }};
  return {};
}

Status Archive::Unpack(const ArchiveEntry& entry, char* to) const {
  const std::optional<std::string> packed = ReadAt(file_.get(), entry.offset, entry.packed);
  if (!packed) return Damaged("a part is missing");
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (context == nullptr ||
      ZSTD_isError(ZSTD_DCtx_refPrefix(context.get(), program_.get(), program_size_)) != 0)
    return Error{"no memory to unpack what this executable carries"};
  // zstd compares the checksum that each frame ends with.
  const size_t got = ZSTD_decompressDCtx(context.get(), to, entry.size, packed->data(), packed->size());
  return ZSTD_isError(got) == 0 && got == entry.size ? Status() : Damaged("a part cannot be unpacked");
}

}  // namespace cudnn_ci
