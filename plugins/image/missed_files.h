// Which of a package's shared objects that are gone anybody misses. Images are made smaller by taking out
// what they cannot use: builds for other CUDA versions, for other makers' cards, and tests.
#ifndef CUDNN_CI_PLUGINS_IMAGE_MISSED_FILES_H_
#define CUDNN_CI_PLUGINS_IMAGE_MISSED_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/packages/record_conflicts.h"
#include "image/symbols/symbols_rules.h"
#include "image/symbols/symbols_variants.h"

namespace cudnn_ci {

struct MissedFile {
  std::string path;
  std::string asker;  // the file that needs it, or whose text names it; empty: a rule or its name says so
};

class MissedFiles {
 public:
  // Both must outlive this.
  MissedFiles(const ImageFiles& image, const SymbolRules& rules);

  // A lost file of the package is missed
  //   where a shared object of the package that is there needs it (DT_NEEDED);
  //   where a row of imports.json opens it in more than a trial;
  //   of files that the package has once for each CUDA or PyTorch, if it is the one for those of the
  //   environment and no other such file is left; where these are not known, if none of them is left;
  //   of any other file, if a source of the package, tests aside, has its name, or it is a module itself.
  // At most 3,000 sources of a package are read, and 64 MiB of them.
  std::vector<MissedFile> Of(const GoneFiles& gone) const;

 private:
  struct Remains;
  bool IsOpened(const std::string& below) const;
  // Whether one of several builds is missed; none of these: nullopt.
  std::optional<bool> IsMissedVariant(const std::string& below, const Remains& remains) const;

  const SymbolRules& rules_;
  BuiltWith torch_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_MISSED_FILES_H_
