#include "image/contents/gpu_use.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "base/fd.h"
#include "image/elf/byte_source.h"
#include "image/elf/elf_file.h"
#include "image/elf/elf_sections.h"
#include "image/elf/read_in_parallel.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr int kMostEntries = 400000;
constexpr size_t kMostLibraries = 20000;
constexpr int kMostDepth = 32;

// The driver's, which the host mounts: who needs it uses a GPU, and who has it brings none.
bool IsDriverLibrary(std::string_view name) {
  return name.starts_with("libcuda.so") || name.starts_with("libnvidia-");
}

// "12" of "libcudart.so.12" and "libcublas.so.12.8.4": these change their number with CUDA's major.
std::string CudaMajorOf(std::string_view name) {
  const std::string_view stem = LibraryFamily(name);
  const bool tells =
      stem == "libcudart" || stem == "libcublas" || stem == "libcublasLt" || stem == "libnvrtc";
  const size_t at = name.find(".so.");
  if (!tells || at == std::string_view::npos) return {};
  const std::string_view number = name.substr(at + 4);
  return std::string(number.substr(0, number.find_first_not_of("0123456789")));
}

// CuPy has a module for each library of CUDA, and imports that of cuDNN for who asks for it alone:
// https://docs.cupy.dev/en/stable/install.html#additional-cuda-libraries
bool IsOptional(const std::string& path) { return path.find("/cupy") != std::string::npos; }

// Nothing loads an extension of a framework that is not installed.
bool IsOfFramework(std::string_view library) {
  return library.starts_with("libtorch") || library.starts_with("libc10") ||
         library.starts_with("libtensorflow_framework");
}

// The entries that may still be read, by several threads.
using Budget = std::atomic<int>;

void ListBelow(const std::string& folder, int depth, Budget* left, std::vector<std::string>* libraries) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    if (--*left < 0) return;
    if (it.depth() + depth >= kMostDepth) it.disable_recursion_pending();
    if (IsLibraryName(it->path().filename().native())) libraries->push_back(it->path().native());
  }
}

// The folders in a folder, links aside; its libraries are added.
std::vector<std::string> FoldersIn(const std::string& folder, Budget* left,
                                   std::vector<std::string>* libraries) {
  std::vector<std::string> folders;
  std::error_code error, unknown;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (--*left < 0) return folders;
    if (IsLibraryName(it->path().filename().native())) libraries->push_back(it->path().native());
    if (!it->is_symlink(unknown) && it->is_directory(unknown)) folders.push_back(it->path().native());
  }
  return folders;
}

