// A cuDNN or NVRTC that a wheel carries under a mangled name, as auditwheel makes them
// ("x.libs/libcudnn-463fd6d5.so.8.9.7"): what it opens by name is not among what was bundled, as no DT_NEEDED
// names it.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_BUNDLED_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_BUNDLED_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "image/loader/loader_scope.h"
#include "image/symbols/symbols_faults.h"

namespace cudnn_ci {

class BundledLibraries {
 public:
  // `writer` must outlive this.
  explicit BundledLibraries(const FaultWriter* writer) : writer_(writer) {}

  // What is in a process now. `process`: "import ctranslate2".
  void Add(const LoaderScope& scope, const std::string& process);
  // Of each bundled cuDNN of which no sub-library is found: kOpenedLater, and kUnused in an environment that
  // has no library for GPUs of its own; and of each bundled NVRTC of which the built-in functions are not
  // found, kOpenedLater. In the order in which they were added.
  std::vector<SymbolFault> Faults() { return std::move(faults_); }

 private:
  void Judge(const LoaderScope& scope, int file, int major, const std::string& process);
  // `version`: NVRTC's, "12.4.127".
  void JudgeCompiler(const LoaderScope& scope, int file, const std::string& version,
                     const std::string& process);

  const FaultWriter* writer_;
  std::set<std::string> known_;  // paths
  std::vector<SymbolFault> faults_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_BUNDLED_H_
