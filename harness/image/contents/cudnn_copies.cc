// A bounded search for cuDNN's main library.
#include "image/contents/cudnn_copies.h"

#include <filesystem>
#include <functional>
#include <map>

#include "base/path.h"
#include "image/contents/cudnn_files.h"
#include "image/contents/folder_list.h"
#include "image/loader/loader_files.h"
#include "image/packages/conda_environment.h"
#include "image/packages/cudnn_packages.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// Some hundred folders are looked into on a full image; a folder of site-packages has a few hundred entries.
constexpr int kMostEntries = 50000;

class Search {
 public:
  // The entries of a folder whose name is wanted, with their paths; none where it cannot be read.
  std::vector<std::string> Children(const std::string& folder,
                                    const std::function<bool(const std::string&)>& wanted) {
    std::vector<std::string> paths;
    for (const std::string& name : reader_.Names(folder))
      if (wanted(name)) paths.push_back(folder + "/" + name);
    return paths;
  }

  // Takes the cuDNN of each major that lies in a folder.
  void Look(const std::string& folder, const std::string& origin) {
    for (const int major : kCudnnMajors) {
      const std::string main = folder + "/" + CudnnSoname(major);
      if (!Exists(main)) continue;
      // A folder that is reached by several links is one copy; what it was found by first says most.
      const std::string directory = RealPath(DirectoryOf(RealPath(main)));
      copies_.emplace(std::make_pair(directory, major),
                      CudnnCopy{directory, major, VersionOfFiles(directory, major), origin});
    }
  }

  void LookForPackages(const std::string& site_packages) {
    for (const char* package : {"/nvidia/cudnn/lib", "/nvidia/cudnn_jit/lib"}) {
      std::string names;
      for (const Package& p : CudnnWheelsOf(site_packages + package))
        names += (names.empty() ? " " : " and ") + p.name + " " + p.version;
      Look(site_packages + package, "Python package" + names);
    }
    // PyTorch's wheels of before 2.0 brought it beside their own libraries.
    Look(site_packages + "/torch/lib", "Python package torch");
  }

  // A prefix: /usr, /usr/local, an environment.
  void LookBelow(const std::string& place) {
    const bool conda = IsCondaEnvironment(place);
    for (const std::string& lib : {place + "/lib", place + "/lib64"}) {
      Look(lib, conda ? "conda environment" : "system");
      for (const auto& python : Children(lib, [](const auto& n) { return n.starts_with("python"); }))
        for (const char* packages : {"/site-packages", "/dist-packages"}) LookForPackages(python + packages);
    }
    if (conda)
      for (const auto& environment : Children(place + "/envs", [](const auto&) { return true; }))
        LookBelow(environment);
    for (const auto& toolkit : Children(place, [](const auto& n) { return n.starts_with("cuda"); }))
      for (const char* lib : {"/lib64", "/lib"}) Look(toolkit + lib, "toolkit");
  }

  CudnnCopies Result() const {
    CudnnCopies result;
    for (const auto& [key, copy] : copies_) result.copies.push_back(copy);
    result.complete = reader_.complete();
    return result;
  }

 private:
  FolderReader reader_{kMostEntries};
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

CudnnCopies FindCudnnCopies(const Variables& environment) {
  std::vector<std::string> places, folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string place = ValueOf(environment, variable); !place.empty()) places.push_back(place);
  places.insert(places.end(), {"/usr/local", "/usr"});
  std::error_code error;
  for (fs::directory_iterator it("/opt", error), end; !error && it != end && places.size() < 200;
       it.increment(error))
    places.push_back(it->path().string());
  for (const std::string& file : LibrariesOf("libcudnn.so", ValueOf(environment, "LD_LIBRARY_PATH")))
    folders.push_back(DirectoryOf(file));
  return FindCudnnCopiesIn(places, folders);
}

}  // namespace cudnn_ci
