// What is left of the host's memory. Knows no check.
#ifndef CUDNN_CI_PLUGINS_COMMON_HOST_MEMORY_H_
#define CUDNN_CI_PLUGINS_COMMON_HOST_MEMORY_H_

#include <optional>
#include <string>

namespace cudnn_ci {

// Bytes of host memory that can be used without swapping, by the kernel's estimate; none if it is unknown.
std::optional<double> AvailableHostBytes();

// "201 MiB": rounded up.
std::string MebiBytes(double bytes);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_HOST_MEMORY_H_
