// What the matrix promises of cuDNN, in its three forms: a version, none, or nothing.
#ifndef CUDNN_CI_PLUGINS_CUDNN_CONTRACT_H_
#define CUDNN_CI_PLUGINS_CUDNN_CONTRACT_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "common/cudnn_api.h"

namespace cudnn_ci {

struct CudnnContract {
  bool absent = false;      // the image promises to carry no cuDNN
  Promise promise;          // else which version it promises
  std::vector<int> majors;  // in which order to look for one (CudnnMajors)

  // Ends the check as skipped: what is neither promised nor there is not gated.
  void SkipUnlessPromised(Context& ctx, bool found) const {
    if (!found && promise.range.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "cuDNN, or image.cudnn in the matrix", "neither");
  }
};

// Valid as long as `ctx`.
inline CudnnContract ReadCudnnContract(const Context& ctx) {
  CudnnContract contract;
  contract.absent = ctx.Contract("image.cudnn") == "absent";
  contract.promise = PromiseOf(ctx, "image.cudnn");
  contract.majors = CudnnMajors(contract.promise, ctx.SubjectFolders());
  return contract;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_CONTRACT_H_
