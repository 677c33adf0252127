// What puts a missing library right: made from the packages on record and from what they require.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_

#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/elf/dynamic_table.h"
#include "image/packages/python_requirements.h"
#include "image/symbols/symbols_rules.h"
#include "image/symbols/symbols_variants.h"

namespace cudnn_ci {

struct SymbolRemedy {
  std::string
      words;  // "package nvidia-cudnn-cu12 8.9.2.26 brings it, which torch 2.3.0 requires"; may be empty
  std::string line;  // a line of a Dockerfile; empty: none is certain
};

// Of one subject. One thread at a time.
class SymbolRemedies {
 public:
  // All of these must outlive this. `torch`: what PyTorch of the subject was built with.
  SymbolRemedies(const ImageFiles* image, const SymbolRules* rules, BuiltWith torch)
      : image_(image), rules_(rules), torch_(std::move(torch)), requirements_(&image->packages) {}

  // The package that brings a library which the file `asker` needs; empty paths and null tables: a package
  // asks, not a file. `other_major`: a file of another major is there.
  SymbolRemedy ForMissing(const std::string& library, const std::string& asker, const DynamicTable* table,
                          bool other_major);
  PythonRequirements& requirements() { return requirements_; }

 private:
  // The CUDA major of the package of this library that is on record; 0: none is, or its name has none.
  int MajorOnRecord(const GpuLibrary& library) const;
  std::string Line(const std::string& package, const std::string& version, bool again) const;

  const ImageFiles* image_;
  const SymbolRules* rules_;
  BuiltWith torch_;
  PythonRequirements requirements_;
};

// The line of a Dockerfile that shows the loader these folders; empty: one of them would have to be quoted.
std::string LineForFolders(const std::vector<std::string>& folders);

// What torch/version.py of an environment says.
BuiltWith TorchOf(const std::vector<std::string>& package_folders);
// The same of any package's version.py.
BuiltWith ReadBuiltWith(const std::string& version_py);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_
