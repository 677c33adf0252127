// What the host's driver is, from whichever source tells it, and what the table of version facts says of it.
// Judges nothing.
#ifndef CUDNN_CI_PLUGINS_DRIVER_VERSIONS_H_
#define CUDNN_CI_PLUGINS_DRIVER_VERSIONS_H_

#include <cudnn_ci/check.hpp>

#include <string>

#include "common/driver_api.h"
#include "common/nvml_api.h"

namespace cudnn_ci {

// A version, or the bounds that the table gives for a driver of which only the CUDA it supports is known.
struct DriverVersion {
  std::string lowest, highest;  // empty: nothing tells it
  std::string source;           // "the kernel module", "NVML", ...
  bool known() const { return !lowest.empty(); }
  bool exact() const { return known() && lowest == highest; }
  std::string Text() const;
};

// From the kernel's files in /proc and /sys; without them from NVML, unless it is not the host's, or from the
// name of libcuda's file. A compat package's name is its own version and not the host's. Empty: none of them
// tells it.
DriverVersion InstalledDriver(const NvmlApi& nvml, const std::string& library);

// The same, and where none of them tells it the driver branches that support `cuda` ("12.8") and nothing
// newer. `library`: libcuda's file, links followed.
DriverVersion HostDriver(const Context& ctx, const NvmlApi& nvml, const std::string& library,
                         const std::string& cuda);

// The first number of a version, 0 for an empty one.
int Major(const std::string& version);

// "12.8" of a driver that loads, as cuDriverGetVersion says; empty if it says nothing.
std::string SupportedCuda(const DriverApi& api);

// Why a compat library of that version may not be used over that kernel driver, by the table; empty: it may,
// or the table does not know.
std::string CompatObjection(const Context& ctx, const std::string& compat, const std::string& driver);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_DRIVER_VERSIONS_H_
