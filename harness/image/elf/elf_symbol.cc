#include "image/elf/elf_symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/embedded.h"
#include "base/fd.h"
#include "base/regular_file.h"
#include "base/time.h"
#include "image/elf/byte_source.h"
#include "image/elf/elf_bounds.h"

namespace cudnn_ci {
namespace {

constexpr uint64_t kAtOnce = 4096;

bool IsRegular(const struct stat& st) { return S_ISREG(st.st_mode); }

// Opening alone may do harm or wait where a path leads to no plain file.
Fd OpenFile(const std::string& path) {
  if (IsEmbedded(path)) return OpenRegularFile(path);
  for (const char* kernels : {"/proc/", "/sys/", "/dev/"})
    if (path.compare(0, strlen(kernels), kernels) == 0) return Fd();
  std::error_code error;
  struct stat st {};
  if (path.compare(0, 1, "/") != 0 || std::filesystem::canonical(path, error) != path ||
      lstat(path.c_str(), &st) != 0 || !IsRegular(st))
    return Fd();
  // Something else may stand there by now.
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (!fd.valid() || fstat(fd.get(), &st) != 0 || !IsRegular(st)) return Fd();
  return fd;
}

// Where the loader would put what stands at an offset of the file.
std::optional<uint64_t> AddressOf(const std::vector<Elf64_Phdr>& headers, uint64_t offset) {
  for (const Elf64_Phdr& p : headers)
    if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
      return offset - p.p_offset + p.p_vaddr;
  return std::nullopt;
}

// What is looked for in one file, within one budget for all its tables.
class Search {
 public:
  Search(const ByteSource& file, int64_t until_ns, std::vector<std::string>* names)
      : file_(file), until_ns_(until_ns), names_(names) {}

  void Want(uint64_t address, size_t place) { wanted_.push_back({address, place}); }

  void Look(const Elf64_Shdr& table, const Elf64_Shdr& strings) {
    std::sort(wanted_.begin(), wanted_.end(),
              [](const Wanted& a, const Wanted& b) { return a.address < b.address; });
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const ByteSource symbols = file_.Part(table.sh_offset, table.sh_size);
    uint64_t some = 0;
    for (uint64_t at = 0; at < count && left_ > 0 && MonotonicNs() < until_ns_; at += some) {
      some = std::min({kAtOnce, count - at, left_});
      left_ -= some;
      const auto rows = symbols.Table<Elf64_Sym>(at * sizeof(Elf64_Sym), some, kAtOnce);
      if (rows.empty()) break;
      for (const Elf64_Sym& symbol : rows) Take(symbol, strings);
    }
  }

 private:
  struct Wanted {
    uint64_t address;
    size_t place;
  };

  void Take(const Elf64_Sym& symbol, const Elf64_Shdr& strings) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
    auto wanted = std::lower_bound(wanted_.begin(), wanted_.end(), symbol.st_value,
                                   [](const Wanted& w, uint64_t value) { return w.address < value; });
    for (; wanted != wanted_.end() && wanted->address - symbol.st_value < symbol.st_size; ++wanted) {
      std::string& found = (*names_)[wanted->place];
      const std::string name = found.empty() ? NameAt(strings, symbol.st_name) : "";
      if (name.empty()) continue;
      char offset[24];
      snprintf(offset, sizeof offset, "+0x%" PRIx64, wanted->address - symbol.st_value);
      found = name + offset;
    }
  }

  std::string NameAt(const Elf64_Shdr& strings, uint64_t index) const {
    return file_.Part(strings.sh_offset, strings.sh_size).Name(index, kLongestElfSymbolName);
  }

  const ByteSource& file_;
  const int64_t until_ns_;
  std::vector<std::string>* const names_;
  std::vector<Wanted> wanted_;
  uint64_t left_ = kMostElfSymbolsSearched;
};

}  // namespace

std::vector<std::string> ElfSymbolsAt(const std::string& file, const std::vector<uint64_t>& offsets,
                                      int64_t until_ns) {
  std::vector<std::string> names(offsets.size());
  const FileBytes bytes(OpenFile(file));
  Elf64_Ehdr header{};
  if (!bytes->ReadObject(0, &header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return names;
  Search search(*bytes, until_ns, &names);
  const auto segments = bytes->Table<Elf64_Phdr>(header.e_phoff, header.e_phnum, UINT16_MAX);
  for (size_t i = 0; i < offsets.size(); ++i)
    if (const std::optional<uint64_t> address = AddressOf(segments, offsets[i])) search.Want(*address, i);
  const auto sections = bytes->Table<Elf64_Shdr>(header.e_shoff, header.e_shnum, UINT16_MAX);
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM})
    for (const Elf64_Shdr& s : sections)
      if (s.sh_type == type && s.sh_link < sections.size()) search.Look(s, sections[s.sh_link]);
  return names;
}

}  // namespace cudnn_ci
