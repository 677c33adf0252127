// The names that a shared library or a program gives to others, and takes from them, as the loader sees them.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_DYNAMIC_H_
#define CUDNN_CI_IMAGE_ELF_ELF_DYNAMIC_H_

#include <set>
#include <string>

namespace cudnn_ci {

struct DynamicSymbols {
  std::set<std::string> defined;  // a process that loads the file may find these there
  // Not defined here, and taken from the C or C++ library (libc, libm, libpthread, libdl, librt, libstdc++,
  // libgcc_s, ld-linux) by a version that one of them gives.
  std::set<std::string> from_c_library;
  std::string soname;    // empty: it has none
  bool filters = false;  // the loader looks for its names in another file first (DT_FILTER, DT_AUXILIARY)
  bool foreign = false;  // of another word size, byte order or machine: the loader passes over it
  std::string problem;   // why all this cannot be told; empty: it can
};

// Reads a 64-bit ELF file by its dynamic segment alone: section headers may be missing or lie, and the loader
// does not look at them. The file's name is not trusted: it must be a regular file of no
// file system of the kernel's (/proc, /sys, /dev); it is looked at before it is opened, read with pread and
// never mapped, within elf_bounds.h. Any thread.
DynamicSymbols ReadDynamicSymbols(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_DYNAMIC_H_
