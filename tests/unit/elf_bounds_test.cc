// How much of an ELF file is read at most, whatever its headers say: each bound of elf_bounds.h. A file that
// keeps within it is read.
#include "image/elf/elf_bounds.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "image/elf/dynamic_table.h"
#include "image/elf/elf_file.h"
#include "image/elf/elf_sections.h"
#include "image/elf/elf_symbol.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#else
constexpr uint16_t kMachine = EM_AARCH64;
#endif

constexpr uint64_t kContents = 1 << 19;  // where what has no place of its own begins

template <class T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
std::string BytesOf(const std::vector<T>& rows) {
  return std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(T));
}
Elf64_Dyn Entry(int64_t tag, uint64_t value) {
  Elf64_Dyn entry{};
  entry.d_tag = tag, entry.d_un.d_val = value;
  return entry;
}

// A library: its tables, what they lead to, and behind that zeros, which take no room on the disk.
struct Made {
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;
  std::string contents;

  uint64_t Put(const std::string& bytes) {
    contents += bytes;
    return kContents + contents.size() - bytes.size();
  }
  void Section(uint32_t type, uint64_t offset, uint64_t size, uint32_t link = 0, uint32_t name = 0) {
    Elf64_Shdr section{};
    section.sh_type = type, section.sh_offset = offset, section.sh_size = size, section.sh_link = link;
    section.sh_name = name;
    sections.push_back(section);
  }
  void Segment(uint32_t type, uint64_t offset, uint64_t size) {
    Elf64_Phdr segment{};
    segment.p_type = type, segment.p_offset = segment.p_vaddr = offset, segment.p_filesz = size;
    segments.push_back(segment);
  }
  // Addresses are offsets. `zeros`: of the loaded bytes, too.
  void Dynamic(const std::vector<Elf64_Dyn>& entries, uint64_t zeros = 0) {
    const uint64_t at = Put(BytesOf(entries));
    Segment(PT_DYNAMIC, at, entries.size() * sizeof(Elf64_Dyn));
    Segment(PT_LOAD, 0, kContents + contents.size() + zeros);
  }
  std::string Bytes() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN, header.e_machine = kMachine;
    header.e_phoff = sizeof header, header.e_phnum = static_cast<uint16_t>(segments.size());
    header.e_phentsize = sizeof(Elf64_Phdr), header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shoff = header.e_phoff + segments.size() * sizeof(Elf64_Phdr);
    header.e_shnum = static_cast<uint16_t>(sections.size());
    std::string bytes = BytesOf(header) + BytesOf(segments) + BytesOf(sections);
    bytes.resize(kContents);
    return bytes + contents;
  }
};

class ElfBounds : public testing::Test {
 protected:
  std::string Write(const Made& made, uint64_t zeros = 0) {
    const std::string path = scratch_.Write("libx.so", made.Bytes());
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + zeros);
    return path;
  }
  std::vector<std::string> Needed(const std::string& names, const std::vector<Elf64_Dyn>& entries) {
    Made made;
    made.Section(SHT_STRTAB, made.Put(names), names.size());
    made.Section(SHT_DYNAMIC, made.Put(BytesOf(entries)), entries.size() * sizeof(Elf64_Dyn));
    return ElfFile(Write(made)).Needed();
  }
  // What the loader's view of a library is; its names begin with a NUL.
  DynamicTable Read(const std::string& names, std::vector<Elf64_Dyn> entries, uint64_t zeros = 0) {
    Made made;
    entries.push_back(Entry(DT_STRTAB, made.Put('\0' + names)));
    entries.push_back(Entry(DT_STRSZ, names.size() + 1));
    made.Dynamic(entries, zeros);
    return ReadDynamicTable(Write(made, zeros));
  }

  const Scratch scratch_;
};

// ---- by section headers: elf_file.h ----

TEST_F(ElfBounds, EntriesOfADynamicSection) {
  const std::string names("a\0", 2);
  std::vector<Elf64_Dyn> entries(kMostDynamicEntries - 1, Entry(DT_DEBUG, 0));
  entries.push_back(Entry(DT_NEEDED, 0));
  EXPECT_EQ(Needed(names, entries).size(), 1U);
  entries.insert(entries.begin(), Entry(DT_DEBUG, 0));
  EXPECT_EQ(Needed(names, entries).size(), 0U);
}

