// Something empty to read from and to write into, where a program expects a file.
#ifndef CUDNN_CI_BASE_NULL_DEVICE_H_
#define CUDNN_CI_BASE_NULL_DEVICE_H_

#include "base/fd.h"

namespace cudnn_ci {

// /dev/null, close-on-exec; in a root filesystem without it an empty file in memory. Invalid, with errno set,
// only when there is no descriptor left.
Fd OpenNullDevice();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_NULL_DEVICE_H_
