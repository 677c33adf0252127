// What is wrong with the libraries of a subject, in words for the image's owner.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_FAULTS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_FAULTS_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "image/contents/image_files.h"
#include "image/loader/loader_scope.h"
#include "image/symbols/symbols_remedy.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

enum class SymbolFaultKind {
  kMissingLibrary,
  kOtherMajor,  // missing, and another major of it is there
  kDamaged,     // the loader takes the file and cannot load it
  kMissingSymbol,
  kVersionMissing,  // a version as a whole: a C or C++ library that is too old
  kOtherCxxAbi,     // the symbol is there as the other ABI of std::string mangles it
  kWrongProvider,   // the symbol is in another file of the library's name, which lost
  kTwoProviders,    // two files of one library, which can meet; nothing is missing
  kOpenedLater,     // what is opened by name, or under a condition, lacks something or is not found
  kOtherCuda,       // a package refuses to be imported beside this CUDA
  kPartMissing,     // the same without a part of its own
  kAfterImport,     // a package can only be imported behind another one
  kUndecided,
  kUnused  // nothing is known to load the file
};

struct SymbolFault {
  SymbolFaultKind kind = SymbolFaultKind::kUndecided;
  std::string detail;
  std::string asker;      // path of the file that asks; empty: a package does
  std::string library;    // what is missing of kMissingLibrary and kOtherMajor; who should answer of others
  std::string line = {};  // of a Dockerfile, that puts it right; empty: none is certain
  SymbolCure cure = {};   // what has to be done; said at the end of the detail once faults are joined
  // Of a missing library: a file of another major is there, whatever else lies where the loader does not
  // look.
  bool other_major = false;
  // Likewise: the file lies in the image, where the loader does not look.
  bool hidden = false;

  // Takes over what puts it right.
  void Add(const SymbolRemedy& remedy);
};

// The libraries of a subject by name: what could have been taken.
class LibraryIndex {
 public:
  LibraryIndex(const ImageFiles& image, LoaderFiles* files);
  // Files with this name, sorted.
  std::vector<std::string> Named(const std::string& name) const;
  // Files of the same library with another number behind ".so.", sorted; `minors`: the minor counts too.
  std::vector<std::string> OtherMajors(const std::string& name, bool minors = false) const;
  // Files whose name fits; "*" stands for any text. Sorted.
  std::vector<std::string> Matching(const std::string& pattern) const;

 private:
  std::map<std::string, std::vector<std::string>> by_stem_;
};

// Words for the faults of one subject.
class FaultWriter {
 public:
  // All of these must outlive this.
  FaultWriter(const ImageFiles* image, const LibraryIndex* index, LoaderFiles* files,
              const SymbolRules* rules, SymbolRemedies* remedies)
      : image_(image), index_(index), files_(files), rules_(rules), remedies_(remedies) {}

  // "/x/libcusparse.so.12 (nvidia-cusparse 12.6.3.3)".
  std::string File(const std::string& path) const;
  const LibraryIndex& index() const { return *index_; }
  LoaderFiles& files() const { return *files_; }
  const SymbolRules& rules() const { return *rules_; }
  SymbolRemedies& remedies() const { return *remedies_; }
  // A name of a DT_NEEDED that led nowhere. `process`: "import torch".
  SymbolFault Missing(const LoaderScope& scope, int asker, const std::string& name,
                      const std::string& process) const;
  SymbolFault Damaged(const LoaderScope& scope, int file, const std::string& process) const;
  // Where the loader and the file's package look for what it needs, besides the loader's own places.
  std::vector<std::string> FoldersOf(const LoaderScope& scope, int asker) const;
  // What is unresolved of one Open, a fault for each file that asks and each file that should answer.
  std::vector<SymbolFault> Unresolved(const LoaderScope& scope, const OpenedFile& opened,
                                      const std::vector<UnresolvedSymbol>& unresolved,
                                      const std::string& process) const;

 private:
  struct Answer {
    SymbolFaultKind kind = SymbolFaultKind::kMissingSymbol;
    int giver = -1;           // which file should have it; -1: nobody can tell
    std::string other;        // the symbol or the file that has it instead
    std::string unseen = {};  // a file of that name that has it, where the loader does not look
  };
  std::set<std::pair<dev_t, ino_t>> WouldBeTaken(const LoaderScope& scope, int asker,
                                                 const LoadedFile& giver) const;
  std::vector<std::string> UnderOtherNames(const LoaderScope& scope, int asker,
                                           const std::string& name) const;
  std::string RequestersText(const LoaderScope& scope, int asker, const std::string& process) const;
  Answer Explain(const LoaderScope& scope, const OpenedFile& opened, const UnresolvedSymbol& symbol) const;
  std::string Words(const LoaderScope& scope, const Answer& answer,
                    const std::vector<const UnresolvedSymbol*>& symbols) const;

  const ImageFiles* image_;
  const LibraryIndex* index_;
  LoaderFiles* files_;
  const SymbolRules* rules_;
  SymbolRemedies* remedies_;
};

// The part of a mangled C++ name that says which function it is: "_ZN3c106detail14torchCheckFail"; empty: no
// C++ name (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling).
std::string MangledFunction(const std::string& symbol);
// True if two mangled names of one function differ in the C++ ABI: one takes the newer std::string
// (std::__cxx11) where the other takes the older one ("Ss"), or only one has the newer ABI's tag.
bool DifferInCxxAbi(const std::string& a, const std::string& b);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_FAULTS_H_
