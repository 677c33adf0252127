#include "image/packages/installed_packages.h"

#include <utility>

#include "base/path.h"
#include "image/packages/conda_environment.h"
#include "image/packages/conda_metadata.h"
#include "image/packages/dpkg_records.h"
#include "image/packages/python_metadata.h"
#include "image/packages/record_conflicts.h"
#include "image/packages/record_text.h"

namespace cudnn_ci {
namespace {

// Five times what the largest environments have; each costs a walk over its path.
constexpr std::size_t kMostOwned = 100000;

}  // namespace

bool HoldsCode(const std::string& name) {
  for (const char* ending : {".a", ".cubin", ".fatbin", ".ptx"})
    if (name.ends_with(ending)) return true;
  const std::size_t at = name.find(".so");
  return at != std::string::npos && (at + 3 == name.size() || name[at + 3] == '.');
}

void InstalledPackages::Own(const RecordedFile& file, std::size_t package) {
  if (!HoldsCode(file.path.substr(file.path.rfind('/') + 1)) || owners_.size() > kMostOwned) return;
  if (owners_.size() == kMostOwned)
    problems_.push_back("the records name more than " + std::to_string(kMostOwned) +
                        " files with code; the packages of the others are unknown");
  const std::string path = RealPath(file.path);
  const auto [known, fresh] = owners_.emplace(path, Owner{package, file.hash, file.size});
  Owner& owner = known->second;
  if (fresh || file.hash == owner.hash || !IsAsRecorded(path, file, &may_hash_)) return;
  owner = {package, file.hash, file.size};
}

void InstalledPackages::AddPython(const std::string& folder) {
  for (Package& package : PythonPackagesIn(folder)) {
    if (packages_.size() >= kMostPackages)
      return problems_.push_back(folder + " has more packages than are read");
    const std::size_t index = packages_.size();
    packages_.push_back(std::move(package));
    if (recorded_ >= kMostRecordedBytes) {
      problems_.push_back(packages_[index].records + "/RECORD: not read, the records are too large");
      continue;
    }
    const Result<std::size_t> bytes =
        ForEachRecordOf(packages_[index], [&](const RecordedFile& file) { Own(file, index); });
    if (!bytes) problems_.push_back(bytes.error());
    if (bytes) recorded_ += *bytes;
  }
}

void InstalledPackages::AddConda(const std::string& prefix) {
  for (const Package& named : CondaPackagesIn(prefix)) {
    const std::size_t index = packages_.size();
    if (index >= kMostPackages) return problems_.push_back(prefix + " has more packages than are read");
    std::vector<std::string> files;
    Result<Package> package =
        ReadCondaPackage(prefix, named.records, [&](const std::string& file) { files.push_back(file); });
    if (!package) {
      problems_.push_back(package.error());
      continue;
    }
    packages_.push_back(std::move(*package));
    for (const std::string& file : files) Own({file, "", 0}, index);
  }
}

void InstalledPackages::AddDpkg(const std::vector<std::string>& files, const std::string& root) {
  for (DpkgOwner& owner : DpkgOwnersOf(files, root)) {
    if (packages_.size() >= kMostPackages) return;
    for (std::string& file : owner.files) owners_.emplace(std::move(file), Owner{packages_.size(), "", 0});
    packages_.push_back(std::move(owner.package));
  }
}

const Package* InstalledPackages::OwnerOf(const std::string& file) const {
  const auto found = owners_.find(RealPath(file));
  return found == owners_.end() ? nullptr : &packages_[found->second.package];
}

const Package* InstalledPackages::Python(const std::string& name) const {
  for (const Package& package : packages_)
    if (package.manager == PackageManager::kPython && package.name == name) return &package;
  return nullptr;
}

}  // namespace cudnn_ci
