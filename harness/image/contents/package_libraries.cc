#include "image/contents/package_libraries.h"

#include <string>
#include <vector>

#include "base/path.h"
#include "image/elf/elf_file.h"
#include "image/packages/conda_environment.h"

namespace cudnn_ci {
namespace {

// Where the frameworks that are installed say that their libraries lie.
struct RunPaths {
  std::vector<std::string> folders;
  bool behind = false;  // one of them is searched for behind LD_LIBRARY_PATH
};

// The file of the first folder of packages that has it, which is the one that is imported.
std::string FindPackageFile(const PythonPackages& python, const std::vector<std::string>& names) {
  for (const std::string& folder : python.folders)
    for (const std::string& name : names)
      if (Exists(folder + "/" + name)) return folder + "/" + name;
  return "";
}

RunPaths RunPathsOfFrameworks(const PythonPackages& python, const PackageNames& names) {
  RunPaths result;
  for (const FrameworkFiles& framework : names.framework_files) {
    const ElfFile library(FindPackageFile(python, framework.run_path_of));
    const std::vector<std::string> folders = library.RunPath();
    result.behind = result.behind || (!folders.empty() && !library.RunPathIsFirst());
    result.folders.insert(result.folders.end(), folders.begin(), folders.end());
  }
  return result;
}

}  // namespace

LibraryFolders FindPackageLibraries(const PythonPackages& python, const PackageNames& names,
                                    FolderReader* reader) {
  FolderList found;
  const RunPaths frameworks = RunPathsOfFrameworks(python, names);
  found.Add(frameworks.folders, reader);
  for (const std::string& folder : python.folders) {
    for (const std::string& package : reader->Names(folder + "/nvidia"))
      found.Add(folder + "/nvidia/" + package + "/lib", reader);
    found.Add(folder + "/torch/lib", reader);
  }
  // An interpreter's DT_RPATH is searched for whatever has no run path.
  const ElfFile interpreter(python.executable);
  const bool interpreter_first = interpreter.RunPathIsFirst() && !frameworks.behind;
  FolderList last;
  FolderList* own = interpreter_first ? &found : &last;
  own->Add(interpreter.RunPath(), reader);
  if (IsCondaEnvironment(python.prefix)) own->Add(python.prefix + "/lib", reader);
  LibraryFolders folders;
  (frameworks.behind ? folders.behind : folders.before) = found.folders();
  for (const std::string& folder : last.folders()) folders.behind.push_back(folder);
  return folders;
}

}  // namespace cudnn_ci
