// What puts a missing library right: made from the packages on record and from what they require.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_

#include <string>
#include <vector>

#include "common/install_line.h"
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

  // What is missing.
  struct Wanted {
    std::string library;
    std::string asker = {};               // the file that needs it; empty: a package asks, not a file
    const DynamicTable* table = nullptr;  // the asker's
    bool other_major = false;             // a file of another major is there
    int cuda_major = 0;                   // of who asks; 0: not known
  };
  // The package that brings it.
  SymbolRemedy ForMissing(const Wanted& wanted);
  // The release that a package on record requires of a library of which `file`, which the loader takes, lacks
  // symbols; nothing where none does, or where that release is the file's.
  SymbolRemedy ForOtherRelease(const Wanted& wanted, const std::string& file);
  PythonRequirements& requirements() { return requirements_; }

 private:
  // The CUDA major for which something is missing, as far as the library's number does not exclude it; 0:
  // nothing tells it.
  int MajorFor(const Wanted& wanted, const GpuLibrary& known);
  // That of the package that brought the asker: by its name, "cupy-cuda12x", by what it requires, and by what
  // its other files need.
  int MajorOfPackage(const Package& owner);
  // Conda's package that brings it; nothing where none is known.
  SymbolRemedy ForConda(const std::string& library, const GpuLibrary& known) const;
  // The package that brings it; empty: not known, or several may.
  std::string PackageBy(const Wanted& wanted, const GpuLibrary& known);
  // The CUDA majors of the packages of this library that are on record.
  std::vector<int> MajorsOnRecord(const GpuLibrary& library) const;
  // "8.*" for libcudnn.so.8; empty: all releases have this number, or it tells none.
  std::string VersionByNumber(const std::string& library, const GpuLibrary& known) const;
  // A wheel for the Python whose packages these are.
  InstalledPackage OfPip(const std::string& package, const std::string& version) const;
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
