// What a data object of an ELF file holds, such as a version that was compiled in.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_OBJECT_H_
#define CUDNN_CI_IMAGE_ELF_ELF_OBJECT_H_

#include <cstddef>
#include <string>

namespace cudnn_ci {

// The bytes of the object of this name and size by the file's .symtab, else .dynsym; empty where there is
// none, or where it is no regular 64-bit ELF file. Held to elf_bounds.h. Any thread.
std::string ElfObjectBytes(const std::string& file, const std::string& name, std::size_t size);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_OBJECT_H_
