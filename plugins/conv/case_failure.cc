#include "conv/case_failure.h"

#include "conv/findings.h"

namespace cudnn_ci {

void FailOnDevice(Context& ctx, const std::string& before, const std::exception& error,
                  const std::string& behind) {
  ctx.Poison(error.what());
  ctx.Finding(kConvolutionFailed, before + error.what() + behind);
  ctx.Stop();
}

bool ReportFailure(Context& ctx, const Session& session, const std::string& before,
                   const CudnnFailure& failure, const std::string& behind) {
  std::string what = before + session.CudnnText() + " answered " + failure.what();
  const CUresult left = session.driver().CtxSynchronize();
  if (left != CUDA_SUCCESS) {
    const std::string error = "cuCtxSynchronize: " + session.driver().Describe(left);
    ctx.Poison(error);
    what += "; then " + error;
  }
  ctx.Finding(kConvolutionFailed, what + behind);
  return left != CUDA_SUCCESS;
}

}  // namespace cudnn_ci
