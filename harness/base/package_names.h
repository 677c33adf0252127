// Names of packages: patterns of them, and what they tell. For harness and plugins alike.
#ifndef CUDNN_CI_BASE_PACKAGE_NAMES_H_
#define CUDNN_CI_BASE_PACKAGE_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// Whether a name is of a pattern: "#" stands for one digit, "*" for the rest, whatever it is. Each character
// is looked at once.
inline bool NameMatches(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  for (const char c : pattern) {
    if (c == '*') return true;
    if (at == name.size()) return false;
    const char found = name[at++];
    if (c == '#' ? found < '0' || found > '9' : c != found) return false;
  }
  return at == name.size();
}

// A Python package that is a framework.
struct FrameworkName {
  std::string name;   // a pattern: "cupy-cuda12x"
  std::string title;  // "CuPy"
};

// What an installed framework may have brought.
struct FrameworkFiles {
  std::string title;                       // "PyTorch"
  std::string module;                      // "torch", what `import` names
  std::vector<std::string> distributions;  // "jax-cuda13-plugin", "jaxlib": names of packages
  // The files whose run path names the folders of CUDA's libraries, below a folder of packages; the first
  // that is there counts.
  std::vector<std::string> run_path_of;
  // Patterns of libraries that need CUDA's, below a folder of packages.
  std::vector<std::string> native;
};

// What is known of Python packages by the names of their metadata and files.
struct PackageNames {
  std::vector<FrameworkName> frameworks;
  std::vector<std::string>
      cudnn;  // patterns of cuDNN's packages that end in a CUDA major: "nvidia-cudnn-cu#*"
  std::vector<FrameworkFiles> framework_files;
  // Patterns of packages that compile device code in ordinary use, though no file of theirs shows it:
  // "numba-cuda".
  std::vector<std::string> compilers;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_PACKAGE_NAMES_H_
