#include "base/elf_dynamic.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

#include "base/elf_file.h"
#include "base/fd.h"
#include "base/regular_file.h"

namespace cudnn_ci {
namespace {

constexpr uint64_t kMostSymbols = 1 << 20, kMostHeaders = 4096, kMostEntries = 1 << 16;
constexpr uint64_t kMostNameBytes = 256 << 20;
constexpr size_t kLongestName = 4096;

// A path without links to a regular file that can be opened without waiting; empty: *problem says why not.
std::string PlainFile(const std::string& path, std::string* problem) {
  std::error_code error;
  std::string real = std::filesystem::canonical(path, error).string();
  struct stat st {};
  *problem = path + ": " + error.message();
  if (error) return "";
  *problem = path + " is no regular file";
  for (const char* kernels : {"/proc/", "/sys/", "/dev/"})
    if (real.compare(0, std::strlen(kernels), kernels) == 0) return "";
  if (lstat(real.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return "";
  problem->clear();
  return real;
}

// What the loader would see at addresses of the file.
class Memory {
 public:
  explicit Memory(const std::string& real) : fd_(OpenRegularFile(real)) {
    Elf64_Ehdr header{};
    if (!fd_.valid() || !ReadFile(0, &header, sizeof header) || header.e_phnum > kMostHeaders) return;
    segments_.resize(header.e_phnum);
    if (!ReadFile(header.e_phoff, segments_.data(), segments_.size() * sizeof(Elf64_Phdr))) segments_.clear();
  }

  std::vector<Elf64_Dyn> Dynamic() const {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_DYNAMIC) continue;
      std::vector<Elf64_Dyn> rows(std::min<uint64_t>(p.p_filesz / sizeof(Elf64_Dyn), kMostEntries));
      if (!Read(p.p_vaddr, rows.data(), rows.size() * sizeof(Elf64_Dyn))) rows.clear();
      return rows;
    }
    return {};
  }

  // What is beyond the bytes of the file's segments is not there.
  bool Read(uint64_t address, void* to, size_t size) const {
    for (const Elf64_Phdr& p : segments_)
      if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr <= p.p_filesz &&
          size <= p.p_filesz - (address - p.p_vaddr))
        return ReadFile(p.p_offset + (address - p.p_vaddr), to, size);
    return size == 0;
  }
  template <class T>
  bool Get(uint64_t address, T* value) const {
    return Read(address, value, sizeof *value);
  }
  std::string Text(uint64_t address) const {
    std::string text;
    for (char c = 0; text.size() < kLongestName && Get(address + text.size(), &c) && c != 0;) text += c;
    return text;
  }

 private:
  bool ReadFile(uint64_t offset, void* to, size_t size) const {
    return offset <= INT64_MAX &&
           pread(fd_.get(), to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }

  const Fd fd_;
  std::vector<Elf64_Phdr> segments_;
};

bool IsOfCLibrary(const std::string& file) {
  constexpr const char* kHeads[] = {"libc.so",  "libm.so",      "libpthread.so", "libdl.so",
                                    "librt.so", "libstdc++.so", "libgcc_s.so",   "ld-linux"};
  return std::any_of(std::begin(kHeads), std::end(kHeads),
                     [&](const char* head) { return file.compare(0, std::strlen(head), head) == 0; });
}

class Reader {
 public:
  explicit Reader(const std::string& real) : memory_(real) {
    for (const Elf64_Dyn& entry : memory_.Dynamic()) {
      if (entry.d_tag == DT_NULL) break;
      entries_[entry.d_tag] = entry.d_un.d_val;  // of two the loader takes the last, too
    }
  }

  // False: what the file has cannot be told.
  bool Look(DynamicSymbols* out) {
    if (!Has(DT_STRTAB)) return false;
    const uint64_t bytes = Of(DT_STRSZ);
    if (bytes > kMostNameBytes) return false;
    names_.resize(bytes);
    if (!memory_.Read(Of(DT_STRTAB), names_.data(), bytes)) return false;
    if (Has(DT_SONAME)) out->soname = NameAt(Of(DT_SONAME));
    if (!Has(DT_SYMTAB)) return true;
    uint64_t count = 0;
    if (!CountSymbols(&count) || count > kMostSymbols) return false;
    std::vector<Elf64_Sym> symbols(count);
    if (!memory_.Read(Of(DT_SYMTAB), symbols.data(), count * sizeof(Elf64_Sym))) return false;
    const std::set<uint16_t> versions = VersionsOfCLibrary();
    for (uint64_t i = 1; i < count; ++i) Take(symbols[i], i, versions, out);
    return true;
  }

