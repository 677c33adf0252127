#include "base/null_device.h"

#include <fcntl.h>

#include "base/system_calls.h"

namespace cudnn_ci {

Fd OpenNullDevice() {
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  return Fd(fd >= 0 ? fd : memfd_create("null", MFD_CLOEXEC));
}

}  // namespace cudnn_ci
