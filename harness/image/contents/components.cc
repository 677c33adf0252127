#include "image/contents/components.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/package_names.h"
#include "base/path.h"
#include "image/contents/cudnn_files.h"
#include "image/elf/elf_file.h"
#include "image/elf/library_text.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

constexpr char kPython[] = "python", kConda[] = "conda", kDistribution[] = "distribution";

// Null: a package of nothing that has rows.
const std::string* LibraryOf(const ComponentRules& rules, const std::string& manager, std::string_view name) {
  for (const ComponentRules::Package& rule : rules.packages)
    if (rule.manager == manager && NameMatches(rule.name, name)) return &rule.library;
  return nullptr;
}

const char* Words(const std::string& manager) {
  if (manager == kPython) return "Python package ";
  return manager == kConda ? "conda package " : "package ";
}

class Collection {
 public:
  explicit Collection(const ComponentRules* rules) : rules_(*rules) {}
  void AddPackage(const std::string& manager, const std::string& name, const std::string& version) {
    if (const std::string* library = LibraryOf(rules_, manager, name))
      Add({*library, ReleaseOf(version), Words(manager) + name + " " + version});
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
  const ComponentRules& rules_;
  std::set<std::pair<std::string, std::string>> known_;
  std::vector<Component> components_;
};

const char* ManagerOf(PackageManager manager) {
  switch (manager) {
    case PackageManager::kPython:
      return kPython;
    case PackageManager::kConda:
      return kConda;
    case PackageManager::kDpkg:
    case PackageManager::kRpm:
      break;
  }
  return kDistribution;
}

// The file's name, of one that a wheel carries under a mangled one the library's.
std::string LibraryName(const std::string& file) {
  std::string name = file.substr(file.rfind('/') + 1);
  const std::string bundled = BundledName(name);
  return bundled.empty() ? name : bundled;
}

bool IsCalled(const std::string& file, std::string_view stem) {
  const std::string name = LibraryName(file);
  return name.starts_with(stem) && (name.size() == stem.size() || name[stem.size()] == '.');
}

// "2.27.3" of ".../libnccl.so.2.27.3", links followed; empty where the name has the major alone.
std::string VersionInName(const std::string& path, std::string_view stem) {
  const std::string real = RealPath(path);
  if (!IsCalled(real, stem)) return "";
  const std::string name = LibraryName(real);
  const std::string version = name.size() > stem.size() ? ReleaseOf(name.substr(stem.size() + 1)) : "";
  return version.find('.') == std::string::npos ? "" : version;
}

// A file's own version outranks the package's: the package may have been written over.
void AddFile(const ComponentRules& rules, const std::string& path, Collection* components) {
  for (const char* part : {"libcudnn_graph.so", "libcudnn_ops.so", "libcudnn_ops_infer.so"}) {
    if (!IsCalled(path, part)) continue;
    if (const std::string version = CudnnVersionOf(ElfFile(path)); !version.empty())
      components->Add({rules.cudnn, ReleaseOf(version), path, path});
    return;
  }
  for (const ComponentRules::File& rule : rules.files) {
    if (!IsCalled(path, rule.stem)) continue;
    std::string version = rule.marker.empty() ? "" : VersionBehind(path, rule.marker);
    if (version.empty()) version = VersionInName(path, rule.stem);
    if (!version.empty()) components->Add({rule.library, version, path, path});
  }
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

std::vector<Component> ComponentsOf(const ComponentRules& rules, const ImageFiles& image) {
  Collection files(&rules), bundled(&rules), all(&rules);
  for (const ImageFile& file : image.files) {
    const bool is_bundled = !BundledName(file.path.substr(file.path.rfind('/') + 1)).empty();
    AddFile(rules, file.path, is_bundled ? &bundled : &files);
  }
  for (const Package& package : image.packages.packages()) {
    const std::string manager = ManagerOf(package.manager);
    const std::string* library = LibraryOf(rules, manager, package.name);
    // A file of it tells the version, and may be of another one than the record says.
    if (library && files.Has(*library)) continue;
    all.AddPackage(manager, package.name, package.version);
  }
  for (Collection* found : {&files, &bundled})
    for (Component& component : found->Sorted()) {
      if (const std::string owner = image.BroughtBy(component.origin); !owner.empty())
        component.origin += " of " + owner;
      all.Add(std::move(component));
    }
  return all.Sorted();
}

std::vector<Component> ComponentsOf(const ComponentRules& rules, const std::vector<SbomPackage>& packages) {
  Collection all(&rules);
  for (const SbomPackage& package : packages) {
    if (package.type == "conda") {
      all.AddPackage(kConda, package.name, package.version);
    } else if (package.type == "deb" || package.type == "rpm") {
      all.AddPackage(kDistribution, package.name, package.version);
    } else if (package.type == "pypi" || package.type.empty()) {
      all.AddPackage(kPython, NormalizedName(package.name), package.version);
    }
  }
  return all.Sorted();
}

}  // namespace cudnn_ci
