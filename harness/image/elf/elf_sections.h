// The sections of an ELF file, of whatever machine, by its section headers: where device code lies in
// libraries and objects, and what a piece of device code is.
// https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html Pure functions over bytes.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_SECTIONS_H_
#define CUDNN_CI_IMAGE_ELF_ELF_SECTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "image/elf/byte_source.h"

namespace cudnn_ci {

struct ElfSection {
  std::string name;
  std::uint64_t offset = 0, size = 0;  // in the file; of what takes no room there (.bss) the size is 0
};

struct ElfSections {
  std::uint16_t type = 0, machine = 0;  // ET_DYN, EM_X86_64, ...
  std::uint32_t flags = 0;
  std::uint8_t abi_version = 0;
  std::vector<ElfSection> sections;
  // Why the sections are not known or not all; empty: they are.
  std::string problem;

  // Null: there is none. The first of several.
  const ElfSection* Find(const std::string& name) const;
};

// True if the bytes begin as an ELF file of 64 bits, little-endian, does.
bool IsElf(const ByteSource& bytes);

// Held to elf_bounds.h. Of bytes that are no ELF file of 64 bits there is a problem and nothing else.
ElfSections ReadElfSections(const ByteSource& bytes);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_SECTIONS_H_
