// What packages need to compile device code at run time, as data. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_NEEDS_H_
#define CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_NEEDS_H_

#include <string>
#include <vector>

#include "common/promise.h"
#include "image/image_files.h"
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

// Those of the installed packages, in the order of the table. `required`: names that the matrix requires,
// which are ordinary then; some are looked at only then.
std::vector<JitFeature> JitFeaturesOf(const ImageFiles& image, const std::vector<std::string>& required);

// One row of the table.
struct JitNeed {
  const char* feature;
  const char* versions;  // of the package that need it, "<3.6"; empty: all
  JitTool tool;
  bool always;           // without it nothing of the feature works; false: a part of it does
  const char* used_for;  // in words, behind "for"
  const char* source;
};

// What a feature needs, in the table's order.
std::vector<JitNeed> NeedsOf(const JitFeature& feature, const Satisfies& satisfies);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_NEEDS_H_
