#include "compute/case_failure.h"

namespace cudnn_ci {

void FailOnDevice(Context& ctx, const ComputeFindings& findings, const std::string& before,
                  const std::exception& error, const std::string& behind) {
  ctx.Poison(error.what());
  ctx.Finding(findings.failed, before + error.what() + behind);
  ctx.Stop();
}

bool ReportFailure(Context& ctx, const ComputeFindings& findings, const DeviceSession& session,
                   const std::string& before, const CudnnFailure& failure, const std::string& behind) {
  std::string what = before + session.LibraryText() + " answered " + failure.what();
  const CUresult left = session.driver().CtxSynchronize();
  if (left != CUDA_SUCCESS) {
    const std::string error = "cuCtxSynchronize: " + session.driver().Describe(left);
    ctx.Poison(error);
    what += "; then " + error;
  }
  ctx.Finding(findings.failed, what + behind);
  return left != CUDA_SUCCESS;
}

}  // namespace cudnn_ci
