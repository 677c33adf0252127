// ELF headers by pread. Every offset comes from a file that may be damaged, so each read is bounded.
#include "image/elf/elf_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/regular_file.h"
#include "image/elf/byte_source.h"
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

std::string MachineName(uint16_t machine) {
  if (machine == EM_X86_64) return "x86-64";
  if (machine == EM_AARCH64) return "aarch64";
  return "machine " + std::to_string(machine) + " of ELF";
}

// A file by its section headers.
class Sections {
 public:
  explicit Sections(const ByteSource& file) : file_(file) {
    Elf64_Ehdr header;
    if (file.ReadObject(0, &header))
      headers_ = file.Table<Elf64_Shdr>(header.e_shoff, header.e_shnum, UINT16_MAX);
  }
  // Null: there is none that has a table of names. The first of several: a file
  // must not have them.
  const Elf64_Shdr* OfType(uint32_t type) const {
    for (const Elf64_Shdr& section : headers_)
      if (section.sh_type == type && section.sh_link < headers_.size()) return &section;
    return nullptr;
  }
  ByteSource NamesOf(const Elf64_Shdr& section) const {
    const Elf64_Shdr& names = headers_[section.sh_link];
    return file_.Part(names.sh_offset, names.sh_size);
  }

 private:
  const ByteSource& file_;
  std::vector<Elf64_Shdr> headers_;
};

// The bytes of a 4-byte object at a virtual address: the loaded segment that holds it says where.
std::optional<uint32_t> ValueAt(const ByteSource& file, uint64_t address) {
  Elf64_Ehdr header;
  if (!file.ReadObject(0, &header)) return std::nullopt;
  for (const auto& segment : file.Table<Elf64_Phdr>(header.e_phoff, header.e_phnum, UINT16_MAX)) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
        address - segment.p_vaddr + sizeof(uint32_t) > segment.p_filesz) {
      continue;
    }
    uint32_t value = 0;
    if (file.ReadObject(segment.p_offset + (address - segment.p_vaddr), &value)) return value;
  }
  return std::nullopt;
}

// What a file is that is no ELF file, as its first bytes tell.
std::string DescribeOther(const ByteSource& file) {
  static constexpr char kPointer[] = "version https://git-lfs";
  char head[sizeof kPointer - 1] = {};
  if (file.size() == 0) return " is empty (0 bytes)";
  const bool pointer = file.Read(0, head, sizeof head) && memcmp(head, kPointer, sizeof head) == 0;
  return " (" + std::to_string(file.size()) + " bytes) is not an ELF file" +
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

std::string ThisMachine() { return MachineName(kMachine); }

struct ElfFile::Dynamic {
  std::vector<std::string> needed;
  std::optional<std::string> soname, rpath, run_path;
};

struct ElfFile::LazyDynamic {
  std::once_flag once;
  Dynamic value;
};

ElfFile::ElfFile(const std::string& path) : path_(path), dynamic_(std::make_shared<LazyDynamic>()) {
  ReadHeaders();
}

// The sum saturates: offsets of a damaged header may wrap around and look small.
void ElfFile::Require(uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size < offset ? UINT64_MAX : offset + size;
  required_size_ = std::max(required_size_, end);
}

void ElfFile::ReadHeaders() {
  std::string kind;
  const FileBytes file(OpenRegularFile(path_, &kind));
  if (!file.ok()) {
    error_ = kind.empty() ? DescribeUnopened(path_, errno) : path_ + " is not a regular file: it is " + kind;
    return;
  }
  file_size_ = file->size();
  Elf64_Ehdr header{};
  kind_ = Kind::kNotElf;
  if (!file->ReadObject(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    error_ = path_ + DescribeOther(*file);
    return;
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachine) {
    kind_ = Kind::kForeign;
    if (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB)
      other_machine_ = MachineName(header.e_machine);
    error_ = path_ + DescribeForeign(header);
    return;
  }
  kind_ = Kind::kNative;
  required_size_ = sizeof header;
  Require(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (header.e_shnum > 0) Require(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (const auto& segment : file->Table<Elf64_Phdr>(header.e_phoff, header.e_phnum, UINT16_MAX))
    Require(segment.p_offset, segment.p_filesz);
  if (truncated()) {
    error_ = path_ + " is truncated: " + std::to_string(file_size_) + " bytes, its headers need " +
             std::to_string(required_size_);
  }
}

ElfFile::Dynamic ElfFile::ReadDynamic() const {
  Dynamic result;
  if (!loadable()) return result;
  const FileBytes file(OpenRegularFile(path_));
  const Sections sections(*file);
  const Elf64_Shdr* dynamic = sections.OfType(SHT_DYNAMIC);
  if (!dynamic) return result;
  const uint64_t entries = std::min(dynamic->sh_size / sizeof(Elf64_Dyn), kMostDynamicEntries);
  const ByteSource names = sections.NamesOf(*dynamic);
  uint64_t bytes = 0;
  for (const auto& entry : file->Table<Elf64_Dyn>(dynamic->sh_offset, entries, kMostDynamicEntries)) {
    const auto name = [&] { return names.Name(entry.d_un.d_val, kLongestElfName); };
    if (entry.d_tag == DT_SONAME && !result.soname) result.soname = name();
    if (entry.d_tag == DT_RPATH && !result.rpath) result.rpath = name();
    if (entry.d_tag == DT_RUNPATH && !result.run_path) result.run_path = name();
    if (entry.d_tag != DT_NEEDED || result.needed.size() == kMostNeededNames || bytes > kMostElfTextBytes)
      continue;
    std::string library = name();
    bytes += library.size();
    if (bytes <= kMostElfTextBytes) result.needed.push_back(std::move(library));
  }
  return result;
}

const ElfFile::Dynamic& ElfFile::dynamic() const {
  std::call_once(dynamic_->once, [this] { dynamic_->value = ReadDynamic(); });
  return dynamic_->value;
}

std::vector<std::string> ElfFile::Needed() const { return dynamic().needed; }

std::string ElfFile::Soname() const { return dynamic().soname.value_or(""); }

bool ElfFile::RunPathIsFirst() const { return !dynamic().run_path && dynamic().rpath; }

std::vector<std::string> ElfFile::RunPath() const {
  std::vector<std::string> result;
  std::string list = dynamic().run_path.value_or(dynamic().rpath.value_or(""));
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
  const FileBytes file(OpenRegularFile(path_));
  const Sections sections(*file);
  const Elf64_Shdr* table = sections.OfType(SHT_DYNSYM);
  if (!table) return std::nullopt;
  const ByteSource strings = sections.NamesOf(*table);
  const std::vector<char> names = strings.Table<char>(0, strings.size(), kMostElfNameBytes);
  const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
  for (const auto& s : file->Table<Elf64_Sym>(table->sh_offset, count, kMostElfSymbols)) {
    if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_shndx == SHN_UNDEF || s.st_size != 4) continue;
    if (s.st_name + symbol.size() >= names.size() ||
        std::memcmp(names.data() + s.st_name, symbol.c_str(), symbol.size() + 1) != 0) {
      continue;
    }
    return ValueAt(*file, s.st_value);
  }
  return std::nullopt;
}

}  // namespace cudnn_ci
