#include "image/components.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/path.h"
#include "common/cudnn_files.h"
#include "common/known_regressions.h"
#include "image/elf/elf_file.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

enum class Manager { kPython, kConda, kDistribution };

// Packages by name; a "*" at the end stands for what follows ("libcudnn9-cuda-13", "libcublas-12-8").
struct Rule {
  Manager manager;
  std::string_view name;
  const char* library;
};

// Names of wheels: https://pypi.org/project/nvidia-cudnn-cu12/ and its siblings; of conda-forge:
// https://github.com/conda-forge/cudnn-feedstock; of NVIDIA's apt and rpm repositories: NAME-MAJOR-MINOR.
constexpr std::array<Rule, 34> kRules = {{
    {Manager::kPython, "nvidia-cudnn", kCudnn},
    {Manager::kPython, "nvidia-cudnn-cu*", kCudnn},
    {Manager::kPython, "nvidia-cudnn-jit-cu*", kCudnn},
    {Manager::kPython, "nvidia-cublas", kCublas},
    {Manager::kPython, "nvidia-cublas-cu*", kCublas},
    {Manager::kPython, "nvidia-nccl-cu*", kNccl},
    {Manager::kPython, "nvidia-nvshmem-cu*", kNvshmem},
    {Manager::kPython, "nvidia-cuda-runtime", kToolkit},
    {Manager::kPython, "nvidia-cuda-runtime-cu*", kToolkit},
    {Manager::kPython, "torch", kTorch},
    {Manager::kPython, "triton", kTriton},
    {Manager::kPython, "pytorch-triton", kTriton},
    {Manager::kPython, "jaxlib", kJax},
    {Manager::kPython, "tensorflow", kTensorflow},
    {Manager::kPython, "tensorflow-gpu", kTensorflow},
    {Manager::kConda, "cudnn", kCudnn},
    {Manager::kConda, "libcudnn", kCudnn},
    {Manager::kConda, "libcublas", kCublas},
    {Manager::kConda, "nccl", kNccl},
    {Manager::kConda, "nvshmem", kNvshmem},
    {Manager::kConda, "libnvshmem3", kNvshmem},
    {Manager::kConda, "cuda-cudart", kToolkit},
    {Manager::kConda, "pytorch", kTorch},
    {Manager::kConda, "triton", kTriton},
    {Manager::kConda, "jaxlib", kJax},
    {Manager::kConda, "tensorflow-base", kTensorflow},
    {Manager::kDistribution, "libcudnn8", kCudnn},
    {Manager::kDistribution, "libcudnn9-cuda-*", kCudnn},
    {Manager::kDistribution, "libcublas-*", kCublas},
    {Manager::kDistribution, "libnccl2", kNccl},
    {Manager::kDistribution, "libnccl", kNccl},
    {Manager::kDistribution, "libnvshmem3-cuda-*", kNvshmem},
    {Manager::kDistribution, "cuda-cudart-*", kToolkit},
    {Manager::kDistribution, "cudnn9-cuda-*", kCudnn},
}};

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.back() != '*') return pattern == name;
  pattern.remove_suffix(1);
  // Then a number: headers and static libraries are "libcublas-dev-12-8".
  return name.size() > pattern.size() && name.substr(0, pattern.size()) == pattern &&
         std::isdigit(static_cast<unsigned char>(name[pattern.size()])) != 0;
}

// Null: a package of nothing that has rows.
const char* LibraryOf(Manager manager, std::string_view name) {
  for (const Rule& rule : kRules)
    if (rule.manager == manager && Matches(rule.name, name)) return rule.library;
  return nullptr;
}

const char* Words(Manager manager) {
  switch (manager) {
    case Manager::kPython:
      return "Python package ";
    case Manager::kConda:
      return "conda package ";
    case Manager::kDistribution:
      break;
  }
  return "package ";
}

class Collection {
 public:
  void AddPackage(Manager manager, const std::string& name, const std::string& version) {
    const char* library = LibraryOf(manager, name);
    if (library) Add({library, ReleaseOf(version), Words(manager) + name + " " + version});
  }
  void Add(Component component) {
    if (known_.insert({component.library, component.version}).second)
      components_.push_back(std::move(component));
  }
  bool Has(const std::string& library) const {
    return std::any_of(components_.begin(), components_.end(),
                       [&](const Component& c) { return c.library == library && !c.version.empty(); });
  }
  std::vector<Component> Sorted() {
    std::stable_sort(components_.begin(), components_.end(), [](const Component& a, const Component& b) {
      return std::tie(a.library, a.version) < std::tie(b.library, b.version);
    });
    return std::move(components_);
  }

