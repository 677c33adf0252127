// System calls that an older C library has no function for: then one of ours, of the same name and meaning.
// Worker and plugins of an archive of ci/bundle are built for glibc 2.17, its harness for musl.
#ifndef CUDNN_CI_BASE_SYSTEM_CALLS_H_
#define CUDNN_CI_BASE_SYSTEM_CALLS_H_

#include <linux/fs.h>     // RENAME_NOREPLACE, RENAME_EXCHANGE
#include <linux/memfd.h>  // MFD_CLOEXEC
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__GLIBC__) && __GLIBC_MINOR__ < 25
inline ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  return syscall(SYS_getrandom, buffer, size, flags);
}
#else
#include <sys/random.h>
#endif

#if defined(__GLIBC__) && __GLIBC_MINOR__ < 27
inline int memfd_create(const char* name, unsigned flags) {
  return static_cast<int>(syscall(SYS_memfd_create, name, flags));
}
#endif

#if !defined(__GLIBC__) || __GLIBC_MINOR__ < 28
inline int renameat2(int old_folder, const char* from, int new_folder, const char* to, unsigned flags) {
  return static_cast<int>(syscall(SYS_renameat2, old_folder, from, new_folder, to, flags));
}
#endif

#endif  // CUDNN_CI_BASE_SYSTEM_CALLS_H_
