// A shared library that the loader takes and that has nothing in it.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_EMPTY_LIBRARY_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_EMPTY_LIBRARY_H_

#include <string>

namespace cudnn_ci {

// The bytes of its file, of this process's machine: no code, no symbol, no dependency, nothing but its name.
std::string EmptyLibrary(const std::string& soname);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_EMPTY_LIBRARY_H_
