#include "image/contents/other_processor.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "image/contents/folder_list.h"
#include "image/contents/gpu_use.h"
#include "image/contents/python_packages.h"
#include "image/elf/elf_file.h"
#include "image/elf/read_in_parallel.h"
#include "image/loader/loader_files.h"
#include "image/packages/conda_environment.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostNamed = 4;

// Shared objects that are of one package or were built together.
struct Group {
  bool has_own = false;             // one of them is for this processor
  std::vector<std::string> others;  // those for another one
};

// "torch" of ".../site-packages/torch/lib/libc10.so". Below "nvidia" each folder is of a wheel or a release.
std::string PackageOf(const std::string& path, const std::string& folder) {
  const std::string below = path.substr(folder.size() + 1);
  const std::size_t first = below.find('/');
  if (first == std::string::npos || below.compare(0, first, "nvidia") != 0) return below.substr(0, first);
  return below.substr(0, below.find('/', first + 1));
}

class Look {
 public:
  // `cuda` must outlive this.
  explicit Look(const CudaLibraries& cuda) : cuda_(cuda) {}
  // `packages`: what lies below the folder are packages of Python, each a group.
  void AddBelow(const std::string& folder, bool packages) {
    for (std::string& path : LibrariesBelow(folder)) {
      std::string group = packages ? PackageOf(path, folder) : "";
      files_.push_back({std::move(path), std::move(group)});
    }
  }
  void Add(std::string path) { files_.push_back({std::move(path), ""}); }

  std::string Describe() {
    ReadInParallel(files_.size(), [this](std::size_t i) {
      const ElfFile elf(files_[i].path);
      files_[i].own = elf.kind() == ElfFile::Kind::kNative;
      files_[i].machine = elf.OtherMachine();
    });
    std::map<std::string, Group> groups;
    for (const File& file : files_) {
      Group& group = groups[file.group];
      group.has_own = group.has_own || file.own;
      if (!file.machine.empty()) group.others.push_back(file.path), machine_of_[file.path] = file.machine;
    }
    std::vector<std::string> found;
    for (const auto& [name, group] : groups)
      if (!group.has_own)
        for (const std::string& path : group.others)
          if (IsForGpus(path)) found.push_back(path);
    return found.empty() ? "" : InWords(found);
  }

 private:
  struct File {
    std::string path, group;
    bool own = false;
    std::string machine = {};  // ElfFile::OtherMachine
  };

  bool IsForGpus(const std::string& path) const {
    return cuda_.Has(path.substr(path.rfind('/') + 1)) || HoldsDeviceCode(path);
  }

  std::string InWords(std::vector<std::string> found) const {
    std::sort(found.begin(), found.end());
    const std::size_t count = found.size();
    const std::string machine = machine_of_.at(found.front());
    found.resize(std::min(count, kMostNamed));
    return "built for " + machine + ", and this is " + ThisMachine() + ": " + Join(found, ", ") +
           (count > found.size() ? " and " + std::to_string(count - found.size()) + " more" : "");
  }

  const CudaLibraries& cuda_;
  std::vector<File> files_;
  std::map<std::string, std::string> machine_of_;
};

void AddPython(const std::string& interpreter, const Variables& environment, Look* look) {
  FolderReader reader;
  const PythonPackages python = FindPythonPackages(interpreter, environment, &reader);
  for (const std::string& folder : python.folders) look->AddBelow(folder, true);
  if (IsCondaEnvironment(python.prefix)) look->AddBelow(python.prefix + "/lib", false);
}

void AddLoaders(const Variables& environment, const CudaLibraries& cuda, Look* look) {
  const auto is_cudas = [&](const std::string& name) { return cuda.Has(name); };
  for (const std::string& path : LoaderCachePaths(is_cudas)) look->Add(path);
  FolderReader reader;
  for (const std::string& folder : SplitLibraryPath(ValueOf(environment, "LD_LIBRARY_PATH")))
    for (const std::string& name : reader.Names(folder))
      if (is_cudas(name)) look->Add(folder + "/" + name);
}

}  // namespace

std::string DescribeOtherProcessor(const SubjectInfo& subject, const Variables& environment,
                                   const CudaLibraries& cuda) {
  constexpr char kPython[] = "python:";
  Look look(cuda);
  if (subject.spec.starts_with(kPython))
    AddPython(subject.spec.substr(sizeof kPython - 1), environment, &look);
  else if (subject.spec.starts_with("path:"))
    for (const std::string& folder : subject.folders) look.AddBelow(folder, false);
  else if (subject.spec == "loader")
    AddLoaders(environment, cuda, &look);
  return look.Describe();
}

}  // namespace cudnn_ci
