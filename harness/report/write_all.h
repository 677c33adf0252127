// Writing to a descriptor with all that can happen on the way.
#ifndef CUDNN_CI_REPORT_WRITE_ALL_H_
#define CUDNN_CI_REPORT_WRITE_ALL_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace cudnn_ci {

// One write(2) when the system takes it whole; goes on after short writes and signals and waits for a
// non-blocking descriptor, at most 10 s. Errors name `what` and the reason.
Status WriteAll(int fd, std::string_view bytes, const std::string& what);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_WRITE_ALL_H_
