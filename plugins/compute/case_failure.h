// A case whose run failed, as its finding. Tells nothing of refusals.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_CASE_FAILURE_H_
#define CUDNN_CI_PLUGINS_COMPUTE_CASE_FAILURE_H_

#include <cudnn_ci/check.hpp>

#include <exception>
#include <string>

#include "common/cudnn_failure.h"
#include "common/device_session.h"
#include "compute/compute_findings.h"

namespace cudnn_ci {

// The driver's answer names no kernel; `before` names what ran, and `behind` ends the finding. The context
// may be unusable: the process is done.
[[noreturn]] void FailOnDevice(Context& ctx, const ComputeFindings& findings, const std::string& before,
                               const std::exception& error, const std::string& behind);

// The library's answer, and the driver's if it has one. True if the context is of no use any more.
bool ReportFailure(Context& ctx, const ComputeFindings& findings, const DeviceSession& session,
                   const std::string& before, const CudnnFailure& failure, const std::string& behind);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_CASE_FAILURE_H_
