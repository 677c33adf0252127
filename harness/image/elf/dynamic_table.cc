#include "image/elf/dynamic_table.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/regular_file.h"
#include "image/elf/byte_source.h"
#include "image/elf/elf_bounds.h"
#include "image/elf/elf_file.h"

namespace cudnn_ci {
namespace {

// A path without links to a regular file that can be opened without waiting; empty: *problem says why not.
std::string PlainFile(const std::string& path, std::string* problem) {
  std::error_code error;
  std::string real = std::filesystem::canonical(path, error).string();
  struct stat st {};
  *problem = path + ": " + error.message();
  if (error) return "";
  *problem = path + " is not a regular file";
  for (const char* kernels : {"/proc/", "/sys/", "/dev/"})
    if (real.compare(0, std::strlen(kernels), kernels) == 0) return "";
  if (lstat(real.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return "";
  problem->clear();
  return real;
}

// What the loader would see at addresses of the file.
class Memory {
 public:
  explicit Memory(const std::string& real) : file_(OpenRegularFile(real)) {
    Elf64_Ehdr header{};
    if (!file_->ReadObject(0, &header)) return;
    segments_ = file_->Table<Elf64_Phdr>(header.e_phoff, header.e_phnum, kMostElfSegments);
    ok_ = segments_.size() == header.e_phnum;
  }

  // False: it is not known which bytes lie where.
  bool ok() const { return ok_; }

  std::vector<Elf64_Dyn> Dynamic() const {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_DYNAMIC) continue;
      std::vector<Elf64_Dyn> rows(std::min<uint64_t>(p.p_filesz / sizeof(Elf64_Dyn), kMostDynamicEntries));
      if (!Read(p.p_vaddr, rows.data(), rows.size() * sizeof(Elf64_Dyn))) rows.clear();
      return rows;
    }
    return {};
  }

  // What is beyond the bytes of the file's segments is not there.
  bool Read(uint64_t address, void* to, size_t size) const {
    uint64_t left = 0;
    const Elf64_Phdr* segment = SegmentOf(address, &left);
    if (size == 0) return true;
    return segment && size <= left && file_->Read(segment->p_offset + (address - segment->p_vaddr), to, size);
  }
  template <class T>
  bool Get(uint64_t address, T* value) const {
    return Read(address, value, sizeof *value);
  }
  std::string Text(uint64_t address) const {
    uint64_t left = 0;
    const Elf64_Phdr* segment = SegmentOf(address, &left);
    if (!segment) return "";
    return file_->Part(segment->p_offset + (address - segment->p_vaddr), left).Name(0, kLongestElfName);
  }

 private:
  const Elf64_Phdr* SegmentOf(uint64_t address, uint64_t* left) const {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr > p.p_filesz) continue;
      *left = p.p_filesz - (address - p.p_vaddr);
      return &p;
    }
    return nullptr;
  }

  const FileBytes file_;
  std::vector<Elf64_Phdr> segments_;
  bool ok_ = false;
};

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < list.size();) {
    const size_t colon = std::min(list.find(':', at), list.size());
    if (colon > at) parts.push_back(list.substr(at, colon - at));
    at = colon + 1;
  }
  return parts;
}

}  // namespace

