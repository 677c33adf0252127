#include "image/imported_files.h"

#include "base/path.h"
#include "image/contents/image_files.h"
#include "image/loader/loaded_with.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostExtensions = 200;

}  // namespace

bool ImportedFiles::Imports(const std::string& package, const std::string& other) {
  return imports_.Of(package).packages.count(other) > 0;
}

std::string ImportedFiles::PackageOf(const std::string& path) const {
  for (const std::string& folder : folders_)
    if (path.starts_with(folder + "/")) {
      const std::string below = path.substr(folder.size() + 1);
      return below.substr(0, below.find_first_of("/."));
    }
  return "";
}

bool ImportedFiles::MayLoad(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.find(".cpython-") != std::string::npos || name.find(".abi3.so") != std::string::npos) return true;
  const std::string package = PackageOf(path);
  return package.empty() || openers_.Of(package, path) != Opening::kNone;
}

bool ImportedFiles::Loads(const std::string& path) {
  for (const std::string& folder : folders_) {
    if (path.compare(0, folder.size() + 1, folder + "/") != 0) continue;
    const std::string below = path.substr(folder.size() + 1),
                      package = below.substr(0, below.find_first_of("/."));
    const auto [at, fresh] = loaded_.try_emplace(package);
    if (fresh) {
      std::size_t left = kMostExtensions;
      for (const std::string& extension : imports_.Of(package).extensions) {
        // What other packages load is theirs.
        if (extension.compare(0, folder.size() + package.size() + 1, folder + "/" + package) != 0) continue;
        if (left-- == 0) break;
        for (const std::string& file : LoadedWith(extension, library_path_, nullptr))
          at->second.insert(RealPath(file));
      }
    }
    return at->second.count(RealPath(path)) > 0 || openers_.Of(package, path) == Opening::kSurely;
  }
  return true;
}

}  // namespace cudnn_ci
