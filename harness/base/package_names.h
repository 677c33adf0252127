// Names of packages: patterns of them, and what they tell. For harness and plugins alike.
#ifndef CUDNN_CI_BASE_PACKAGE_NAMES_H_
#define CUDNN_CI_BASE_PACKAGE_NAMES_H_

#include <cstddef>
#include <set>
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

// True for the name of a shared library: "libfoo.so", "_C.so", "libfoo.so.9".
inline bool IsLibraryName(std::string_view name) {
  const std::size_t at = name.find(".so");
  return at != std::string_view::npos && (at + 3 == name.size() || name[at + 3] == '.');
}

// "libcudart" of "libcudart.so.12", of "libcudart-9335f6a2.so.12" (as auditwheel names it) and of
// "libcudart_static.a", "libcudnn" of "libcudnn_ops.so.9": what stands before the first of ".-_".
inline std::string_view LibraryFamily(std::string_view name) {
  return name.substr(0, name.find_first_of(".-_"));
}

// Libraries that come with CUDA or beside it, not those of the driver, which are the host's: by rows of
// "gpu_libraries" of knowledge/packages.json.
class CudaLibraries {
 public:
  CudaLibraries() = default;
  // `files`: names of the rows, "libcudart.so". The other libraries of a family are known with one.
  explicit CudaLibraries(const std::vector<std::string>& files) {
    for (const std::string& file : files) families_.emplace(LibraryFamily(file));
  }
  // Whether a file of this name is one of them.
  bool Has(std::string_view name) const {
    return IsLibraryName(name) && families_.count(LibraryFamily(name)) > 0;
  }

 private:
  std::set<std::string, std::less<>> families_;
};

// "2.11.0" of "2.11.0+cu130" and of "2.11.0a0": the numbers that a version begins with; "0": it begins with
// none.
inline std::string NumbersOf(const std::string& version) {
  std::string numbers = version.substr(0, version.find_first_not_of("0123456789."));
  while (!numbers.empty() && numbers.back() == '.') numbers.pop_back();
  return numbers.empty() ? "0" : numbers;
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
  // that exists counts.
  std::vector<std::string> run_path_of;
  // Patterns of libraries that need CUDA's, below a folder of packages.
  std::vector<std::string> native;
};

// A Python package whose kernels an adapter asks (kernels.package).
struct AdaptedPackage {
  std::string adapter, title;  // "torch", "PyTorch"
  std::string name, versions;  // "torch", the range of its releases that the adapter is for
};

// What is known of Python packages by the names of their metadata and files.
struct PackageNames {
  std::vector<FrameworkName> frameworks;
  std::vector<std::string>
      cudnn;  // patterns of cuDNN's packages that end in a CUDA major: "nvidia-cudnn-cu#*"
  std::vector<FrameworkFiles> framework_files;
  CudaLibraries cuda;
  // Patterns of packages that compile device code in ordinary use, though no file of theirs shows it:
  // "numba-cuda".
  std::vector<std::string> compilers;
  // Of one adapter the one that counts comes first.
  std::vector<AdaptedPackage> adapted;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_PACKAGE_NAMES_H_
