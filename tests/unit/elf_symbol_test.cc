// What an address in a file is called, whatever the file says of itself.
#include "image/elf/elf_symbol.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/stat.h>

#include <fstream>

#include "image/elf/elf_object.h"
#include "scratch.h"

extern "C" __attribute__((noinline, visibility("default"))) int CudnnCiTestFunction(int n) {
  return n < 2 ? n : n + CudnnCiTestFunction(n - 1);
}

extern "C" __attribute__((visibility("default"))) const int kCudnnCiTestRelease[3] = {3, 4, 5};

namespace cudnn_ci {
namespace {

std::string SymbolAt(const std::string& file, uint64_t offset) {
  return ElfSymbolsAt(file, {offset}, INT64_MAX).at(0);
}

std::string Self() { return std::filesystem::read_symlink("/proc/self/exe"); }

// Where this program's own function lies in its file.
uint64_t OffsetOfFunction() {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<uint64_t>(&CudnnCiTestFunction);
  for (std::string line; std::getline(maps, line);) {
    unsigned long start = 0, end = 0, offset = 0;
    if (sscanf(line.c_str(), "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && wanted >= start &&
        wanted < end)
      return wanted - start + offset;
  }
  return 0;
}

TEST(ElfSymbolTest, NamesEachFunctionAndHowFarIntoIt) {
  EXPECT_EQ(SymbolAt(Self(), OffsetOfFunction() + 2), "CudnnCiTestFunction+0x2");
  EXPECT_EQ(SymbolAt(Self(), UINT64_MAX), "");
  EXPECT_EQ(SymbolAt(Self(), 0), "");
  const std::vector<std::string> names =
      ElfSymbolsAt(Self(), {OffsetOfFunction() + 3, 0, OffsetOfFunction() + 1}, INT64_MAX);
  EXPECT_EQ(names, std::vector<std::string>({"CudnnCiTestFunction+0x3", "", "CudnnCiTestFunction+0x1"}));
}

TEST(ElfSymbolTest, WhatIsNoFileOrNoElfHasNoNames) {
  const Scratch scratch;
  const std::string pipe = scratch.File("pipe"), text = scratch.File("text");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(text) << std::string(5000, 'x');
  for (const std::string& file : {pipe, text, std::string("/dev/zero"), scratch.File("none"), scratch.path(),
                                  std::string(), std::string("[vdso]")})
    EXPECT_EQ(SymbolAt(file, 64), "") << file;
}

// The path is the dead process's word: it must not lead where the kernel's own files are.
TEST(ElfSymbolTest, OnlyARealPathIsRead) {
  const Scratch scratch;
  const std::string link = scratch.File("link"), folder = scratch.File("folder");
  std::filesystem::create_symlink(Self(), link);
  std::filesystem::create_symlink(std::filesystem::path(Self()).parent_path(), folder);
  const std::string name = std::filesystem::path(Self()).filename();
  for (const std::string& file :
       {std::string("/proc/self/exe"), link, folder + "/" + name, "./" + name, name})
    EXPECT_EQ(SymbolAt(file, OffsetOfFunction()), "") << file;
}

// Whatever a damaged file says of itself.
TEST(ElfSymbolTest, ADamagedFileIsReadWithinItsBounds) {
  const Scratch scratch;
  std::ifstream self(Self(), std::ios::binary);
  std::string bytes(64 * 1024, '\0');
  self.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (int i = 0; i < 64; ++i) {
    std::string damaged = bytes;
    for (size_t at = 16; at < 64; ++at)
      damaged[at] = static_cast<char>((at * 31 + static_cast<size_t>(i) * 57) % 251);
    SymbolAt(scratch.Write("damaged", damaged), OffsetOfFunction());
  }
  EXPECT_EQ(SymbolAt(scratch.Write("cut", bytes), OffsetOfFunction()), "");
}

template <class T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// An ELF file with tables of so many empty symbols each, two and `more`, and behind them the one of "f" at
// 0x100.
std::string FileOf(const Scratch& scratch, uint64_t symbols, uint16_t more = 0,
                   unsigned char type = STT_FUNC) {
  const uint64_t table = 4096, table_bytes = symbols * sizeof(Elf64_Sym);
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = 64;
  header.e_phnum = 1;
  header.e_shoff = 128;
  header.e_shnum = 3 + more;
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_filesz = 4096;
  Elf64_Shdr strings{}, first{}, second{};
  strings.sh_offset = 2048;
  strings.sh_size = 3;
  first.sh_type = SHT_SYMTAB;
  first.sh_offset = table;
  first.sh_size = table_bytes;
  second.sh_type = SHT_DYNSYM;
  second.sh_offset = table + table_bytes;
  second.sh_size = table_bytes + sizeof(Elf64_Sym);
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
  symbol.st_shndx = 1;
  symbol.st_value = 0x100;
  symbol.st_size = 0x10;
  std::string head = BytesOf(header) + BytesOf(segment);
  head.resize(128);
  head += BytesOf(strings) + BytesOf(first) + BytesOf(second);
  for (uint16_t i = 0; i < more; ++i) head += BytesOf(first);
  head.resize(2048);
  head += std::string("\0f\0", 3);
  std::ofstream file(scratch.Write("many", head), std::ios::binary | std::ios::in);
  file.seekp(static_cast<std::streamoff>(table + 2 * table_bytes));
  file << BytesOf(symbol);
  return scratch.File("many");
}

// However much an image writes into its files: all tables share one bound.
TEST(ElfSymbolTest, SymbolsBeyondTheBudgetAreNotLookedAt) {
  const Scratch scratch;
  EXPECT_EQ(SymbolAt(FileOf(scratch, 10), 0x105), "f+0x5");
  EXPECT_EQ(SymbolAt(FileOf(scratch, 1 << 20), 0x105), "f+0x5");
  EXPECT_EQ(SymbolAt(FileOf(scratch, 3 << 20), 0x105), "");
}

TEST(ElfSymbolTest, NothingIsReadWhenTheTimeIsUp) {
  EXPECT_EQ(ElfSymbolsAt(Self(), {OffsetOfFunction()}, 0), std::vector<std::string>(1));
}

// A release that was compiled in, and files that end anywhere.
TEST(ElfObjectTest, HasTheBytesOfAnObject) {
  const std::string self = Self(), release(reinterpret_cast<const char*>(kCudnnCiTestRelease), 12);
  EXPECT_EQ(ElfObjectBytes(self, "kCudnnCiTestRelease", 12), release);
  EXPECT_EQ(ElfObjectBytes(self, "kCudnnCiTestRelease", 8), "") << "of another size";
  EXPECT_EQ(ElfObjectBytes(self, "kCudnnCiTestRelease2", 12), "");
  EXPECT_EQ(ElfObjectBytes("/proc/self", "kCudnnCiTestRelease", 12), "");
  std::ifstream file(self, std::ios::binary);
  std::string bytes(1 << 16, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const Scratch scratch;
  for (const size_t size : {size_t{0}, size_t{4}, size_t{63}, size_t{64}, size_t{4096}, bytes.size()}) {
    std::ofstream(scratch.File("cut"), std::ios::binary) << bytes.substr(0, size);
    EXPECT_EQ(ElfObjectBytes(scratch.File("cut"), "kCudnnCiTestRelease", 12), "") << size;
  }
}

// However many tables an image's file has.
TEST(ElfObjectTest, SymbolsBeyondTheBudgetAreNotLookedAt) {
  const Scratch scratch;
  EXPECT_EQ(ElfObjectBytes(FileOf(scratch, 1 << 20, 1, STT_OBJECT), "f", 16).size(), 16U);
  EXPECT_EQ(ElfObjectBytes(FileOf(scratch, 1 << 20, 3, STT_OBJECT), "f", 16), "");
}

}  // namespace
}  // namespace cudnn_ci
