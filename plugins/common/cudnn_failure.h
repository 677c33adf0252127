// An error that a call of cuDNN returned, as an exception.
#ifndef CUDNN_CI_PLUGINS_COMMON_CUDNN_FAILURE_H_
#define CUDNN_CI_PLUGINS_COMMON_CUDNN_FAILURE_H_

#include <stdexcept>
#include <string>

#include "common/refusal_cause.h"

namespace cudnn_ci {

// A call that cuDNN did not answer with success. what() is "cudnnX: 3000 CUDNN_STATUS_...: last error".
class CudnnFailure : public std::runtime_error {
 public:
  // `status` is what the library answered, by its number; 0 where it answered nothing. `cause` is what that
  // says (CauseOf), or what is known without asking.
  CudnnFailure(const std::string& text, bool unsupported, int status = 0,
               RefusalCause cause = RefusalCause::kNotSaid)
      : std::runtime_error(text), unsupported_(unsupported), status_(status), cause_(cause) {}
  // The library said that it does not offer this, as opposed to having failed.
  bool unsupported() const { return unsupported_; }
  int status() const { return status_; }
  RefusalCause cause() const { return cause_; }

 private:
  bool unsupported_;
  int status_;
  RefusalCause cause_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_CUDNN_FAILURE_H_
