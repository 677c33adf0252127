// ELF headers by pread. Every offset comes from a file that may be damaged, so each read is bounded.
#include "image/elf/elf_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/regular_file.h"
#include "image/elf/elf_bounds.h"

namespace cudnn_ci {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "cuDNN exists for x86_64 and aarch64 Linux only"
#endif

// No table we read is larger in a healthy cuDNN; a damaged header must not make us allocate more.
constexpr uint64_t kMaxTableBytes = 64u << 20;

std::string MachineName(uint16_t machine) {
  if (machine == EM_X86_64) return "x86-64";
  if (machine == EM_AARCH64) return "aarch64";
  return "machine " + std::to_string(machine) + " of ELF";
}

class Reader {
 public:
  // *kind: what it is that is no regular file.
  explicit Reader(const std::string& path, std::string* kind = nullptr) : fd_(OpenRegularFile(path, kind)) {}
  bool ok() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }

  bool ReadAt(uint64_t offset, void* to, size_t size) const {
    auto* p = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t n = pread(fd_.get(), p, size, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      p += n;
      offset += static_cast<uint64_t>(n);
      size -= static_cast<size_t>(n);
    }
    return true;
  }

  template <class T>
  std::vector<T> Table(uint64_t offset, uint64_t count) const {
    if (count > kMaxTableBytes / sizeof(T)) return {};
    std::vector<T> rows(count);
    if (!ReadAt(offset, rows.data(), count * sizeof(T))) return {};
    return rows;
  }

  std::string StringAt(const Elf64_Shdr& strings, uint64_t index) const {
    char text[kLongestElfName] = {};
    if (index >= strings.sh_size) return {};
    const uint64_t size = std::min<uint64_t>(sizeof text - 1, strings.sh_size - index);
    return ReadAt(strings.sh_offset + index, text, size) ? text : "";
  }

 private:
  const Fd fd_;
};

std::vector<Elf64_Shdr> Sections(const Reader& file) {
  Elf64_Ehdr header;
  if (!file.ReadAt(0, &header, sizeof header)) return {};
  return file.Table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
}

// The bytes of a 4-byte object at a virtual address: the loaded segment that holds it says where.
std::optional<uint32_t> ValueAt(const Reader& file, uint64_t address) {
  Elf64_Ehdr header;
  if (!file.ReadAt(0, &header, sizeof header)) return std::nullopt;
  for (const auto& segment : file.Table<Elf64_Phdr>(header.e_phoff, header.e_phnum)) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
        address - segment.p_vaddr + sizeof(uint32_t) > segment.p_filesz) {
      continue;
    }
    uint32_t value = 0;
    if (file.ReadAt(segment.p_offset + (address - segment.p_vaddr), &value, sizeof value)) return value;
  }
  return std::nullopt;
}

// What a file is that is no ELF file, as its first bytes tell.
std::string DescribeOther(const Reader& file, uint64_t size) {
  static constexpr char kPointer[] = "version https://git-lfs";
  char head[sizeof kPointer - 1] = {};
  if (size == 0) return " is empty (0 bytes)";
  const bool pointer =
      size >= sizeof head && file.ReadAt(0, head, sizeof head) && memcmp(head, kPointer, sizeof head) == 0;
  return " (" + std::to_string(size) + " bytes) is not an ELF file" +
         (pointer ? ": it is a git-lfs pointer, whose content was never fetched" : "");
}

std::string DescribeForeign(const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] == ELFCLASS32)
    return " is a 32-bit library, which a 64-bit program cannot load";
  return " is built for another machine: " + MachineName(header.e_machine) + ", and this is " +
         MachineName(kMachine);
}

// Why a file cannot be opened: a link whose end is missing reads like a missing file otherwise.
std::string DescribeUnopened(const std::string& path, int error) {
  struct stat st;
  char target[4096];
  const ssize_t length = error == ENOENT && lstat(path.c_str(), &st) == 0 && S_ISLNK(st.st_mode)
                             ? readlink(path.c_str(), target, sizeof target)
                             : -1;
  if (length < 0) return path + ": " + std::strerror(error);
  return path + " is a link to " + std::string(target, static_cast<size_t>(length)) +
         ", which does not exist";
}

}  // namespace

