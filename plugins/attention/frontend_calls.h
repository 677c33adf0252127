// The functions of cuDNN and of the CUDA runtime that cudnn-frontend calls, which are hidden symbols of this
// plugin: they go to the subject's cuDNN and to the driver. So the frontend loads no library by itself, needs
// no CUDA runtime, and what the library answered is known by its number.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_FRONTEND_CALLS_H_
#define CUDNN_CI_PLUGINS_ATTENTION_FRONTEND_CALLS_H_

#include "common/cudnn_api.h"
#include "common/driver_api.h"

namespace cudnn_ci {

// The tables that calls of this thread go to while it lives. The one before it comes back behind it. Without
// one, every function answers that it is not supported.
class FrontendCalls {
 public:
  FrontendCalls(const CudnnApi& cudnn, const DriverApi& driver);
  ~FrontendCalls();
  FrontendCalls(const FrontendCalls&) = delete;
  FrontendCalls& operator=(const FrontendCalls&) = delete;

  // The last status of cuDNN that was no success; 0: there was none.
  int failure() const;

 private:
  const CudnnApi* const before_cudnn_;
  const DriverApi* const before_driver_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_ATTENTION_FRONTEND_CALLS_H_
