// One library of which an image may hold several majors, each under a soname of its own: which is loaded.
// Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_PROMISED_LIBRARY_H_
#define CUDNN_CI_PLUGINS_COMMON_PROMISED_LIBRARY_H_

#include <cudnn_ci/late.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/promise.h"

namespace cudnn_ci {

// Sonames by CUDA major, newest first.
using Sonames = std::map<int, const char*, std::greater<>>;

// "libnvrtc.so.13, libnvrtc.so.12", for messages.
std::string JoinedSonames(const Sonames& sonames);

// The promise, and where there is none what the driver serves: of two majors the newer one is of no use with
// a driver for the older. `served` is the CUDA version of the driver, "13.0"; empty: not known.
Promise PromisedOrServed(const Promise& promise, const std::string& served);

// Those whose major the promise means.
std::vector<std::string> PromisedSonames(const Sonames& sonames, const Promise& promise);

struct PromisedLoad {
  int major = 0;         // of the library that was tried last
  bool missing = false;  // there is none of any major
  std::string error;     // why nothing is loaded, in the loader's words; empty: it is
};

// Loads the first there is: one in the subject's own folders before others, of the promised majors before
// others, newest first. One that is there and broken is not replaced by another.
PromisedLoad LoadPromised(const Sonames& sonames, const Promise& promise,
                          const std::vector<std::string>& subject_folders, LateLibrary* library);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_PROMISED_LIBRARY_H_