class DynamicReader {
 public:
  explicit DynamicReader(const std::string& real, DynamicTable* out) : memory_(real), out_(*out) {
    for (const Elf64_Dyn& entry : memory_.Dynamic()) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) needed_.push_back(entry.d_un.d_val);
      entries_[entry.d_tag] = entry.d_un.d_val;  // of two the loader takes the last, too
    }
  }

  // False: what the file has cannot be told.
  bool Look() {
    if (!memory_.ok()) return false;
    if (entries_.empty()) return true;  // a static program
    if (!Has(DT_STRTAB)) return false;
    const uint64_t bytes = Of(DT_STRSZ);
    if (bytes > kMostElfNameBytes || needed_.size() > kMostNeededNames) return false;
    out_.names_.resize(bytes);
    if (!memory_.Read(Of(DT_STRTAB), out_.names_.data(), bytes)) return false;
    if (Has(DT_SONAME)) out_.soname = TextAt(Of(DT_SONAME));
    out_.filters = Has(DT_FILTER) || Has(DT_AUXILIARY);
    if (Has(DT_RPATH)) out_.rpath = Split(TextAt(Of(DT_RPATH)));
    if (Has(DT_RUNPATH)) out_.run_path = Split(TextAt(Of(DT_RUNPATH)));
    out_.no_default_folders = (Of(DT_FLAGS_1) & DF_1_NODEFLIB) != 0;
    for (const uint64_t name : needed_) {
      out_.needed.push_back(TextAt(name));
      if (text_left_ == 0) return false;
    }
    if (!Has(DT_SYMTAB)) return true;
    uint64_t count = 0;
    if (!CountSymbols(&count) || count > kMostElfSymbols) return false;
    if (!ReadNeededVersions() || !ReadOwnVersions()) return false;
    return ReadSymbols(count);
  }

 private:
  bool Has(int64_t tag) const { return entries_.count(tag) > 0; }
  uint64_t Of(int64_t tag) const { return Has(tag) ? entries_.at(tag) : 0; }
  // The loader does not hold a name to the table's size.
  std::string TextAt(uint64_t index) {
    std::string text = index >= table_size() ? memory_.Text(Of(DT_STRTAB) + index)
                                             : ByteSource(out_.names_).Name(index, kLongestElfName);
    text_left_ -= std::min<uint64_t>(text_left_, text.size());
    return text;
  }
  uint64_t table_size() const { return Of(DT_STRSZ); }

  // Where a symbol's name stands among the names; one that lies behind the table is added to them.
  bool Place(uint64_t index, uint32_t* name) {
    *name = static_cast<uint32_t>(index);
    if (index < table_size()) return true;
    const std::string text = memory_.Text(Of(DT_STRTAB) + index);
    *name = static_cast<uint32_t>(out_.names_.size());
    if (out_.names_.empty() || out_.names_.back() != '\0') ++*name, out_.names_ += '\0';
    out_.names_ += text + '\0';
    return out_.names_.size() <= 2 * kMostElfNameBytes;
  }

  // By the tables that the loader looks names up in: they alone say how many there are.
  bool CountSymbols(uint64_t* count) {
    if (Has(DT_HASH)) {
      uint32_t chains[2] = {};
      if (!memory_.Get(Of(DT_HASH), &chains)) return false;
      *count = chains[1];
    }
    if (!Has(DT_GNU_HASH)) return true;
    uint32_t head[4] = {};  // buckets, first symbol, words of the filter, its shift
    if (!memory_.Get(Of(DT_GNU_HASH), &head) || head[0] > kMostElfSymbols) return false;
    out_.gnu_hash_buckets = head[0], out_.gnu_hash_filter_words = head[2];
    const uint64_t buckets_at = Of(DT_GNU_HASH) + sizeof head + uint64_t{head[2]} * sizeof(uint64_t);
    std::vector<uint32_t> buckets(head[0]);
    if (!memory_.Read(buckets_at, buckets.data(), buckets.size() * sizeof(uint32_t))) return false;
    const uint64_t chains_at = buckets_at + buckets.size() * sizeof(uint32_t);
    uint64_t last = std::max<uint64_t>(head[1], 1) - 1;
    for (const uint32_t bucket : buckets) last = std::max<uint64_t>(last, bucket);
    for (uint32_t hash = 0; last >= head[1] && (hash & 1) == 0; ++last)
      if (last > kMostElfSymbols || !memory_.Get(chains_at + (last - head[1]) * sizeof hash, &hash))
        return false;
    *count = std::max(*count, std::max<uint64_t>(last, head[1]));
    return true;
  }

  void SetVersion(uint16_t index, SymbolVersion version) {
    index &= 0x7fff;
    if (out_.versions.size() <= index) out_.versions.resize(index + 1U);
    out_.versions[index] = std::move(version);
  }

  bool ReadNeededVersions() {
    uint64_t at = Of(DT_VERNEED), left = kMostDynamicEntries;
    for (uint64_t files = Of(DT_VERNEEDNUM); files > 0; --files) {
      Elf64_Verneed need{};
      if (left-- == 0 || text_left_ == 0 || !memory_.Get(at, &need)) return false;
      const std::string file = TextAt(need.vn_file);
      uint64_t version_at = at + need.vn_aux;
      for (uint16_t i = 0; i < need.vn_cnt; ++i) {
        Elf64_Vernaux version{};
        if (left-- == 0 || text_left_ == 0 || !memory_.Get(version_at, &version)) return false;
        SetVersion(version.vna_other,
                   {TextAt(version.vna_name), file, (version.vna_flags & VER_FLG_WEAK) != 0, false});
        if (version.vna_next == 0) break;
        version_at += version.vna_next;
      }
      if (need.vn_next == 0) break;
      at += need.vn_next;
    }
    return true;
  }

  bool ReadOwnVersions() {
    uint64_t at = Of(DT_VERDEF), left = kMostDynamicEntries;
    for (uint64_t definitions = Of(DT_VERDEFNUM); definitions > 0; --definitions) {
      Elf64_Verdef definition{};
      Elf64_Verdaux name{};
      if (left-- == 0 || text_left_ == 0 || !memory_.Get(at, &definition) ||
          !memory_.Get(at + definition.vd_aux, &name))
        return false;
      SetVersion(definition.vd_ndx,
                 {TextAt(name.vda_name), "", false, (definition.vd_flags & VER_FLG_BASE) != 0});
      gives_versions_ = true;
      if (definition.vd_next == 0) break;
      at += definition.vd_next;
    }
    return true;
  }

  bool ReadSymbols(uint64_t count) {
    std::vector<Elf64_Sym> symbols(count);
    std::vector<uint16_t> numbers(count);
    if (!memory_.Read(Of(DT_SYMTAB), symbols.data(), count * sizeof(Elf64_Sym))) return false;
    if (Has(DT_VERSYM) && !memory_.Read(Of(DT_VERSYM), numbers.data(), count * sizeof(uint16_t)))
      return false;
    for (uint64_t i = 1; i < count; ++i)
      if (!Take(symbols[i], numbers[i])) return false;
    out_.Seal();
    return true;
  }

  bool Take(const Elf64_Sym& symbol, uint16_t number) {
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return true;
    const int type = ELF64_ST_TYPE(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    uint32_t name = 0;
    if (!Place(symbol.st_name, &name)) return false;
    // The loader takes an undefined symbol with a value for the address of a function.
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_value == 0) {
      out_.undefined.push_back(
          {name, static_cast<uint16_t>(number & 0x7fff), ELF64_ST_BIND(symbol.st_info) == STB_WEAK});
      return true;
    }
    const bool has_address = symbol.st_value != 0 || symbol.st_shndx == SHN_ABS || type == STT_TLS;
    const bool for_others = visibility != STV_HIDDEN && visibility != STV_INTERNAL;
    const bool known_type =
        type <= STT_FUNC || type == STT_COMMON || type == STT_TLS || type == STT_GNU_IFUNC;
    if (has_address && for_others && known_type)
      out_.defined.push_back(
          {GnuHash(out_.Name(name)), name, static_cast<uint16_t>(number & 0x7fff), (number & 0x8000) != 0});
    return true;
  }

  Memory memory_;
  DynamicTable& out_;
  std::map<int64_t, uint64_t> entries_;
  std::vector<uint64_t> needed_;
  uint64_t text_left_ = kMostElfTextBytes;  // for the names of libraries and versions; 0: they are too long
  bool gives_versions_ = false;
};

