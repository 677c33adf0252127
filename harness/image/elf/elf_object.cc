#include "image/elf/elf_object.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/fd.h"
#include "base/regular_file.h"
#include "image/elf/byte_source.h"
#include "image/elf/elf_bounds.h"

namespace cudnn_ci {
namespace {

constexpr uint64_t kAtOnce = 4096;  // symbols

// In the file, by the segments that the loader maps; empty: it has no bytes there.
std::string BytesAt(const ByteSource& file, const std::vector<Elf64_Phdr>& segments, uint64_t address,
                    std::size_t size) {
  for (const Elf64_Phdr& p : segments)
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz &&
        size <= p.p_filesz - (address - p.p_vaddr))
      return file.Text(p.p_offset + (address - p.p_vaddr), size);
  return "";
}

}  // namespace

std::string ElfObjectBytes(const std::string& file, const std::string& name, std::size_t size) {
  const FileBytes bytes(OpenRegularFile(file));
  Elf64_Ehdr header{};
  if (!bytes.ok() || !bytes->ReadObject(0, &header)) return "";
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return "";
  const auto segments = bytes->Table<Elf64_Phdr>(header.e_phoff, header.e_phnum, kMostElfSegments);
  const auto sections = bytes->Table<Elf64_Shdr>(header.e_shoff, header.e_shnum, kMostElfSections);
  uint64_t left = kMostElfSymbolsSearched;
  for (const uint32_t type : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}})
    for (const Elf64_Shdr& table : sections) {
      if (table.sh_type != type || table.sh_link >= sections.size()) continue;
      const Elf64_Shdr& link = sections[table.sh_link];
      const ByteSource names = bytes->Part(link.sh_offset, link.sh_size);
      const uint64_t count = std::min<uint64_t>(table.sh_size / sizeof(Elf64_Sym), kMostElfSymbols);
      uint64_t some = 0;
      for (uint64_t at = 0; at < count && left > 0; at += some) {
        some = std::min({kAtOnce, count - at, left});
        left -= some;
        const auto symbols = bytes->Table<Elf64_Sym>(table.sh_offset + at * sizeof(Elf64_Sym), some, kAtOnce);
        if (symbols.empty()) break;
        for (const Elf64_Sym& symbol : symbols)
          if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size == size &&
              names.Name(symbol.st_name, name.size() + 1) == name)
            return BytesAt(*bytes, segments, symbol.st_value, size);
      }
    }
  return "";
}

}  // namespace cudnn_ci
