// What the matrix says of the image's toolkit, in the three forms the checks ask for. Knows no
// library.
#ifndef CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_
#define CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "common/promise.h"

namespace cudnn_ci {

// The contract of a subject that was found, and not named, has it if the subject brings no NVRTC and nothing
// in it asks for one: image.toolkit promises none then.
inline constexpr char kWithoutNvrtc[] = "image.toolkit.without_nvrtc";

struct ToolkitContract {
  bool absent = false;  // the image promises to carry no toolkit
  Promise promise;      // else which version it promises

  // Ends the check as skipped: what is neither promised nor there is not gated.
  void SkipUnlessPromised(Context& ctx, bool found) const {
    if (!found && promise.range.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "a toolkit, or image.toolkit in the matrix", "neither");
  }
};

// Valid as long as `ctx`.
inline ToolkitContract ReadToolkitContract(const Context& ctx) {
  return {ctx.Contract("image.toolkit") == "absent", PromiseOf(ctx, "image.toolkit")};
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_
