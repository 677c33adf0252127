// What must be known of a library before the loader maps it, of files that lie.
#include "image/elf/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "scratch.h"

namespace cudnn_ci {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#else
constexpr uint16_t kMachine = EM_AARCH64;
#endif

void Append(std::string* bytes, const void* object, size_t size) {
  bytes->append(static_cast<const char*>(object), size);
}

// A file whose dynamic section says so often that it needs the one library of that name.
std::string FileThatNeeds(const std::string& name, size_t times) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN, header.e_machine = kMachine;
  header.e_shoff = sizeof header, header.e_shnum = 2, header.e_shentsize = sizeof(Elf64_Shdr);
  Elf64_Shdr strings{}, dynamic{};
  strings.sh_type = SHT_STRTAB, strings.sh_offset = sizeof header + 2 * sizeof strings;
  strings.sh_size = name.size() + 1;
  dynamic.sh_type = SHT_DYNAMIC, dynamic.sh_offset = strings.sh_offset + strings.sh_size;
  dynamic.sh_size = times * sizeof(Elf64_Dyn), dynamic.sh_link = 0;
  std::string bytes;
  Append(&bytes, &header, sizeof header);
  Append(&bytes, &strings, sizeof strings);
  Append(&bytes, &dynamic, sizeof dynamic);
  bytes += name + '\0';
  Elf64_Dyn entry{};
  entry.d_tag = DT_NEEDED;
  for (size_t i = 0; i < times; ++i) Append(&bytes, &entry, sizeof entry);
  return bytes;
}

TEST(ElfFile, SaysWhatItNeeds) {
  const Scratch scratch;
  const ElfFile file(scratch.Write("libx.so", FileThatNeeds("liby.so.1", 3)));
  EXPECT_EQ(file.error(), "");
  EXPECT_EQ(file.Needed(), std::vector<std::string>(3, "liby.so.1"));
}

}  // namespace
}  // namespace cudnn_ci
