// Which kernels a library launches, by name, without a profiler: images have none. The launches are recorded
// into a CUDA graph, which runs nothing, and the driver is asked what the graph's nodes are. Must not know
// any library above the driver, nor the SDK.
#ifndef CUDNN_CI_PLUGINS_COMMON_LAUNCH_CAPTURE_H_
#define CUDNN_CI_PLUGINS_COMMON_LAUNCH_CAPTURE_H_

#include <functional>
#include <string>
#include <vector>

#include "common/driver_api.h"

namespace cudnn_ci {

struct CapturedLaunches {
  // False: the driver lacks a function that it takes (before 12.3), or refused to begin; `launch` was not
  // called.
  bool tried = false;
  // Something was not allowed, or failed: what the library did is not known.
  bool broken = false;
  // All kernels are named below.
  bool whole = false;
  // Symbols as the driver has them (mangled), each once, in the order of the graph's nodes; of the first 64
  // nodes. What could not be named is missing.
  std::vector<std::string> symbols;
};

// Calls `launch`, which gives work to `stream` and returns false (or throws std::exception, which is kept
// here) if it could not: not every call is allowed while a stream is recorded, and one that is not ends the
// recording. It is over when this returns, whatever happened. `stream` is not the default one, which cannot
// be recorded.
CapturedLaunches CaptureLaunches(const DriverApi& driver, CUstream stream,
                                 const std::function<bool()>& launch);

// A symbol as a reader wants it: demangled, without return type and arguments, of at most 160 bytes. What is
// no mangled name comes back as it is, cut.
std::string KernelNameOf(const std::string& symbol);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_LAUNCH_CAPTURE_H_
