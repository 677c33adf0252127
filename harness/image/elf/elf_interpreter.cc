#include "image/elf/elf_interpreter.h"

#include <elf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#include "base/fd.h"
#include "base/regular_file.h"

namespace cudnn_ci {
namespace {

bool ReadAt(int fd, uint64_t offset, void* to, size_t size) {
  return pread(fd, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

}  // namespace

std::string MissingInterpreter(const std::string& program) {
  const Fd file = OpenRegularFile(program);
  Elf64_Ehdr header{};
  if (!file.valid() || !ReadAt(file.get(), 0, &header, sizeof header)) return {};
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!ReadAt(file.get(), header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return {};
    if (segment.p_type != PT_INTERP || segment.p_filesz == 0 || segment.p_filesz > PATH_MAX) continue;
    std::string path(segment.p_filesz, '\0');
    if (!ReadAt(file.get(), segment.p_offset, path.data(), path.size())) return {};
    path.resize(strlen(path.c_str()));
    return access(path.c_str(), F_OK) == 0 ? "" : path;
  }
  return {};
}

}  // namespace cudnn_ci
