// Different files of one GPU library: which of them a process gets depends on what was opened first.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_COPIES_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_COPIES_H_

#include <map>
#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/loader/loader_scope.h"
#include "image/symbols/symbols_faults.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

// The copies that the processes of a subject have taken, of libraries for GPUs.
class LibraryCopies {
 public:
  explicit LibraryCopies(const SymbolRules* rules) : rules_(rules) {}

  // What is in a process now. `process`: "import torch".
  void Add(const LoaderScope& scope, const std::string& process);
  // A fault for each library of which two processes, or one, have files with different contents, for a
  // program that imports both packages has one of them; and for each that was taken from outside of the
  // packages while a package brings another.
  std::vector<SymbolFault> Faults(const ImageFiles& image, const FaultWriter& writer) const;

 private:
  const SymbolRules* rules_;
  std::map<std::string, std::map<std::string, std::string>> taken_;  // soname, path, first process
};

// True if both files have the same bytes; of more than 64 MiB the same size counts.
bool SameContents(const std::string& a, const std::string& b);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_COPIES_H_
