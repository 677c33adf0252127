// What the matrix says of the image's toolkit, in the three forms the checks ask for. Knows no
// library.
#ifndef CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_
#define CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_

#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

struct ToolkitContract {
  bool absent = false;  // the image promises to carry no toolkit
  std::string range;    // else what it promises; empty: nothing, so any version will do

  bool Kept(const Context& ctx, const std::string& version) const {
    return range.empty() || ctx.Satisfies(version, range);
  }
  // Ends the check as skipped: what is neither promised nor there is not gated.
  void SkipUnlessPromised(Context& ctx, bool found) const {
    if (!found && range.empty()) {
      ctx.Skip(CCI_SKIP_ABSENT, "a toolkit, or image.toolkit in the matrix", "neither");
    }
  }
};

inline ToolkitContract ReadToolkitContract(const Context& ctx) {
  ToolkitContract contract;
  contract.range = ctx.Contract("image.toolkit");
  contract.absent = contract.range == "absent";
  return contract;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_