TEST_F(ElfBounds, NamesOfADynamicSection) {
  const auto kept = [&](size_t length) {
    const std::string names = std::string(length, 'a') + '\0';
    return Needed(names, std::vector<Elf64_Dyn>(20'000, Entry(DT_NEEDED, 0)));
  };
  EXPECT_EQ(kept(1).size(), kMostNeededNames);
  EXPECT_EQ(kept(4000).size(), kMostElfTextBytes / 4000);
  EXPECT_EQ(kept(5000).front().size(), kLongestElfName);
}

// The format allows one.
TEST_F(ElfBounds, DynamicSections) {
  Made made;
  const std::string names("a\0", 2);
  made.Section(SHT_STRTAB, made.Put(names), names.size());
  const uint64_t at = made.Put(BytesOf(Entry(DT_NEEDED, 0)));
  for (int i = 0; i < 1000; ++i) made.Section(SHT_DYNAMIC, at, sizeof(Elf64_Dyn));
  EXPECT_EQ(ElfFile(Write(made)).Needed().size(), 1U);
}

TEST_F(ElfBounds, SymbolsAndNamesAmongWhichAnObjectIsLookedUp) {
  const auto found = [&](uint64_t symbols, uint64_t name_bytes) {
    Made made;
    const uint32_t value = 7;
    const std::string names("object\0", 7);
    Elf64_Sym symbol{};
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), symbol.st_shndx = 1, symbol.st_size = 4;
    symbol.st_value = made.Put(BytesOf(value));
    made.Section(SHT_STRTAB, made.Put(names), name_bytes);
    made.Section(SHT_DYNSYM, made.Put(BytesOf(symbol)), symbols * sizeof symbol);
    made.Segment(PT_LOAD, 0, kContents + made.contents.size());
    return ElfFile(Write(made, kMostElfNameBytes + (1 << 20))).ReadObject("object");
  };
  EXPECT_EQ(found(1, 7), 7U);
  EXPECT_EQ(found(kMostElfSymbols, 7), 7U);
  EXPECT_EQ(found(kMostElfSymbols + 1, 7), std::nullopt);
  EXPECT_EQ(found(1, kMostElfNameBytes + 1), std::nullopt);
}

// ---- by the dynamic segment: dynamic_table.h ----

TEST_F(ElfBounds, Segments) {
  Made made;
  const std::string names("\0libx.so\0", 9);
  made.Dynamic({Entry(DT_STRTAB, made.Put(names)), Entry(DT_STRSZ, names.size()), Entry(DT_SONAME, 1)});
  while (made.segments.size() < kMostElfSegments) made.Segment(PT_NULL, 0, 0);
  EXPECT_EQ(ReadDynamicTable(Write(made)).soname, "libx.so");
  made.Segment(PT_NULL, 0, 0);
  EXPECT_NE(ReadDynamicTable(Write(made)).problem, "");
}

TEST_F(ElfBounds, EntriesOfADynamicSegment) {
  Made made;
  const std::string names("\0liby.so\0", 9);
  std::vector<Elf64_Dyn> entries(kMostDynamicEntries, Entry(DT_DEBUG, 0));
  entries[0] = Entry(DT_STRTAB, made.Put(names)), entries[1] = Entry(DT_STRSZ, names.size());
  entries[2] = entries.back() = Entry(DT_NEEDED, 1);
  entries.push_back(Entry(DT_NEEDED, 1));
  made.Dynamic(entries);
  EXPECT_EQ(ReadDynamicTable(Write(made)).needed, std::vector<std::string>(2, "liby.so"));
}

TEST_F(ElfBounds, NamesOfADynamicSegment) {
  const auto problem = [&](size_t count, size_t length) {
    return Read(std::string(length, 'a') + '\0', std::vector<Elf64_Dyn>(count, Entry(DT_NEEDED, 1))).problem;
  };
  EXPECT_EQ(problem(kMostNeededNames, 1), "");
  EXPECT_NE(problem(kMostNeededNames + 1, 1), "");
  EXPECT_EQ(problem(kMostElfTextBytes / 4000, 4000), "");
  EXPECT_NE(problem(kMostElfTextBytes / 4000 + 1, 4000), "");
  EXPECT_EQ(Read(std::string(5000, 'a') + '\0', {Entry(DT_SONAME, 1)}).soname.size(), kLongestElfName);
  // Behind the table's end the loader reads on.
  Made made;
  const uint64_t at = made.Put(std::string(5001, 'a'));
  made.Dynamic({Entry(DT_STRTAB, at), Entry(DT_STRSZ, 1), Entry(DT_SONAME, 1)});
  EXPECT_EQ(ReadDynamicTable(Write(made)).soname.size(), kLongestElfName);
}

TEST_F(ElfBounds, BytesOfSymbolsNames) {
  const auto problem = [&](uint64_t bytes) {
    Made made;
    const uint64_t zeros = kMostElfNameBytes + (1 << 20);
    made.Dynamic({Entry(DT_STRTAB, kContents), Entry(DT_STRSZ, bytes)}, zeros);
    return ReadDynamicTable(Write(made, zeros)).problem;
  };
  EXPECT_EQ(problem(kMostElfNameBytes), "");
  EXPECT_NE(problem(kMostElfNameBytes + 1), "");
}

TEST_F(ElfBounds, SymbolsOfADynamicSegment) {
  const auto problem = [&](int64_t tag, const std::vector<uint32_t>& table) {
    constexpr uint64_t kTable = 1 << 12, kSymbols = 1 << 13;  // the table stands before zeros
    Made made;
    const uint64_t zeros = kSymbols + (kMostElfSymbols + 1) * sizeof(Elf64_Sym);
    made.Dynamic({Entry(DT_STRTAB, made.Put(std::string(1, '\0'))), Entry(DT_STRSZ, 1),
                  Entry(DT_SYMTAB, kContents + kSymbols), Entry(tag, kContents + kTable)},
                 zeros);
    made.contents.resize(kTable);
    made.Put(BytesOf(table));
    return ReadDynamicTable(Write(made, zeros)).problem;
  };
  constexpr auto kMost = static_cast<uint32_t>(kMostElfSymbols);
  EXPECT_EQ(problem(DT_HASH, {1, kMost}), "");
  EXPECT_NE(problem(DT_HASH, {1, kMost + 1}), "");
  EXPECT_EQ(problem(DT_GNU_HASH, {kMost, 1, 0, 0}), "");
  EXPECT_NE(problem(DT_GNU_HASH, {kMost + 1, 1, 0, 0}), "");
}

TEST_F(ElfBounds, Versions) {
  const auto needed = [&](uint64_t count, size_t length) {
    Elf64_Verneed need{};
    need.vn_file = 1, need.vn_next = sizeof need;
    Made made;
    const std::string names = '\0' + std::string(length, 'a') + '\0';
    made.Dynamic({Entry(DT_STRTAB, made.Put(names)), Entry(DT_STRSZ, names.size()),
                  Entry(DT_SYMTAB, kContents), Entry(DT_VERNEEDNUM, count),
                  Entry(DT_VERNEED, made.Put(BytesOf(std::vector<Elf64_Verneed>(count, need))))});
    return ReadDynamicTable(Write(made)).problem;
  };
  EXPECT_EQ(needed(kMostDynamicEntries, 1), "");
  EXPECT_NE(needed(kMostDynamicEntries + 1, 1), "");
  EXPECT_EQ(needed(kMostElfTextBytes / 4000, 4000), "");
  EXPECT_NE(needed(kMostElfTextBytes / 4000 + 2, 4000), "");
  const auto own = [&](uint64_t count, size_t length) {
    Elf64_Verdef definition{};
    definition.vd_next = sizeof definition, definition.vd_ndx = 2;
    Made made;
    const std::string names = '\0' + std::string(length, 'a') + '\0';
    const uint64_t strings = made.Put(names);
    // The name of each stands in the field that says where its names are.
    definition.vd_aux = offsetof(Elf64_Verdef, vd_hash), definition.vd_hash = 1;
    made.Dynamic({Entry(DT_STRTAB, strings), Entry(DT_STRSZ, names.size()), Entry(DT_SYMTAB, kContents),
                  Entry(DT_VERDEFNUM, count),
                  Entry(DT_VERDEF, made.Put(BytesOf(std::vector<Elf64_Verdef>(count, definition))))});
    return ReadDynamicTable(Write(made)).problem;
  };
  EXPECT_EQ(own(kMostDynamicEntries, 1), "");
  EXPECT_NE(own(kMostDynamicEntries + 1, 1), "");
  EXPECT_EQ(own(kMostElfTextBytes / 4000, 4000), "");
  EXPECT_NE(own(kMostElfTextBytes / 4000 + 2, 4000), "");
}

// ---- elf_sections.h and elf_symbol.h ----

TEST_F(ElfBounds, Sections) {
  const auto problem = [&](uint64_t sections, uint64_t name_bytes) {
    Made made;
    made.Section(SHT_STRTAB, 0, name_bytes);
    std::string bytes = made.Bytes();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    Elf64_Shdr first = made.sections[0];
    first.sh_size = sections, first.sh_link = 1;  // where a header has no room for the counts
    header.e_shoff = bytes.size(), header.e_shnum = 0, header.e_shstrndx = SHN_XINDEX;
    std::memcpy(bytes.data(), &header, sizeof header);
    std::vector<Elf64_Shdr> headers(sections, made.sections[0]);
    headers[0] = first;
    bytes += BytesOf(headers);
    if (bytes.size() < name_bytes) bytes.resize(name_bytes);
    return ReadElfSections(ByteSource(bytes)).problem;
  };
  EXPECT_EQ(problem(kMostElfSections, 64), "");
  EXPECT_NE(problem(kMostElfSections + 1, 64), "");
  EXPECT_EQ(problem(2, kMostElfSectionNameBytes), "");
  EXPECT_NE(problem(2, kMostElfSectionNameBytes + 1), "");
}

TEST_F(ElfBounds, NamesThatAreShown) {
  Made made;
  const std::string names = '\0' + std::string(300, 'f') + '\0';
  Elf64_Sym symbol{};
  symbol.st_name = 1, symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), symbol.st_shndx = 1;
  symbol.st_value = kContents, symbol.st_size = 16;
  made.Section(SHT_STRTAB, made.Put(names), names.size(), 0, 1);
  made.Section(SHT_SYMTAB, made.Put(BytesOf(symbol)), sizeof symbol);
  made.Segment(PT_LOAD, 0, kContents + made.contents.size());
  const std::string shown(kLongestElfSymbolName, 'f');
  EXPECT_EQ(ElfSymbolsAt(Write(made), {kContents + 5}, INT64_MAX).at(0), shown + "+0x5");
  EXPECT_EQ(ReadElfSections(ByteSource(made.Bytes())).sections.at(0).name, shown);
}

}  // namespace
}  // namespace cudnn_ci
