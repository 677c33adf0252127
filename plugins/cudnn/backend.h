// cuDNN's graph API as far as plans need it that are built without a GPU: the device is described by a text,
// the operation graph takes no handle, and heuristics and plans are asked with that description in place of
// one. https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html Seen to work
// without a driver from cuDNN 9.8 to 9.22. Judges nothing; must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_CUDNN_BACKEND_H_
#define CUDNN_CI_PLUGINS_CUDNN_BACKEND_H_

#include <cudnn.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cudnn_api.h"
#include "common/late_function.h"

namespace cudnn_ci {

// A call of the graph API that failed.
class BackendFailure : public std::runtime_error {
 public:
  BackendFailure(bool unsupported, const std::string& what)
      : std::runtime_error(what), unsupported_(unsupported) {}
  // The library did not know what was asked for, or would not have it so: it is not broken.
  bool unsupported() const { return unsupported_; }

 private:
  bool unsupported_;
};

// The functions of the graph API; `cudnn` has the words for their failures. As thread-safe as the library.
class BackendApi {
 public:
  // Binds the functions of the library that `cudnn` has loaded from `path`.
  BackendApi(const CudnnApi& cudnn, const std::string& path);

  // Throws BackendFailure "cudnnBackendFinalize of the heuristics: 1008 CUDNN_STATUS_...", with the library's
  // words of this thread, unless `status` is success.
  void Require(cudnnStatus_t status, const char* call, const char* what) const;

  LateFunction<decltype(::cudnnBackendCreateDescriptor)> Create;
  LateFunction<decltype(::cudnnBackendDestroyDescriptor)> Destroy;
  LateFunction<decltype(::cudnnBackendSetAttribute)> Set;
  LateFunction<decltype(::cudnnBackendGetAttribute)> Get;
  LateFunction<decltype(::cudnnBackendFinalize)> Finalize;

 private:
  const CudnnApi& cudnn_;
};

// Owns one descriptor. All of its functions throw BackendFailure.
class Descriptor {
 public:
  // `what` says in a failure's words which one it was: "the heuristics".
  Descriptor(const BackendApi& api, cudnnBackendDescriptorType_t type, const char* what);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  template <class T>
  Descriptor& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  const std::vector<T>& values) {
    return SetRaw(name, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  Descriptor& Set(cudnnBackendAttributeName_t name, const Descriptor& other);
  Descriptor& Finalize();
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  Descriptor& SetRaw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                     const void* values);
  const BackendApi& api_;
  const char* what_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

// A convolution forward, 3 by 3 or so, of which every cuDNN has engines.
struct PlanProblem {
  const char* name;  // "float16, channels last, 3x3"
  cudnnDataType_t type;
  bool channels_last;
  std::int64_t filter;  // its sizes
};

// What the heuristics gave for one problem, and the plans that were built of it. They live as long as this.
struct BuiltPlans {
  std::int64_t announced = 0, given = 0;  // configurations of engines
  std::vector<Descriptor> plans;
  std::string refusal;  // the first plan that could not be built, in words
};

// A device described by a text, an H200, which problems share. Throws BackendFailure.
Descriptor DescribeDevice(const BackendApi& api);

// Asks the heuristics, and builds plans of the first `most` configurations. Throws BackendFailure where
// something other than a single plan fails.
BuiltPlans BuildPlans(const BackendApi& api, const Descriptor& device, const PlanProblem& problem,
                      std::int64_t most);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CUDNN_BACKEND_H_