 private:
  bool Has(int64_t tag) const { return entries_.count(tag) > 0; }
  uint64_t Of(int64_t tag) const { return Has(tag) ? entries_.at(tag) : 0; }
  // The loader does not hold a name to the table's size.
  std::string NameAt(uint64_t index) const {
    if (index >= names_.size()) return memory_.Text(Of(DT_STRTAB) + index);
    return names_.c_str() + index;
  }

  // By the tables that the loader looks names up in: they alone say how many there are.
  bool CountSymbols(uint64_t* count) const {
    if (Has(DT_HASH)) {
      uint32_t chains[2] = {};
      if (!memory_.Get(Of(DT_HASH), &chains)) return false;
      *count = chains[1];
    }
    if (!Has(DT_GNU_HASH)) return true;
    uint32_t head[4] = {};  // buckets, first symbol, words of the filter, its shift
    if (!memory_.Get(Of(DT_GNU_HASH), &head) || head[0] > kMostSymbols) return false;
    const uint64_t buckets_at = Of(DT_GNU_HASH) + sizeof head + uint64_t{head[2]} * sizeof(uint64_t);
    std::vector<uint32_t> buckets(head[0]);
    if (!memory_.Read(buckets_at, buckets.data(), buckets.size() * sizeof(uint32_t))) return false;
    const uint64_t chains_at = buckets_at + buckets.size() * sizeof(uint32_t);
    uint64_t last = std::max<uint64_t>(head[1], 1) - 1;
    for (const uint32_t bucket : buckets) last = std::max<uint64_t>(last, bucket);
    for (uint32_t hash = 0; last >= head[1] && (hash & 1) == 0; ++last)
      if (last > kMostSymbols || !memory_.Get(chains_at + (last - head[1]) * sizeof hash, &hash))
        return false;
    *count = std::max(*count, std::max<uint64_t>(last, head[1]));
    return true;
  }

  // The numbers of the versions that the file wants of the C library.
  std::set<uint16_t> VersionsOfCLibrary() const {
    std::set<uint16_t> numbers;
    uint64_t at = Of(DT_VERNEED), left = kMostEntries;
    for (uint64_t files = Of(DT_VERNEEDNUM); files > 0 && left > 0; --files, --left) {
      Elf64_Verneed need{};
      if (!memory_.Get(at, &need)) break;
      const bool wanted = IsOfCLibrary(NameAt(need.vn_file));
      uint64_t version_at = at + need.vn_aux;
      for (uint16_t i = 0; i < need.vn_cnt && left > 0; ++i, --left) {
        Elf64_Vernaux version{};
        if (!memory_.Get(version_at, &version)) break;
        if (wanted) numbers.insert(version.vna_other & 0x7fff);
        version_at += version.vna_next;
      }
      if (need.vn_next == 0) break;
      at += need.vn_next;
    }
    return numbers;
  }

  void Take(const Elf64_Sym& symbol, uint64_t index, const std::set<uint16_t>& versions,
            DynamicSymbols* out) const {
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return;
    // The loader takes an undefined symbol with a value for the address of a function.
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_value != 0) {
      out->defined.insert(NameAt(symbol.st_name));
      return;
    }
    uint16_t version = 0;
    if (!versions.empty() && memory_.Get(Of(DT_VERSYM) + index * sizeof version, &version) &&
        versions.count(version & 0x7fff) > 0)
      out->from_c_library.insert(NameAt(symbol.st_name));
  }

  Memory memory_;
  std::map<int64_t, uint64_t> entries_;
  std::string names_;
};

}  // namespace

DynamicSymbols ReadDynamicSymbols(const std::string& path) {
  DynamicSymbols symbols;
  const std::string real = PlainFile(path, &symbols.problem);
  if (real.empty()) return symbols;
  if (const ElfFile file(real); !file.loadable()) {
    symbols.problem = file.error();
    symbols.foreign = file.kind() == ElfFile::Kind::kForeign;
  } else if (!Reader(real).Look(&symbols)) {
    symbols.problem = path + ": its dynamic symbols cannot be read";
  }
  return symbols;
}

}  // namespace cudnn_ci
