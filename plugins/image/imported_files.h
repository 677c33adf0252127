// Which shared objects the imports of an environment load in any case. Runs no Python and loads nothing.
#ifndef CUDNN_CI_PLUGINS_IMAGE_IMPORTED_FILES_H_
#define CUDNN_CI_PLUGINS_IMAGE_IMPORTED_FILES_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "image/symbols/symbols_imports.h"
#include "image/symbols/symbols_openers.h"

namespace cudnn_ci {

// Packages are read when they are first asked for. One thread at a time.
class ImportedFiles {
 public:
  // `folders`: sys.path. `library_path`: LD_LIBRARY_PATH as the image's user has it. `rules` must outlive
  // this.
  ImportedFiles(const std::vector<std::string>& folders, std::string library_path, const SymbolRules* rules)
      : folders_(folders),
        library_path_(std::move(library_path)),
        imports_(folders),
        openers_(folders, &imports_, rules) {}

  // True if the import of the package in whose folder the file lies loads it by an import statement, or by an
  // opener, that Python executes whatever happens, or if an extension module that is loaded so needs it. True
  // of files that lie in no package: who loads them is not known.
  bool Loads(const std::string& path);
  // True of extension modules, of what a source of the package names and one may open, and of what an
  // extension module that is loaded in any case needs.
  bool MayLoad(const std::string& path);
  // True if the import of a package imports another one in any case; both by their first names.
  bool Imports(const std::string& package, const std::string& other);
  // The first name below the folder of packages, "torch"; empty: the file lies in no such folder.
  std::string PackageOf(const std::string& path) const;

 private:
  std::vector<std::string> folders_;
  std::string library_path_;
  PythonImports imports_;
  PackageOpeners openers_;
  std::map<std::string, std::set<std::string>> loaded_;  // real paths, by package
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_IMPORTED_FILES_H_
