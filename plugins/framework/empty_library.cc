// As much of the format as glibc's loader asks for:
// https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
#include "framework/empty_library.h"

#include <elf.h>

#include <cstddef>

namespace cudnn_ci {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
#error "which machine is this?"
#endif

// The largest page that either machine has.
constexpr Elf64_Xword kPage = 0x10000;

struct Image {
  Elf64_Ehdr header;
  Elf64_Phdr segments[3];
  Elf64_Dyn dynamic[6];
  Elf64_Sym symbol;  // the table of symbols must be there, and begins with one that is none
};

}  // namespace

std::string EmptyLibrary(const std::string& soname) {
  std::string names(1, '\0');
  names += soname + '\0';
  Image image{};
  image.header = {{ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                  ET_DYN,
                  kMachine,
                  EV_CURRENT,
                  0,
                  offsetof(Image, segments),
                  0,
                  0,
                  sizeof image.header,
                  sizeof image.segments[0],
                  3,
                  0,
                  0,
                  0};
  const Elf64_Xword size = sizeof image + names.size();
  // The loader writes into the dynamic section. Without the last segment the stack would have to be
  // executable.
  image.segments[0] = {PT_LOAD, PF_R | PF_W, 0, 0, 0, size, size, kPage};
  image.segments[1] = {PT_DYNAMIC,
                       PF_R | PF_W,
                       offsetof(Image, dynamic),
                       offsetof(Image, dynamic),
                       offsetof(Image, dynamic),
                       sizeof image.dynamic,
                       sizeof image.dynamic,
                       alignof(Elf64_Dyn)};
  image.segments[2] = {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16};
  const struct {
    Elf64_Sxword tag;
    Elf64_Xword value;
  } entries[] = {{DT_SONAME, 1},
                 {DT_STRTAB, sizeof image},
                 {DT_STRSZ, names.size()},
                 {DT_SYMTAB, offsetof(Image, symbol)},
                 {DT_SYMENT, sizeof image.symbol},
                 {DT_NULL, 0}};
  for (std::size_t i = 0; i < 6; ++i) {
    image.dynamic[i].d_tag = entries[i].tag;
    image.dynamic[i].d_un.d_val = entries[i].value;
  }
  return std::string(reinterpret_cast<const char*>(&image), sizeof image) + names;
}

}  // namespace cudnn_ci
