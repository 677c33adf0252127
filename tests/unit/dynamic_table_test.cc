// What is read of a file's dynamic segment.
#include "image/elf/dynamic_table.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <sstream>

#include "golden_messages.h"
#include "symbols_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DynamicTableTest : public SymbolsTest {
 protected:
  static std::string Bytes(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
};

TEST_F(DynamicTableTest, ReadsNamesFoldersAndSymbols) {
  Library("libneeded.so.1", "int given;");
  const std::string path =
      Library("libasking.so.2",
              "extern int given; extern int maybe __attribute__((weak)); int *mine(void) { return &given + "
              "(long)&maybe; }"
              " static int hidden_one; __attribute__((visibility(\"hidden\"))) int hidden_two;",
              "@/libneeded.so.1 -Wl,--disable-new-dtags,-rpath,'$ORIGIN/a:/b' -Wl,--hash-style=gnu");
  const DynamicTable table = ReadDynamicTable(path);
  EXPECT_EQ(table.problem, "");
  EXPECT_EQ(table.soname, "libasking.so.2");
  EXPECT_THAT(table.needed, ElementsAre("libneeded.so.1"));
  EXPECT_THAT(table.rpath, ElementsAre("$ORIGIN/a", "/b"));
  EXPECT_THAT(table.run_path, IsEmpty());
  EXPECT_GT(table.gnu_hash_buckets, 0U);
  EXPECT_EQ(table.Find("mine"), SymbolLookup::kFound);
  for (const char* absent : {"given", "maybe", "hidden_one", "hidden_two", "nothing"})
    EXPECT_EQ(table.Find(absent), SymbolLookup::kAbsent) << absent;
  std::vector<std::string> undefined;
  for (const UndefinedSymbol& symbol : table.undefined)
    undefined.push_back(table.Name(symbol.name) + std::string(symbol.weak ? " weak" : ""));
  EXPECT_THAT(undefined, ::testing::UnorderedElementsAre("given", "maybe weak"));
}

TEST_F(DynamicTableTest, ReadsRunPathAndTheOlderHash) {
  const std::string path = Library(
      "libold.so", "int here;", "-Wl,--enable-new-dtags,-rpath,/x -Wl,--hash-style=sysv -Wl,-z,nodefaultlib");
  const DynamicTable table = ReadDynamicTable(path);
  EXPECT_THAT(table.run_path, ElementsAre("/x"));
  EXPECT_THAT(table.rpath, IsEmpty());
  EXPECT_TRUE(table.no_default_folders);
  EXPECT_EQ(table.gnu_hash_buckets, 0U);
  EXPECT_EQ(table.Find("here"), SymbolLookup::kFound);
}

// As the loader takes them (glibc, elf/dl-lookup.c, check_match).
TEST_F(DynamicTableTest, VersionsDecide) {
  const std::string map = Write("map", "V1 { old; both; }; V2 { both_new; };");
  const std::string path = Library(
      "libversions.so",
      "int old, both_new, one, two; __asm__(\".symver one,both@V1\"); __asm__(\".symver two,both@@V2\");",
      "-Wl,--version-script," + map);
  const DynamicTable table = ReadDynamicTable(path);
  EXPECT_EQ(table.Find("old", "V1"), SymbolLookup::kFound);
  EXPECT_EQ(table.Find("old", "V2"), SymbolLookup::kOtherVersion);
  EXPECT_EQ(table.Find("both", "V1"), SymbolLookup::kFound);
  EXPECT_EQ(table.Find("both", "V2"), SymbolLookup::kFound);
  EXPECT_EQ(table.Find("both"), SymbolLookup::kFound);
  EXPECT_EQ(table.Find("both", "V3"), SymbolLookup::kOtherVersion);
  EXPECT_TRUE(table.GivesVersion("V1"));
  EXPECT_FALSE(table.GivesVersion("V3"));
  // A file without versions satisfies who asks for one.
  const DynamicTable plain = ReadDynamicTable(Library("libplain.so", "int old;"));
  EXPECT_EQ(plain.Find("old", "V1"), SymbolLookup::kFound);
  EXPECT_TRUE(plain.GivesVersion("V1"));
}

TEST_F(DynamicTableTest, WhoAsksForAVersionNamesItsFile) {
  const std::string map = Write("map", "V1 { given; };");
  Library("libgives.so.1", "int given;", "-Wl,--version-script," + map);
  const DynamicTable table =
      ReadDynamicTable(Library("libasks.so", "extern int given; int *mine = &given;", "@/libgives.so.1"));
  ASSERT_EQ(table.undefined.size(), 1U);
  const SymbolVersion& version = table.versions.at(table.undefined[0].version);
  EXPECT_EQ(version.name, "V1");
  EXPECT_EQ(version.file, "libgives.so.1");
  EXPECT_FALSE(version.optional);
}

