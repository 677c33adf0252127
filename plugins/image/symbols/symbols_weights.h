// How much it weighs that a file of a Python environment does not resolve: what opens a file decides whether
// it is needed.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_WEIGHTS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_WEIGHTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "image/contents/image_files.h"
#include "image/symbols/symbols_faults.h"
#include "image/symbols/symbols_imports.h"
#include "image/symbols/symbols_openers.h"
#include "image/symbols/symbols_rules.h"
#include "image/symbols/symbols_variants.h"

namespace cudnn_ci {

// What a file of a Python environment is to Python.
struct PythonFile {
  std::string path, package;  // "torch": the first name below the folder of packages
  std::string below;          // the path below that folder
  bool extension = false;     // an extension module: it has PyInit_NAME, or a name that only such have
  bool linked = false;        // with a library of a package that is imported before it, such as PyTorch
  const PackageRule* rule = nullptr;  // into whose process it belongs
};

// Takes what is wrong with each file, and says at the end what of it counts:
//   A file that an import leads to for certain, by an import statement or by an opener, counts as it is.
//   Of files that a package has once for each release of something else, one must resolve, and the one for
//   the PyTorch and the CUDA of the environment must if it is there; the others are notes.
//   A file that is opened under a condition, or perhaps, is a warning where it lacks a library for GPUs.
//   An extension module that is imported only if it can be is a note where it lacks a library, and an error
//   where it was built for another major of a library for GPUs.
//   What nothing leads to is a note.
class FaultWeights {
 public:
  // `decided`: the symbols that the interpreter gives are known. The others must outlive this.
  FaultWeights(const ImageFiles* image, const SymbolRules* rules, BuiltWith torch)
      : rules_(rules),
        torch_(std::move(torch)),
        imports_(image->folders),
        openers_(image->folders, &imports_, rules) {}

  // A file that was opened; without faults it resolves.
  void Add(const PythonFile& file, std::vector<SymbolFault> faults);
  // The same of one that resolved in another process.
  void AddSound(const PythonFile& file) { Add(file, {}); }

  // The faults of all files, each of the kind that it counts as, in the order of the files.
  std::vector<SymbolFault> Take(bool decided);

  PythonImports& imports() { return imports_; }
  PackageOpeners& openers() { return openers_; }

 private:
  struct Opened {
    PythonFile file;
    VariantName name;
    std::vector<SymbolFault> faults;
  };

  // Files that a package has once for each release of something else, by package and VariantName::key.
  using VariantSets = std::map<std::pair<std::string, std::string>, std::vector<std::size_t>>;
  void AddUnmarked(VariantSets* sets);
  // True if the import of its package loads the file by an import statement.
  bool IsImported(const PythonFile& file);
  bool ConcernsGpus(const SymbolFault& fault) const;
  void Weigh(Opened* opened, bool decided);
  void WeighSet(const std::vector<std::size_t>& set, bool decided);
  void WeighChosen(Opened* opened, Opening opening, bool decided);

  const SymbolRules* rules_;
  BuiltWith torch_;
  PythonImports imports_;
  PackageOpeners openers_;
  std::vector<Opened> opened_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_WEIGHTS_H_
