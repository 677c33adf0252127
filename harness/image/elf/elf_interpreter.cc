#include "image/elf/elf_interpreter.h"

#include <elf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "image/elf/byte_source.h"

namespace cudnn_ci {

std::string InterpreterOf(const std::string& program) {
  const FileBytes file(OpenRegularFile(program));
  Elf64_Ehdr header{};
  if (!file->ReadObject(0, &header)) return {};
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  for (const auto& segment : file->Table<Elf64_Phdr>(header.e_phoff, header.e_phnum, UINT16_MAX)) {
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > PATH_MAX) continue;
    std::string path = file->Text(segment.p_offset, segment.p_filesz);
    path.resize(strlen(path.c_str()));
    return path;
  }
  return {};
}

std::string MissingInterpreter(const std::string& program) {
  const std::string path = InterpreterOf(program);
  return path.empty() || access(path.c_str(), F_OK) == 0 ? "" : path;
}

}  // namespace cudnn_ci
