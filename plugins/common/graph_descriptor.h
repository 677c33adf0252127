// A descriptor of cuDNN's graph API, owned. Knows no operation; must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMMON_GRAPH_DESCRIPTOR_H_
#define CUDNN_CI_PLUGINS_COMMON_GRAPH_DESCRIPTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/cudnn_api.h"

namespace cudnn_ci {

// All functions throw CudnnFailure "cudnnBackendFinalize(engine): 3000 CUDNN_STATUS_...". Belongs to one
// thread; the table must outlive it, and a descriptor those that hold it, since they refer to it.
class GraphDescriptor {
 public:
  // `what` names it in messages.
  GraphDescriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type, const char* what);
  ~GraphDescriptor();
  GraphDescriptor(GraphDescriptor&& other) noexcept;
  GraphDescriptor(const GraphDescriptor&) = delete;
  GraphDescriptor& operator=(const GraphDescriptor&) = delete;
  GraphDescriptor& operator=(GraphDescriptor&&) = delete;

  // Sets a list; the elements are of the type that `type` stands for.
  template <class T>
  GraphDescriptor& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       const std::vector<T>& values) {
    return SetRaw(name, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  GraphDescriptor& Set(cudnnBackendAttributeName_t name, const GraphDescriptor& other);
  GraphDescriptor& SetIntegers(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
    return Set(name, CUDNN_TYPE_INT64, values);
  }
  GraphDescriptor& Finalize();

  std::int64_t GetInteger(cudnnBackendAttributeName_t name) const;
  // A list of which nobody knows the length, of at most `most` elements of an enumeration.
  std::vector<int> GetEnumerators(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                  std::int64_t most) const;
  // Fills other descriptors from this one's list; returns how many. With none: how many there are at most.
  std::int64_t GetDescriptors(cudnnBackendAttributeName_t name,
                              std::vector<cudnnBackendDescriptor_t> into) const;

  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  GraphDescriptor& SetRaw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::int64_t count, const void* values);
  std::int64_t GetRaw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t room,
                      void* values) const;
  void Require(cudnnStatus_t status, const char* call) const;

  const CudnnApi& api_;
  const char* what_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_GRAPH_DESCRIPTOR_H_
