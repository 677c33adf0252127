// The dynamic segment of a shared library or a program as the loader reads it: what the file needs, where it
// looks for it, which symbols it defines and asks for, and their versions. For harness and plugins alike.
#ifndef CUDNN_CI_IMAGE_ELF_DYNAMIC_TABLE_H_
#define CUDNN_CI_IMAGE_ELF_DYNAMIC_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// A version that a file gives to its own symbols, or needs from another file.
struct SymbolVersion {
  std::string name;       // "GLIBC_2.34"; empty: no version has this index
  std::string file;       // whose version is asked for: "libc.so.6"; empty: the file's own
  bool optional = false;  // VER_FLG_WEAK: the loader does not insist on it
  bool base = false;      // VER_FLG_BASE: the name of the file itself, no version of a symbol
};

struct DefinedSymbol {
  uint32_t hash = 0;            // GnuHash of its name
  uint32_t name = 0;            // for DynamicTable::Name
  uint16_t version = 0;         // index into `versions`
  bool hidden_version = false;  // found by those alone who ask for this version
};

struct UndefinedSymbol {
  uint32_t name = 0;
  uint16_t version = 0;  // index into `versions`; below 2: none
  bool weak = false;     // 0 if no library defines it: no error
};

enum class SymbolLookup {
  kAbsent,
  kOtherVersion,  // the name is there, and not the version
  kFound
};

// A value without a descriptor. Any number of threads may read one.
class DynamicTable {
 public:
  std::string problem;              // why the file cannot be loaded or read; empty: nothing is wrong
  bool foreign = false;             // of another word size, byte order or machine: the loader passes over it
  std::string soname;               // empty: it has none
  std::vector<std::string> needed;  // DT_NEEDED, in order
  bool filters = false;             // DT_FILTER or DT_AUXILIARY: the loader looks into another file first
  std::vector<std::string> rpath, run_path;  // DT_RPATH and DT_RUNPATH, split; $ORIGIN is not replaced
  bool no_default_folders = false;           // DF_1_NODEFLIB
  std::vector<SymbolVersion> versions;       // by index; 0 and 1 are none
  std::vector<DefinedSymbol> defined;        // global and weak ones that others find, sorted by hash
  std::vector<UndefinedSymbol> undefined;    // in the file's order
  uint32_t gnu_hash_buckets = 0, gnu_hash_filter_words = 0;  // of DT_GNU_HASH; 0: it has none

  // The text of a symbol's `name`; valid as long as the table.
  const char* Name(uint32_t name) const { return names_.c_str() + name; }
  // The symbols of this name, a range of `defined` whose hashes agree; their names may not.
  std::pair<const DefinedSymbol*, const DefinedSymbol*> WithHash(uint32_t hash) const;
  // Whether the loader takes a symbol of this file for a name, asked for with a version or, if that is empty,
  // without (glibc, elf/dl-lookup.c). `hash`: of the name.
  SymbolLookup Find(std::string_view name, uint32_t hash, std::string_view version) const;
  SymbolLookup Find(std::string_view name, std::string_view version = {}) const;
  // Whether it has this version among its own; true of a file without versions, from which the loader asks
  // none.
  bool GivesVersion(std::string_view version) const;
  // The memory that the table takes, in bytes.
  size_t Bytes() const;

 private:
  friend class DynamicReader;
  void Seal();  // sorts and indexes what was read
  std::string names_;
  std::vector<uint32_t> first_;  // by the uppermost bits of a hash: where in `defined` those begin
  int shift_ = 32;
};

// The hash of DT_GNU_HASH (https://sourceware.org/gnu-gabi/program-loading-and-dynamic-linking.txt).
uint32_t GnuHash(std::string_view name);

// Reads a 64-bit ELF file by its dynamic segment alone: section headers may be missing or lie, and the loader
// does not look at them. The file's name is not trusted: it must be a regular file of no
// file system of the kernel's (/proc, /sys, /dev); it is looked at before it is opened, read with pread and
// never mapped, within elf_bounds.h. Any thread.
DynamicTable ReadDynamicTable(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_DYNAMIC_TABLE_H_
