#include "image/contents/image_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/variables.h"
#include "image/contents/python_packages.h"
#include "image/loader/loaded_with.h"
#include "image/loader/loader_files.h"
#include "image/packages/conda_environment.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// A PyTorch environment has 30,000 entries.
constexpr int kMostEntries = 400000;
constexpr int kMostDepth = 32;

// Gathers files, each once by device and inode.
class Gatherer {
 public:
  explicit Gatherer(ImageFiles* image) : image_(image) {}

  void AddFile(const std::string& path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    if (!known_.insert({status.st_dev, status.st_ino}).second) return;
    image_->files.push_back({path, static_cast<std::uint64_t>(status.st_size)});
  }

  // Every file with code below a folder. Links to folders are not followed, as an image may have them in
  // circles.
  void AddBelow(const std::string& folder) {
    std::error_code error;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
    if (error) return image_->problems.push_back(folder + " cannot be read: " + error.message());
    for (const fs::recursive_directory_iterator end; it != end; it.increment(error)) {
      if (error) return image_->problems.push_back(folder + " cannot be read completely: " + error.message());
      if (!Counted(folder)) return;
      if (it.depth() >= kMostDepth) it.disable_recursion_pending();
      if (HoldsCode(it->path().filename().string())) AddFile(it->path().string());
    }
  }

  // The same of a folder that the loader searches: not below it.
  void AddIn(const std::string& folder) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (!Counted(folder)) return;
      if (HoldsCode(it->path().filename().string())) AddFile(it->path().string());
    }
  }

 private:
  bool Counted(const std::string& folder) {
    if (--left_ > 0) return true;
    if (left_ == 0)
      image_->problems.push_back(folder +
                                 " and the folders after it: not searched, because there are more than " +
                                 std::to_string(kMostEntries) + " files");
    return false;
  }

  ImageFiles* image_;
  int left_ = kMostEntries;
  std::set<std::pair<dev_t, ino_t>> known_;
};

bool Takes(const std::string& spec, const std::string& prefix, std::string* rest) {
  if (spec.compare(0, prefix.size(), prefix) != 0) return false;
  *rest = spec.substr(prefix.size());
  return true;
}

void AddPythonFiles(const std::string& interpreter, ImageFiles* image, Gatherer* gatherer) {
  FolderReader reader;
  const PythonPackages python = FindPythonPackages(interpreter, OwnVariables(), &reader);
  image->interpreter = interpreter;
  image->prefix = python.prefix;
  image->folders = python.folders;
  if (!python.problem.empty()) image->problems.push_back(python.problem);
  if (!reader.complete())
    image->problems.push_back("the folders of " + interpreter + " are too large to be read completely");
  for (const std::string& folder : python.folders) {
    image->packages.AddPython(folder);
    gatherer->AddBelow(folder);
  }
  if (!IsCondaEnvironment(python.prefix)) return;
  image->packages.AddConda(python.prefix);
  gatherer->AddBelow(python.prefix + "/lib");
}

void AddLoaderFiles(const std::string& library_path, Gatherer* gatherer) {
  for (const std::string& folder : SplitLibraryPath(library_path)) gatherer->AddIn(folder);
  for (const std::string& path : LoaderCachePaths([](const std::string&) { return true; }))
    gatherer->AddFile(path);
  for (const std::string& folder : DefaultLibraryDirectories()) gatherer->AddIn(folder);
}

}  // namespace

std::string ImageFiles::BroughtBy(const std::string& file) const {
  const Package* owner = packages.OwnerOf(file);
  return owner ? owner->Text() : "";
}

std::string PythonTagOf(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::size_t at = folder.find("/python3.");
    if (at == std::string::npos) continue;
    const std::size_t begin = at + 9, end = folder.find_first_not_of("0123456789", begin);
    return "cpython-3" + folder.substr(begin, std::min(end, folder.size()) - begin);
  }
  return "";
}

bool IsOfAnotherPython(const std::string& name, const std::string& tag) {
  const std::size_t at = name.find(".cpython-");
  return at != std::string::npos && !tag.empty() && name.compare(at + 1, tag.size() + 1, tag + "-") != 0 &&
         name.compare(at + 1, tag.size() + 1, tag + ".") != 0;
}

ImageFiles FilesOfSubject(const std::string& spec, const std::vector<std::string>& subject_folders,
                          const std::string& library_path) {
  ImageFiles image;
  Gatherer gatherer(&image);
  std::string rest;
  if (Takes(spec, "python:", &rest)) {
    AddPythonFiles(rest, &image, &gatherer);
  } else if (Takes(spec, "program:", &rest)) {
    for (const std::string& file : LoadedWith(rest, library_path, nullptr)) gatherer.AddFile(file);
  } else if (Takes(spec, "path:", &rest)) {
    // Of a folder around another one of the list only its own files are meant.
    for (const std::string& folder : subject_folders) {
      const auto lies_in = [&](const std::string& other) { return other.starts_with(folder + "/"); };
      const bool around = std::any_of(subject_folders.begin(), subject_folders.end(), lies_in);
      around ? gatherer.AddIn(folder) : gatherer.AddBelow(folder);
    }
  } else {
    AddLoaderFiles(library_path, &gatherer);
  }
  std::sort(image.files.begin(), image.files.end(),
            [](const ImageFile& a, const ImageFile& b) { return a.path < b.path; });
  std::vector<std::string> unowned;
  for (const ImageFile& file : image.files)
    if (!image.packages.OwnerOf(file.path)) unowned.push_back(file.path);
  image.packages.AddDpkg(unowned);
  for (const std::string& problem : image.packages.problems()) image.problems.push_back(problem);
  return image;
}

}  // namespace cudnn_ci