TEST_F(DynamicTableTest, WhatIsNoLibraryIsSaid) {
  GoldenMessages golden("image_files.txt", {{Path(""), "FOLDER/"}});
  const auto problem = [&golden](const char* given, const std::string& path) {
    return golden.Row(given, ReadDynamicTable(path).problem);
  };
  EXPECT_THAT(problem("no file", Path("nowhere.so")), EndsWith(strerror(ENOENT)));
  EXPECT_THAT(problem("a linker script", Write("text.so", "INPUT(libm.so.6)")), HasSubstr("ELF"));
  ASSERT_EQ(mkfifo(Path("fifo.so").c_str(), 0600), 0);
  EXPECT_THAT(problem("a FIFO", Path("fifo.so")), HasSubstr("regular"));
  EXPECT_THAT(ReadDynamicTable("/proc/self/exe").problem, IsEmpty());  // leads to the file itself
  EXPECT_THAT(problem("a file of the kernel", "/proc/self/maps"), HasSubstr("regular"));
  std::string bytes = Bytes(Library("libwhole.so", "int here;"));
  EXPECT_THAT(ReadDynamicTable(Write("cut.so", bytes.substr(0, bytes.size() / 2))).problem,
              HasSubstr("truncated"));
  bytes[EI_CLASS] = ELFCLASS32;
  const DynamicTable foreign = ReadDynamicTable(Write("foreign.so", bytes));
  EXPECT_TRUE(foreign.foreign);
  EXPECT_THAT(foreign.problem, HasSubstr("32-bit"));
}

// One value of the dynamic segment in the bytes of a file, by its tag.
void SetDynamic(std::string* bytes, int64_t tag, uint64_t value) {
  Elf64_Ehdr header;
  memcpy(&header, bytes->data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    memcpy(&segment, bytes->data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = segment.p_offset; at < segment.p_offset + segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      memcpy(&entry, bytes->data() + at, sizeof entry);
      if (entry.d_tag == tag) entry.d_un.d_val = value;
      memcpy(bytes->data() + at, &entry, sizeof entry);
    }
  }
}

// Who asks for no version gets none of an older form alone.
TEST_F(DynamicTableTest, AnOlderFormIsForThoseWhoAskForIt) {
  const std::string map = Write("map", "V1 { a; }; V2 { b; }; V3 { c; };");
  const DynamicTable table = ReadDynamicTable(Library(
      "liblate.so", "int a, b, c, one; __asm__(\".symver one,late@V3\");", "-Wl,--version-script," + map));
  EXPECT_EQ(table.Find("late", "V3"), SymbolLookup::kFound);
  EXPECT_EQ(table.Find("late"), SymbolLookup::kOtherVersion);
  EXPECT_EQ(table.Find("c"), SymbolLookup::kFound);
}

TEST_F(DynamicTableTest, AHiddenSymbolIsForNobodyElse) {
  std::string bytes = Bytes(Library("libwhole.so", "int here;"));
  const DynamicTable before = ReadDynamicTable(Write("before.so", bytes));
  ASSERT_EQ(before.Find("here"), SymbolLookup::kFound);
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof header);
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    memcpy(&section, bytes.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_DYNSYM) continue;
    for (uint64_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += sizeof(Elf64_Sym))
      bytes[at + offsetof(Elf64_Sym, st_other)] = STV_HIDDEN;
  }
  EXPECT_EQ(ReadDynamicTable(Write("after.so", bytes)).Find("here"), SymbolLookup::kAbsent);
}

TEST_F(DynamicTableTest, TablesThatLieAreAProblem) {
  const std::string bytes = Bytes(Library("libwhole.so", "int here; extern int there; int *p = &there;"));
  GoldenMessages golden("image_files.txt", {{Path(""), "FOLDER/"}});
  for (const auto& [tag, value] : std::vector<std::pair<int64_t, uint64_t>>{{DT_STRTAB, 1ULL << 40},
                                                                            {DT_STRSZ, 1ULL << 40},
                                                                            {DT_STRSZ, 1 << 20},
                                                                            {DT_SYMTAB, 1ULL << 60},
                                                                            {DT_GNU_HASH, 1ULL << 60}}) {
    std::string broken = bytes;
    SetDynamic(&broken, tag, value);
    EXPECT_NE(golden.Row("tag " + std::to_string(tag), ReadDynamicTable(Write("broken.so", broken)).problem),
              "")
        << tag;
  }
}

// The loader does not hold a name to the size of the table of names.
TEST_F(DynamicTableTest, NamesBehindTheTableAreRead) {
  std::string bytes = Bytes(Library("libwhole.so", "int a_name_that_is_here;"));
  SetDynamic(&bytes, DT_STRSZ, 1);
  const DynamicTable table = ReadDynamicTable(Write("short.so", bytes));
  EXPECT_EQ(table.problem, "");
  EXPECT_EQ(table.soname, "libwhole.so");
  EXPECT_EQ(table.Find("a_name_that_is_here"), SymbolLookup::kFound);
}

}  // namespace
}  // namespace cudnn_ci
