// A library's release, in its own words, for those that have no number to read. Reads, and loads
// nothing. For harness and plugins alike.
#ifndef CUDNN_CI_IMAGE_ELF_LIBRARY_TEXT_H_
#define CUDNN_CI_IMAGE_ELF_LIBRARY_TEXT_H_

#include <string>

namespace cudnn_ci {

// The version of three numbers behind a marker in the read-only data (.rodata) of a library of 64 bits:
// "2.28.9" behind "NCCL version " in "NCCL version 2.28.9+cuda13.0". Empty: the file cannot be read, has no
// such text, or has it with different versions. At most 32 MiB are read.
std::string VersionBehind(const std::string& path, const std::string& marker);
// All of that word, "2.28.9+cuda13.0", of 64 letters, digits and "._+-" at most. Empty: as above, or there is
// none.
std::string WordBehind(const std::string& path, const std::string& marker);

// "libcudnn.so.8.9.7" of "libcudnn-463fd6d5.so.8.9.7", as auditwheel calls what a wheel carries with it;
// empty: the name is not mangled.
std::string BundledName(const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_LIBRARY_TEXT_H_
