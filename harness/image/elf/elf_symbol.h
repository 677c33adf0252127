// The functions that addresses in a file belong to.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_SYMBOL_H_
#define CUDNN_CI_IMAGE_ELF_ELF_SYMBOL_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_ci {

// For each offset in a 64-bit ELF file "cudnnCreate+0x1f", by its .symtab or else .dynsym; empty where no
// function of a known size holds it. The names are as they stand in the file: not demangled, at most 255
// bytes, of any value. The file's name is not trusted: it must be a regular file by its
// real path, of no file system of the kernel's (/proc, /sys, /dev); it is looked at before it is opened, read
// with pread and never mapped. At most four million symbols are looked at, and none after `until_ns` of the
// monotonic clock; what was found so far is returned. A file system that hangs makes this hang. Any thread.
std::vector<std::string> ElfSymbolsAt(const std::string& file, const std::vector<uint64_t>& offsets,
                                      int64_t until_ns);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_SYMBOL_H_
