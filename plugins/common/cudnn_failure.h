// What cuDNN did not answer with success, as an exception.
#ifndef CUDNN_CI_PLUGINS_COMMON_CUDNN_FAILURE_H_
#define CUDNN_CI_PLUGINS_COMMON_CUDNN_FAILURE_H_

#include <stdexcept>
#include <string>

namespace cudnn_ci {

// A call that cuDNN did not answer with success. what() is "cudnnX: 3000 CUDNN_STATUS_...: last error".
class CudnnFailure : public std::runtime_error {
 public:
  // `status` is what the library answered, by its number; 0 where it answered nothing.
  CudnnFailure(const std::string& text, bool unsupported, int status = 0)
      : std::runtime_error(text), unsupported_(unsupported), status_(status) {}
  // The library said that it does not offer this, as opposed to having failed.
  bool unsupported() const { return unsupported_; }
  int status() const { return status_; }

 private:
  bool unsupported_;
  int status_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_CUDNN_FAILURE_H_