ElfFile::ElfFile(const std::string& path) : path_(path) { ReadHeaders(); }

// The sum saturates: offsets of a damaged header may wrap around and look small.
void ElfFile::Require(uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size < offset ? UINT64_MAX : offset + size;
  required_size_ = std::max(required_size_, end);
}

void ElfFile::ReadHeaders() {
  std::string kind;
  const Reader file(path_, &kind);
  struct stat st;
  if (!file.ok() || fstat(file.fd(), &st) != 0) {
    error_ = kind.empty() ? DescribeUnopened(path_, errno) : path_ + " is not a regular file: it is " + kind;
    return;
  }
  file_size_ = static_cast<uint64_t>(st.st_size);
  Elf64_Ehdr header{};
  kind_ = Kind::kNotElf;
  if (file_size_ < sizeof header || !file.ReadAt(0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    error_ = path_ + DescribeOther(file, file_size_);
    return;
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachine) {
    kind_ = Kind::kForeign;
    error_ = path_ + DescribeForeign(header);
    return;
  }
  kind_ = Kind::kNative;
  required_size_ = sizeof header;
  Require(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (header.e_shnum > 0) Require(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (const auto& segment : file.Table<Elf64_Phdr>(header.e_phoff, header.e_phnum))
    Require(segment.p_offset, segment.p_filesz);
  if (truncated()) {
    error_ = path_ + " is truncated: " + std::to_string(file_size_) + " bytes, its headers need " +
             std::to_string(required_size_);
  }
}

std::vector<std::string> ElfFile::DynamicStrings(int64_t tag) const {
  std::vector<std::string> result;
  if (!loadable()) return result;
  const Reader file(path_);
  const auto sections = Sections(file);
  for (const auto& section : sections) {
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) continue;
    const uint64_t entries = std::min(section.sh_size / sizeof(Elf64_Dyn), kMostDynamicEntries);
    for (const auto& entry : file.Table<Elf64_Dyn>(section.sh_offset, entries))
      if (entry.d_tag == tag && result.size() < kMostNeededNames)
        result.push_back(file.StringAt(sections[section.sh_link], entry.d_un.d_val));
  }
  return result;
}

std::vector<std::string> ElfFile::Needed() const { return DynamicStrings(DT_NEEDED); }

std::string ElfFile::Soname() const {
  const std::vector<std::string> names = DynamicStrings(DT_SONAME);
  return names.empty() ? "" : names.front();
}

bool ElfFile::RunPathIsFirst() const {
  return DynamicStrings(DT_RUNPATH).empty() && !DynamicStrings(DT_RPATH).empty();
}

std::vector<std::string> ElfFile::RunPath() const {
  std::vector<std::string> result, lists = DynamicStrings(DT_RUNPATH);
  if (lists.empty()) lists = DynamicStrings(DT_RPATH);
  std::string list = lists.empty() ? "" : lists.front();
  const size_t slash = path_.rfind('/');
  const std::string origin = slash == std::string::npos ? "." : path_.substr(0, slash);
  while (!list.empty()) {
    const size_t colon = std::min(list.find(':'), list.size());
    std::string directory = list.substr(0, colon);
    list.erase(0, colon + 1);
    for (const char* token : {"$ORIGIN", "${ORIGIN}"}) {
      const size_t at = directory.find(token);
      if (at != std::string::npos) directory.replace(at, std::strlen(token), origin);
    }
    if (!directory.empty()) result.push_back(directory);
  }
  return result;
}

std::optional<uint32_t> ElfFile::ReadObject(const std::string& symbol) const {
  if (!loadable()) return std::nullopt;
  Reader file(path_);
  const auto sections = Sections(file);
  for (const auto& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto names = file.Table<char>(strings.sh_offset, strings.sh_size);
    for (const auto& s : file.Table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF || s.st_size != 4) continue;
      if (s.st_name + symbol.size() >= names.size() ||
          std::memcmp(names.data() + s.st_name, symbol.c_str(), symbol.size() + 1) != 0) {
        continue;
      }
      return ValueAt(file, s.st_value);
    }
  }
  return std::nullopt;
}

}  // namespace cudnn_ci
