// What the matrix says of the image's toolkit, in the three forms the checks ask for. Knows no
// library.
#ifndef CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_
#define CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_

#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

struct ToolkitContract {
  bool absent = false;  // the image promises to carry no toolkit
  std::string range;    // else what it promises
};

// Ends the check as skipped when the matrix promises nothing: what is not promised is not gated.
inline ToolkitContract RequireToolkitContract(Context& ctx) {
  ToolkitContract contract;
  contract.range = ctx.Contract("image.toolkit");
  if (contract.range.empty()) {
    ctx.Skip(CCI_SKIP_ABSENT, "image.toolkit in the matrix", "the matrix promises nothing of the toolkit");
  }
  contract.absent = contract.range == "absent";
  return contract;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_TOOLKIT_CONTRACT_H_
