// Late binding: libraries by name, functions by name, with the loader's own words on failure. A
// plugin that links CUDA or cuDNN cannot even be loaded where they are missing, and could then not
// say what is missing.
#ifndef CUDNN_CI_LATE_HPP_
#define CUDNN_CI_LATE_HPP_

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace cudnn_ci {

// A function the library does not export, or a library that is not loaded.
class MissingSymbol : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A shared library that stays loaded until the process ends: unloading CUDA libraries is unsafe.
class LateLibrary {
 public:
  LateLibrary() = default;

  // Loads `name` (a soname or a path) with RTLD_NOW | RTLD_LOCAL. False: error() has dlerror's text.
  bool Open(const std::string& name) {
    name_ = name;
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) {
      const char* e = dlerror();
      error_ = e ? e : "dlopen failed without a text";
    }
    return handle_ != nullptr;
  }
  bool loaded() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }
  const std::string& error() const { return error_; }

  // The file the loader took, after symbolic links as the loader recorded it; empty if unknown.
  std::string Path() const;

  // The address of a symbol, or null.
  void* Find(const char* symbol) const { return handle_ ? dlsym(handle_, symbol) : nullptr; }

  // Throws MissingSymbol naming the symbol and the library.
  template <class Function>
  Function* Get(const char* symbol) const {
    void* p = Find(symbol);
    if (!p) throw MissingSymbol(name_ + (handle_ ? " has no symbol " : " is not loaded; wanted ") + symbol);
    return reinterpret_cast<Function*>(p);
  }

 private:
  void* handle_ = nullptr;
  std::string name_, error_;
};

}  // namespace cudnn_ci

#include <link.h>

inline std::string cudnn_ci::LateLibrary::Path() const {
  struct link_map* map = nullptr;
  if (!handle_ || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return {};
  return map->l_name;
}

#endif  // CUDNN_CI_LATE_HPP_
