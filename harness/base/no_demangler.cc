// libc++'s last words name the type of an uncaught exception, and for that every program and plugin
// would carry a demangler of 70 KB. With this unit they give the mangled name. Other C++ libraries keep
// theirs.
#include <cstddef>

#ifdef _LIBCPP_VERSION
// As https://itanium-cxx-abi.github.io/cxx-abi/abi.html#demangler defines it; -2: not a valid name.
extern "C" __attribute__((visibility("hidden"))) char* __cxa_demangle(const char*, char*, std::size_t*,
                                                                      int* status) {
  constexpr int kInvalidName = -2;
  if (status) *status = kInvalidName;
  return nullptr;
}
#endif