 private:
  std::set<std::pair<std::string, std::string>> known_;
  std::vector<Component> components_;
};

Manager ManagerOf(PackageManager manager) {
  switch (manager) {
    case PackageManager::kPython:
      return Manager::kPython;
    case PackageManager::kConda:
      return Manager::kConda;
    case PackageManager::kDpkg:
    case PackageManager::kRpm:
      break;
  }
  return Manager::kDistribution;
}

bool IsCalled(const std::string& file, std::string_view stem) {
  const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
  return name.substr(0, stem.size()) == stem && (name.size() == stem.size() || name[stem.size()] == '.');
}

// "2.27.3" of ".../libnccl.so.2.27.3", links followed; empty where the name has the major alone.
std::string VersionInName(const std::string& path, std::string_view stem) {
  const std::string real = RealPath(path);
  if (!IsCalled(real, stem)) return "";
  const std::size_t at = real.rfind('/') + 1 + stem.size();
  const std::string version = at < real.size() ? ReleaseOf(real.substr(at + 1)) : "";
  return version.find('.') == std::string::npos ? "" : version;
}

// What a file says of its own version outranks the package: the package may have been written over.
void AddFile(const std::string& path, Collection* components) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kNamed = {
      {{"libnccl.so", kNccl}, {"libcublasLt.so", kCublas}, {"libnvshmem_host.so", kNvshmem}}};
  for (const char* part : {"libcudnn_graph.so", "libcudnn_ops.so", "libcudnn_ops_infer.so"}) {
    if (!IsCalled(path, part)) continue;
    if (const std::string version = CudnnVersionOf(ElfFile(path)); !version.empty())
      components->Add({kCudnn, ReleaseOf(version), path});
    return;
  }
  for (const auto& [stem, library] : kNamed)
    if (const std::string version = VersionInName(path, stem); !version.empty())
      components->Add({library, version, path});
}

}  // namespace

std::string ReleaseOf(const std::string& version) {
  std::string_view text = version;
  const auto digits = [&] {
    std::size_t count = 0;
    while (count < text.size() && std::isdigit(static_cast<unsigned char>(text[count]))) ++count;
    return count;
  };
  if (text.size() > 1 && (text[0] == 'v' || text[0] == 'V')) text.remove_prefix(1);
  // Of an epoch Debian writes "1:", and Python "1!".
  if (const std::size_t epoch = digits();
      epoch > 0 && epoch < text.size() && (text[epoch] == ':' || text[epoch] == '!'))
    text.remove_prefix(epoch + 1);
  std::string release;
  constexpr std::size_t kMostDigits = 9;  // of a number, as the matrix's versions have
  for (int numbers = 0; numbers < 3; ++numbers) {
    const std::size_t count = digits();
    if (count == 0 || count > kMostDigits) break;
    release += (release.empty() ? "" : ".") + std::string(text.substr(0, count));
    text.remove_prefix(count);
    if (text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
  }
  return release;
}

std::vector<Component> ComponentsOf(const ImageFiles& image) {
  Collection files, all;
  for (const ImageFile& file : image.files) AddFile(file.path, &files);
  for (const Package& package : image.packages.packages()) {
    const Manager manager = ManagerOf(package.manager);
    const char* library = LibraryOf(manager, package.name);
    // A file of it tells the version, and may be of another one than the record says.
    if (library && files.Has(library)) continue;
    all.AddPackage(manager, package.name, package.version);
  }
  for (Component& component : files.Sorted()) {
    if (const std::string owner = image.BroughtBy(component.origin); !owner.empty())
      component.origin += " of " + owner;
    all.Add(std::move(component));
  }
  return all.Sorted();
}

std::vector<Component> ComponentsOf(const std::vector<SbomPackage>& packages) {
  Collection all;
  for (const SbomPackage& package : packages) {
    if (package.type == "conda") {
      all.AddPackage(Manager::kConda, package.name, package.version);
    } else if (package.type == "deb" || package.type == "rpm") {
      all.AddPackage(Manager::kDistribution, package.name, package.version);
    } else if (package.type == "pypi" || package.type.empty()) {
      all.AddPackage(Manager::kPython, NormalizedName(package.name), package.version);
    }
  }
  return all.Sorted();
}

}  // namespace cudnn_ci
