#include "image/contents/toolkits.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "image/contents/folder_list.h"
#include "image/contents/python_packages.h"
#include "image/loader/loader_files.h"
#include "image/packages/conda_environment.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostEnvironments = 100;

// "13.0.2" of a toolkit's version.json: {"cuda": {"name": "CUDA SDK", "version": "13.0.2"}, ...}; empty where
// it has none.
std::string VersionFile(const std::string& folder) {
  const nlohmann::json file = nlohmann::json::parse(ReadSmallFile(folder + "/version.json"), nullptr, false);
  const auto member = [](const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);  // end() if it is not an object
    return found == object.end() ? nlohmann::json() : *found;
  };
  const nlohmann::json version = member(member(file, "cuda"), "version");
  return version.is_string() ? version.get<std::string>() : "";
}

class Search {
 public:
  // A folder that may be a toolkit's: with its libraries in lib64, lib or targets/*/lib.
  void LookAtToolkit(const std::string& folder) {
    // /usr/local/cuda is a link to one of its neighbours.
    if (!folders_.insert(RealPath(folder)).second) return;
    FoundToolkit toolkit{VersionFile(folder), folder, "toolkit", {}, {}};
    std::vector<std::string> places = {folder + "/lib64", folder + "/lib"};
    for (const std::string& target : reader_.Names(folder + "/targets"))
      places.push_back(folder + "/targets/" + target + "/lib");
    for (const std::string& place : places) {
      const std::string version = RuntimeIn(place), real = RealPath(place);
      if (version.empty() || !known_.insert(real).second) continue;
      if (toolkit.version.empty()) toolkit.version = version;
      toolkit.libraries.push_back(real);
    }
    if (!toolkit.version.empty()) found_.push_back(std::move(toolkit));
  }

  // A folder of libraries with perhaps a CUDA runtime among them.
  void LookAtLibraries(const std::string& folder, const std::string& origin, std::string version = {}) {
    const std::string of_library = RuntimeIn(folder), real = RealPath(folder);
    if (of_library.empty() || !known_.insert(real).second) return;
    if (version.empty()) version = of_library;
    found_.push_back({version, folder, origin, {real}, {}});
  }

  void LookAtEnvironment(const PythonEnvironment& environment, const Variables& variables) {
    for (const std::string& folder :
         FindPythonPackages(environment.interpreter, variables, &reader_).folders) {
      for (const std::string& package : reader_.Names(folder + "/nvidia")) {
        const std::string place = folder + "/nvidia/" + package + "/lib";
        const auto [name, version] = PackageOfRuntime(folder, RuntimeIn(place));
        LookAtLibraries(place, "Python package" + (name.empty() ? "" : " " + name + " " + version), version);
      }
    }
    if (IsCondaEnvironment(environment.prefix))
      LookAtLibraries(environment.prefix + "/lib", "conda environment");
  }

  std::vector<std::string> Names(const std::string& folder) { return reader_.Names(folder); }
  std::vector<FoundToolkit> Take() { return std::move(found_); }

 private:
  // "13.0.96" of libcudart.so.13.0.96, "12" where a wheel has libcudart.so.12 alone; empty: there is none.
  std::string RuntimeIn(const std::string& folder) {
    const std::string stem = "libcudart.so.";
    std::string version;
    for (const std::string& name : reader_.Names(folder))
      if (name.starts_with(stem) && name.size() - stem.size() > version.size())
        version = name.substr(stem.size());
    return version;
  }

  // The wheel that brought a runtime of this version, by its metadata: CUDA 12's is called after its major,
  // later ones are not.
  std::pair<std::string, std::string> PackageOfRuntime(const std::string& packages,
                                                       const std::string& runtime) {
    const std::string major = runtime.substr(0, runtime.find('.'));
    if (major.empty()) return {};
    for (const std::string& entry : reader_.Names(packages)) {
      if (!NormalizedName(entry).starts_with("nvidia-cuda-runtime")) continue;
      const auto package = PythonPackageOf(packages, entry);
      if (package && package->version.starts_with(major + ".")) return {package->name, package->version};
    }
    return {};
  }

  FolderReader reader_;
  std::set<std::string> folders_, known_;  // links followed
  std::vector<FoundToolkit> found_;
};

}  // namespace

std::vector<FoundToolkit> FindToolkits(const std::vector<PythonEnvironment>& environments,
                                       const Variables& variables, const std::string& root) {
  Search search;
  for (const char* place : {"/usr/local", "/opt"}) {
    std::vector<std::string> names = search.Names(root + place);
    // The name with a version says most.
    std::reverse(names.begin(), names.end());
    for (const std::string& name : names)
      if (name.starts_with("cuda")) search.LookAtToolkit(root + place + "/" + name);
  }
  for (const std::string& folder : DefaultLibraryDirectories())
    search.LookAtLibraries(root + folder, "system");
  for (size_t i = 0; i < environments.size() && i < kMostEnvironments; ++i)
    search.LookAtEnvironment(environments[i], variables);
  return search.Take();
}

}  // namespace cudnn_ci
