// What puts a missing library right: made from the packages on record and from what they require.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_

#include <optional>
#include <string>
#include <vector>

#include "common/install_line.h"
#include "image/contents/image_files.h"
#include "image/elf/dynamic_table.h"
#include "image/loader/loader_scope.h"
#include "image/packages/python_requirements.h"
#include "image/packages/record_conflicts.h"
#include "image/symbols/symbols_rules.h"
#include "image/symbols/symbols_variants.h"

namespace cudnn_ci {

// What has to be done, in parts that those of other faults may be joined with (symbols_merge.h).
struct SymbolCure {
  std::string pip;  // behind "pip install ": "--no-deps 'nvidia-cudnn-cu12==8.*'"; may be empty
  std::vector<std::string> links;    // "libcudart.so.12.0 /srv/app/libcudart.so.12": of "ln -s"
  std::vector<std::string> folders;  // that the loader has to be shown
  // Ahead of those in which it looks already, as LD_LIBRARY_PATH alone does.
  bool ahead = false;
};

struct SymbolRemedy {
  std::string
      words;         // "package nvidia-cudnn-cu12 contains it, and torch 2.3.0 requires its version 8.9.2.26"
  std::string line;  // of a Dockerfile, for cure.pip or for conda; empty: none is certain
  SymbolCure cure;
};

// Of one subject. One thread at a time.
class SymbolRemedies {
 public:
  // All of these must outlive this. `torch`: what PyTorch of the subject was built with.
  SymbolRemedies(const ImageFiles* image, const SymbolRules* rules, const LoaderFiles* files, BuiltWith torch)
      : image_(image),
        rules_(rules),
        files_(files),
        torch_(std::move(torch)),
        requirements_(&image->packages) {}

  // What is missing.
  struct Wanted {
    std::string library;
    std::string asker = {};               // the file that needs it; empty: a package asks, not a file
    const DynamicTable* table = nullptr;  // the asker's
    bool other_major = false;             // a file of another major is there
    int cuda_major = 0;                   // of who asks; 0: not known
    std::string cudnn = {};               // the release that it was built for, "8.6.0"; empty: not known
    bool ahead = false;                   // the file of this name that the loader takes by now is for others
    // Where the loader and the package that asks look for it, besides the loader's own places.
    std::vector<std::string> looks_in = {};
    std::vector<std::string> same = {};  // files of the library that are there under another name
  };
  // A link where the library is there under another name; else the package that brings it, and the folder of
  // that package where neither the loader nor who asks looks there. A program that no package of Python's has
  // brought gets none of pip's.
  SymbolRemedy ForMissing(const Wanted& wanted);
  // For a library that lies in the image, in a folder for libraries of a package, where nobody looks.
  SymbolRemedy ForHidden(const std::string& file) const;
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
  // The link that gives one of wanted.same the name; empty: none is the one that is meant.
  SymbolRemedy ForOtherName(const Wanted& wanted);
  // The package whose files the one that asks has replaced, where the libraries that are there are for that;
  // empty: there is none.
  SymbolRemedy ForReplaced(const Wanted& wanted, const Package& owner);
  // The folder of Python packages into which pip installs what `asker` needs.
  std::string FolderOfPip(const std::string& asker) const;
  // Whether a library of this folder is found for what is missing.
  bool IsSeen(const std::string& folder, const Wanted& wanted);
  // What a package of pip's, just installed, leaves to do.
  void AddWhatPipLeaves(const Wanted& wanted, const GpuLibrary& known, const std::string& package,
                        const std::string& version, SymbolCure* cure);
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
  // `there`: a version of it is on record; `again`: this one.
  std::string Line(const std::string& package, const std::string& version, bool there, bool again) const;

  const ImageFiles* image_;
  const SymbolRules* rules_;
  const LoaderFiles* files_;
  BuiltWith torch_;
  PythonRequirements requirements_;
  std::optional<std::vector<ReplacedFiles>> replaced_;  // read when it is first asked for
};

// The line of a Dockerfile that shows the loader these folders; empty: one of them would have to be quoted.
std::string LineForFolders(const std::vector<std::string>& folders);
// The line for all of a cure, of which `line` is that for pip or conda; empty: none is certain.
std::string LineForCure(const std::string& line, const SymbolCure& cure);
// The same in words for who types it: "; pip install nvidia-cufft-cu12; ENV LD_LIBRARY_PATH=/x".
std::string WordsForCure(const SymbolCure& cure);

// The text between the first quotes of a line.
std::string QuotedText(const std::string& line);

// What torch/version.py of an environment says.
BuiltWith TorchOf(const std::vector<std::string>& package_folders);
// The same of any package's version.py.
BuiltWith ReadBuiltWith(const std::string& version_py);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_REMEDY_H_
