// The five calls, with their statuses in words.
#include "common/graph_descriptor.h"

#include <utility>

#include "common/cudnn_failure.h"

namespace cudnn_ci {

GraphDescriptor::GraphDescriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type, const char* what)
    : api_(api), what_(what) {
  Require(api_.BackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

GraphDescriptor::~GraphDescriptor() {
  if (descriptor_) api_.BackendDestroyDescriptor(descriptor_);
}

GraphDescriptor::GraphDescriptor(GraphDescriptor&& other) noexcept
    : api_(other.api_), what_(other.what_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}

void GraphDescriptor::Require(cudnnStatus_t status, const char* call) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const bool unsupported = api_.IsUnsupported(status);
  throw CudnnFailure(std::string(call) + "(" + what_ + "): " + api_.Describe(status), unsupported,
                     static_cast<int>(status), CauseOf(api_.major(), static_cast<int>(status)));
}

GraphDescriptor& GraphDescriptor::SetRaw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                         std::int64_t count, const void* values) {
  Require(api_.BackendSetAttribute(descriptor_, name, type, count, values), "cudnnBackendSetAttribute");
  return *this;
}

GraphDescriptor& GraphDescriptor::Set(cudnnBackendAttributeName_t name, const GraphDescriptor& other) {
  return SetRaw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.descriptor_);
}

GraphDescriptor& GraphDescriptor::Finalize() {
  Require(api_.BackendFinalize(descriptor_), "cudnnBackendFinalize");
  return *this;
}

std::int64_t GraphDescriptor::GetRaw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                     std::int64_t room, void* values) const {
  std::int64_t count = 0;
  Require(api_.BackendGetAttribute(descriptor_, name, type, room, &count, values),
          "cudnnBackendGetAttribute");
  return count;
}

std::int64_t GraphDescriptor::GetInteger(cudnnBackendAttributeName_t name) const {
  std::int64_t value = 0;
  GetRaw(name, CUDNN_TYPE_INT64, 1, &value);
  return value;
}

std::vector<int> GraphDescriptor::GetEnumerators(cudnnBackendAttributeName_t name,
                                                 cudnnBackendAttributeType_t type, std::int64_t most) const {
  std::vector<int> values(static_cast<std::size_t>(most));
  const std::int64_t count = GetRaw(name, type, most, values.data());
  values.resize(static_cast<std::size_t>(count < most ? count : most));
  return values;
}

std::int64_t GraphDescriptor::GetDescriptors(cudnnBackendAttributeName_t name,
                                             std::vector<cudnnBackendDescriptor_t> into) const {
  const auto room = static_cast<std::int64_t>(into.size());
  return GetRaw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, room, into.empty() ? nullptr : into.data());
}

}  // namespace cudnn_ci
