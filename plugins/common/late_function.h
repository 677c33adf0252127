// A function of a library that is loaded by name. Calling one that the library lacks throws instead
// of jumping to address zero: a damaged or older library then reads as a named missing symbol in a
// report, not as a crash. Knows nothing about any particular library.
#ifndef CUDNN_CI_PLUGINS_COMMON_LATE_FUNCTION_H_
#define CUDNN_CI_PLUGINS_COMMON_LATE_FUNCTION_H_

#include <cudnn_ci/late.hpp>

#include <string>

// What a library calls its types is its own affair: a fake that is written in C++ has other names for them,
// which UndefinedBehaviorSanitizer would hold against each call.
#ifdef __clang__
#define CUDNN_CI_NO_SANITIZE_FUNCTION __attribute__((no_sanitize("function")))
#else
#define CUDNN_CI_NO_SANITIZE_FUNCTION
#endif

namespace cudnn_ci {

template <class Signature>
class LateFunction;

// One entry of a late-bound table. Copyable; valid as long as the process lives, since LateLibrary
// never unloads. Calls are as thread-safe as the function itself.
template <class R, class... Args>
class LateFunction<R(Args...)> {
 public:
  // Looks up `name`, then `fallback` when the library lacks the first (an older symbol version).
  void Bind(const LateLibrary& library, const char* name, const char* fallback = nullptr) {
    name_ = name;
    library_ = library.name();
    void* address = library.Find(name);
    if (!address && fallback) address = library.Find(fallback);
    function_ = reinterpret_cast<R (*)(Args...)>(address);
  }
  explicit operator bool() const { return function_ != nullptr; }
  const char* name() const { return name_; }

  // Throws MissingSymbol naming function and library when it is not bound.
  CUDNN_CI_NO_SANITIZE_FUNCTION R operator()(Args... args) const {
    if (!function_)
      throw MissingSymbol((library_.empty() ? "a library that is not loaded" : library_) + " has no symbol " +
                          name_);
    return function_(args...);
  }

 private:
  R (*function_)(Args...) = nullptr;
  const char* name_ = "(unbound)";
  std::string library_;
};

}  // namespace cudnn_ci

#undef CUDNN_CI_NO_SANITIZE_FUNCTION

#endif  // CUDNN_CI_PLUGINS_COMMON_LATE_FUNCTION_H_
