// A bounded search for cuDNN's main library.
#include "cudnn/copies.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>

#include "base/path.h"
#include "common/cudnn_api.h"
#include "common/cudnn_files.h"
#include "common/loader_path.h"
#include "cudnn/install.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// Some hundred folders are looked into on a full image; a folder of site-packages has a few hundred entries.
constexpr int kMostEntries = 50000;
constexpr std::chrono::milliseconds kMostTime{500};

class Search {
 public:
  // The entries of a folder whose name is wanted, with their paths; none where it cannot be read.
  std::vector<std::string> Children(const std::string& folder,
                                    const std::function<bool(const std::string&)>& wanted) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (--entries_ < 0 || std::chrono::steady_clock::now() > end_) {
        complete_ = false;
        break;
      }
      if (wanted(it->path().filename().string())) paths.push_back(it->path().string());
    }
    return paths;
  }

  // Takes the cuDNN of each major that lies in a folder.
  void Look(const std::string& folder, const std::string& origin) {
    for (const int major : CudnnMajors({}, {})) {
      const std::string main = folder + "/" + CudnnSoname(major);
      std::error_code ignored;
      if (!fs::exists(fs::symlink_status(main, ignored))) continue;
      // A folder that is reached by several links is one copy; what it was found by first says most.
      const std::string directory = RealPath(DirectoryOf(RealPath(main)));
      copies_.emplace(std::make_pair(directory, major),
                      CudnnCopy{directory, major, VersionOfFiles(directory, major), origin});
    }
  }

  void LookForPackages(const std::string& site_packages) {
    for (const char* package : {"/nvidia/cudnn/lib", "/nvidia/cudnn_jit/lib"}) {
      std::string names;
      for (const CudnnPackage& p : PackagesOf(site_packages + package))
        names += (names.empty() ? " " : " and ") + p.name + " " + p.version;
      Look(site_packages + package, "Python package" + names);
    }
    // PyTorch's wheels of before 2.0 brought it beside their own libraries.
    Look(site_packages + "/torch/lib", "Python package torch");
  }

  // A prefix: /usr, /usr/local, an environment.
  void LookBelow(const std::string& place) {
    std::error_code ignored;
    const bool conda = fs::exists(place + "/conda-meta", ignored);
    for (const std::string& lib : {place + "/lib", place + "/lib64"}) {
      Look(lib, conda ? "conda environment" : "system");
      for (const auto& python : Children(lib, [](const auto& n) { return n.compare(0, 6, "python") == 0; }))
        for (const char* packages : {"/site-packages", "/dist-packages"}) LookForPackages(python + packages);
    }
    if (conda)
      for (const auto& environment : Children(place + "/envs", [](const auto&) { return true; }))
        LookBelow(environment);
    for (const auto& toolkit : Children(place, [](const auto& n) { return n.compare(0, 4, "cuda") == 0; }))
      for (const char* lib : {"/lib64", "/lib"}) Look(toolkit + lib, "toolkit");
  }

  CudnnCopies Result() const {
    CudnnCopies result;
    for (const auto& [key, copy] : copies_) result.copies.push_back(copy);
    result.complete = complete_;
    return result;
  }

 private:
  int entries_ = kMostEntries;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMostTime;
  bool complete_ = true;
  std::map<std::pair<std::string, int>, CudnnCopy> copies_;
};

}  // namespace

CudnnCopies FindCudnnCopiesIn(const std::vector<std::string>& places,
                              const std::vector<std::string>& folders) {
  Search search;
  for (const std::string& place : places) search.LookBelow(place);
  for (const std::string& folder : folders) search.Look(folder, "loader path");
  return search.Result();
}

CudnnCopies FindCudnnCopies() {
  std::vector<std::string> places, folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string place = Environment(variable); !place.empty()) places.push_back(place);
  places.insert(places.end(), {"/usr/local", "/usr"});
  std::error_code error;
  for (fs::directory_iterator it("/opt", error), end; !error && it != end && places.size() < 200;
       it.increment(error))
    places.push_back(it->path().string());
  for (const std::string& file : LibrariesOf("libcudnn.so")) folders.push_back(DirectoryOf(file));
  return FindCudnnCopiesIn(places, folders);
}

std::vector<CudnnPackage> PackagesOf(const std::string& directory) {
  const fs::path package = fs::path(directory).parent_path();  // SITE-PACKAGES/nvidia/cudnn
  const std::string stem = package.filename() == "cudnn_jit" ? "nvidia_cudnn_jit_cu" : "nvidia_cudnn_cu";
  const std::string suffix = ".dist-info";
  std::vector<CudnnPackage> packages;
  std::error_code error;
  if (package.parent_path().filename() != "nvidia") return packages;
  for (fs::directory_iterator it(package.parent_path().parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const size_t dash = name.find('-');
    if (name.compare(0, stem.size(), stem) != 0 || dash == std::string::npos ||
        name.size() < dash + suffix.size() ||
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) {
      continue;
    }
    CudnnPackage found = {name.substr(0, dash),
                          name.substr(dash + 1, name.size() - suffix.size() - dash - 1)};
    std::replace(found.name.begin(), found.name.end(), '_', '-');
    packages.push_back(std::move(found));
  }
  std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return packages;
}

}  // namespace cudnn_ci