uint32_t GnuHash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

void DynamicTable::Seal() {
  std::sort(defined.begin(), defined.end(),
            [](const DefinedSymbol& a, const DefinedSymbol& b) { return a.hash < b.hash; });
  defined.shrink_to_fit();
  undefined.shrink_to_fit();
  int bits = 1;
  while (bits < 21 && (size_t{1} << bits) < defined.size()) ++bits;
  shift_ = 32 - bits;
  first_.assign((size_t{1} << bits) + 1, static_cast<uint32_t>(defined.size()));
  for (size_t i = defined.size(); i-- > 0;) first_[defined[i].hash >> shift_] = static_cast<uint32_t>(i);
  for (size_t i = first_.size() - 1; i-- > 0;) first_[i] = std::min(first_[i], first_[i + 1]);
}

std::pair<const DefinedSymbol*, const DefinedSymbol*> DynamicTable::WithHash(uint32_t hash) const {
  if (first_.empty()) return {nullptr, nullptr};
  const DefinedSymbol* begin = defined.data() + first_[hash >> shift_];
  const DefinedSymbol* end = defined.data() + first_[(hash >> shift_) + 1];
  while (begin != end && begin->hash != hash) ++begin;
  const DefinedSymbol* last = begin;
  while (last != end && last->hash == hash) ++last;
  return {begin, last};
}

SymbolLookup DynamicTable::Find(std::string_view name, uint32_t hash, std::string_view version) const {
  const auto [begin, end] = WithHash(hash);
  bool named = false;
  int defaults = 0;  // symbols that have a version and are its newest form
  for (const DefinedSymbol* symbol = begin; symbol != end; ++symbol) {
    if (name != Name(symbol->name)) continue;
    named = true;
    const bool has_version = symbol->version < versions.size() && symbol->version >= 2;
    if (version.empty()) {
      if (symbol->version <= 2) return SymbolLookup::kFound;
      if (!symbol->hidden_version) ++defaults;
      continue;
    }
    if (!has_version ? !symbol->hidden_version : versions[symbol->version].name == version)
      return SymbolLookup::kFound;
  }
  if (defaults == 1) return SymbolLookup::kFound;
  return named ? SymbolLookup::kOtherVersion : SymbolLookup::kAbsent;
}

SymbolLookup DynamicTable::Find(std::string_view name, std::string_view version) const {
  return Find(name, GnuHash(name), version);
}

bool DynamicTable::GivesVersion(std::string_view version) const {
  bool any = false;
  for (const SymbolVersion& own : versions) {
    if (own.name.empty() || !own.file.empty()) continue;
    any = true;
    if (own.name == version) return true;
  }
  return !any;
}

size_t DynamicTable::Bytes() const {
  return names_.capacity() + defined.capacity() * sizeof(DefinedSymbol) +
         undefined.capacity() * sizeof(UndefinedSymbol) + first_.capacity() * sizeof(uint32_t);
}

DynamicTable ReadDynamicTable(const std::string& path) {
  DynamicTable table;
  const std::string real = PlainFile(path, &table.problem);
  if (real.empty()) return table;
  if (const ElfFile file(real); !file.loadable()) {
    table.problem = file.error();
    table.foreign = file.kind() == ElfFile::Kind::kForeign;
  } else if (!DynamicReader(real, &table).Look()) {
    table.problem = path + ": its dynamic symbols cannot be read";
  }
  return table;
}

}  // namespace cudnn_ci
