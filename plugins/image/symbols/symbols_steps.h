// What the steps of a package open, by files alone: which files they mean, and what the package was built
// for.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_STEPS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_STEPS_H_

#include <string>
#include <vector>

#include "image/loader/loader_scope.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

// What the package of a rule was built for, as far as it is known.
struct BuiltFor {
  int cuda_major = 0;      // 0: not known
  std::string cudnn = {};  // a release, "8.6.0"; empty: not known
  // The package's own file of versions says it: what it opens has to be of these, whatever has the name.
  bool said = false;
};

// By the package's own file of versions, else by what its library for CUDA needs.
BuiltFor BuiltForOf(const PackageRule& rule, const SymbolRules& rules,
                    const std::vector<std::string>& package_folders, LoaderFiles* files);

// The names in a folder that a pattern matches, sorted.
std::vector<std::string> NamesLike(const std::string& folder, const std::string& pattern);

// The files of a folder tree that a step's folders and name mean, in order: of each folder of packages, of
// each of the step's folders, by name.
std::vector<std::string> FilesOfStep(const OpenStep& step, int cuda_major,
                                     const std::vector<std::string>& package_folders);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_STEPS_H_