// Adds the libraries below a folder. False: it holds more than is looked at. What lies two folders down is
// read by several threads: an environment has thousands of folders, and one of its packages half of them.
bool AddLibraries(const std::string& folder, int* entries, std::vector<std::string>* libraries) {
  Budget left = *entries;
  std::vector<std::string> inside;
  for (const std::string& package : FoldersIn(folder, &left, libraries))
    for (std::string& part : FoldersIn(package, &left, libraries)) inside.push_back(std::move(part));
  std::vector<std::vector<std::string>> found(inside.size());
  ReadInParallel(inside.size(), [&](size_t i) { ListBelow(inside[i], 2, &left, &found[i]); });
  for (const std::vector<std::string>& below : found)
    libraries->insert(libraries->end(), below.begin(), below.end());
  *entries = std::max(0, left.load());
  return left >= 0;
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Look {
 public:
  // `libraries`: all that are looked at. `cuda` must outlive this.
  Look(const std::vector<std::string>& libraries, const CudaLibraries& cuda) : cuda_(cuda) {
    for (const std::string& path : libraries) names_.insert(NameOf(path));
  }

  // `needed`: what the file asks the loader for.
  void At(const std::string& path, const std::vector<std::string>& needed) {
    const std::string name = NameOf(path);
    bool uses = cuda_.Has(name);
    if (uses) Tell(name);
    // CUDA's own libraries are of one release with what they need.
    const bool asks = !uses && !IsOptional(path) &&
                      !std::any_of(needed.begin(), needed.end(),
                                   [&](const auto& n) { return IsOfFramework(n) && names_.count(n) == 0; });
    for (const std::string& library : needed) {
      uses = uses || cuda_.Has(library) || IsDriverLibrary(library);
      Tell(library);
      if (!asks) continue;
      use_.asks_for_cudnn = use_.asks_for_cudnn || LibraryFamily(library) == "libcudnn";
      use_.asks_for_runtime = use_.asks_for_runtime || LibraryFamily(library) == "libcudart";
      use_.asks_for_nvrtc = use_.asks_for_nvrtc || LibraryFamily(library) == "libnvrtc";
    }
    if (!use_.example.empty()) return;
    // Sections are read where nothing has shown it yet: a library of a gigabyte has them at its end.
    if (uses || HoldsDeviceCode(path)) use_.example = path;
  }
  bool found() const { return !use_.example.empty(); }
  void Cut() { use_.complete = false; }

  GpuUse Take() {
    if (majors_.size() == 1) use_.cuda = *majors_.begin();
    return std::move(use_);
  }

 private:
  void Tell(const std::string& library) {
    if (std::string major = CudaMajorOf(library); !major.empty()) majors_.insert(std::move(major));
  }

  const CudaLibraries& cuda_;
  std::set<std::string> names_, majors_;
  GpuUse use_;
};

GpuUse LookBelow(const std::vector<std::string>& folders, const CudaLibraries& cuda, bool first_only) {
  int entries = kMostEntries;
  std::vector<std::string> libraries;
  bool complete = true;
  for (const std::string& folder : folders) complete = AddLibraries(folder, &entries, &libraries) && complete;
  // Sorted, so that what is said does not depend on the order in which a folder is read.
  std::sort(libraries.begin(), libraries.end());
  if (libraries.size() > kMostLibraries) {
    complete = false;
    libraries.resize(kMostLibraries);
  }
  Look look(libraries, cuda);
  if (!complete) look.Cut();
  // A name costs nothing to look at.
  const auto by_name = [&](const std::string& path) { return cuda.Has(NameOf(path)); };
  if (first_only && std::any_of(libraries.begin(), libraries.end(), by_name))
    libraries = {*std::find_if(libraries.begin(), libraries.end(), by_name)};
  std::vector<std::vector<std::string>> needed(libraries.size());
  ReadInParallel(libraries.size(), [&](size_t i) { needed[i] = ElfFile(libraries[i]).Needed(); });
  for (size_t i = 0; i < libraries.size(); ++i) {
    if (first_only && look.found()) break;
    look.At(libraries[i], needed[i]);
  }
  return look.Take();
}

}  // namespace

bool HoldsDeviceCode(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return false;
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) return false;
  const ByteSource bytes(fd.get(), size);
  if (!IsElf(bytes)) return false;
  const ElfSections sections = ReadElfSections(bytes);
  return sections.Find(".nv_fatbin") != nullptr || sections.Find("__nv_relfatbin") != nullptr;
}

bool IsToolkitLibrary(const std::string& name) {
  return IsLibraryName(name) && (LibraryFamily(name) == "libcudart" || LibraryFamily(name) == "libnvrtc");
}

GpuUse FindGpuUse(const std::vector<std::string>& folders, const CudaLibraries& cuda) {
  return LookBelow(folders, cuda, false);
}

bool HoldsGpuUse(const std::string& folder, const CudaLibraries& cuda, bool* cut) {
  const GpuUse use = LookBelow({folder}, cuda, true);
  if (cut && use.example.empty() && !use.complete) *cut = true;
  return !use.example.empty();
}

std::vector<std::string> LibrariesBelow(const std::string& folder) {
  int entries = kMostEntries;
  std::vector<std::string> libraries;
  AddLibraries(folder, &entries, &libraries);
  std::sort(libraries.begin(), libraries.end());
  if (libraries.size() > kMostLibraries) libraries.resize(kMostLibraries);
  return libraries;
}

GpuUse GpuUseOfFile(const std::string& file, const CudaLibraries& cuda) {
  Look look({file}, cuda);
  look.At(file, ElfFile(file).Needed());
  return look.Take();
}

}  // namespace cudnn_ci
