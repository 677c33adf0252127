// What packages need to compile device code at run time: rows of knowledge/compilers.json. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_NEEDS_H_
#define CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_NEEDS_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "common/promise.h"
#include "image/contents/image_files.h"
#include "image/jit_tools_look.h"

namespace cudnn_ci {

// Something that compiles, by the name that a matrix requires it with.
struct JitFeature {
  std::string name;     // "triton", "torch.compile"
  std::string package;  // that has it: "triton 3.6.0"
  std::string version;  // of the package, three numbers at most; empty: not known
  // Everybody who uses the package needs it; else it is one of the things that the package can do.
  bool ordinary = false;
  std::string why;  // it is ordinary: who uses it, "vllm 0.11.0"; or empty
};

// A feature and a package that has it.
struct JitFeatureRow {
  std::string feature;
  std::string package;  // a pattern (base/package_names.h)
  bool ordinary;        // for who uses the package
  // The package comes with this one: where it is not installed, or where `serves` is required, the feature is
  // ordinary. Empty: it is installed for its own sake.
  std::string part_of, serves;
  bool only_if_required;
};

// A package that needs a feature in ordinary use.
struct JitUser {
  std::string feature, package;
};

struct JitNeed {
  std::string feature;
  std::string versions;  // of the package that need it, "<3.6"; empty: all
  JitTool tool;
  bool always;           // without it nothing of the feature works; false: a part of it does
  std::string used_for;  // in words, behind "for"
  std::string source;
};

struct JitRules {
  std::vector<JitFeatureRow> features;
  std::vector<JitUser> users;
  std::vector<JitNeed> needs;
};

// The rows, in their order.
JitRules ReadJitRules(const TableEntry& entry);

// Those of the installed packages, in the order of the rows. `required`: names that the matrix requires,
// which are ordinary then; some are looked at only then.
std::vector<JitFeature> JitFeaturesOf(const JitRules& rules, const ImageFiles& image,
                                      const std::vector<std::string>& required);

// What a feature needs, in the order of the rows.
std::vector<JitNeed> NeedsOf(const JitRules& rules, const JitFeature& feature, const Satisfies& satisfies);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_NEEDS_H_
