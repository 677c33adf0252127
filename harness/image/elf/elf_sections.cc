#include "image/elf/elf_sections.h"

#include <elf.h>
#include <string.h>

#include <algorithm>

#include "image/elf/elf_bounds.h"

namespace cudnn_ci {
namespace {

// How many sections there are, and which has their names: where the header has no room for it, the first
// section header says so.
bool Count(const ByteSource& bytes, const Elf64_Ehdr& header, std::uint64_t* count, std::uint64_t* names) {
  *count = header.e_shnum;
  *names = header.e_shstrndx;
  if (*count != 0 && *names != SHN_XINDEX) return true;
  Elf64_Shdr first;
  if (!bytes.ReadObject(header.e_shoff, &first)) return false;
  if (*count == 0) *count = first.sh_size;
  if (*names == SHN_XINDEX) *names = first.sh_link;
  return true;
}

// Why they cannot be read; empty: they were.
std::string ReadSections(const ByteSource& bytes, const Elf64_Ehdr& header,
                         std::vector<ElfSection>* sections) {
  if (header.e_shoff == 0) return "it has no section headers";
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return "its section headers have an odd size";
  std::uint64_t count = 0, names_at = 0;
  if (!Count(bytes, header, &count, &names_at)) return "its section headers lie behind its end";
  if (count == 0) return "it has no section headers";
  if (count > kMostElfSections) return "it has more sections than are read";
  const auto headers = bytes.Table<Elf64_Shdr>(header.e_shoff, count, kMostElfSections);
  if (headers.empty()) return "its section headers lie behind its end";
  if (names_at >= count) return "its sections have no names";
  const Elf64_Shdr& table = headers[names_at];
  if (table.sh_size > kMostElfSectionNameBytes) return "the names of its sections are longer than is read";
  const std::string names = bytes.Text(table.sh_offset, table.sh_size);
  if (names.empty()) return "its sections have no names";
  sections->reserve(headers.size());
  for (const Elf64_Shdr& one : headers)
    sections->push_back({ByteSource(names).Name(one.sh_name, kLongestElfSymbolName), one.sh_offset,
                         one.sh_type == SHT_NOBITS ? 0 : one.sh_size});
  return {};
}

}  // namespace

const ElfSection* ElfSections::Find(const std::string& name) const {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const ElfSection& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

bool IsElf(const ByteSource& bytes) {
  unsigned char ident[EI_NIDENT];
  return bytes.Read(0, ident, sizeof ident) && memcmp(ident, ELFMAG, SELFMAG) == 0 &&
         ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB;
}

ElfSections ReadElfSections(const ByteSource& bytes) {
  ElfSections elf;
  Elf64_Ehdr header;
  if (!IsElf(bytes) || !bytes.ReadObject(0, &header)) {
    elf.problem = "it is not a 64-bit ELF file";
    return elf;
  }
  elf.type = header.e_type;
  elf.machine = header.e_machine;
  elf.flags = header.e_flags;
  elf.abi_version = header.e_ident[EI_ABIVERSION];
  elf.problem = ReadSections(bytes, header, &elf.sections);
  return elf;
}

}  // namespace cudnn_ci
