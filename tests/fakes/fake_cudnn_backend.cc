// The graph API of the fake cuDNN: descriptors that keep what they are given, heuristics that give as many
// configurations of engines as they are told to, and plans of them. It computes nothing.
//
//   FAKE_CUDNN_CONFIGURATIONS  "ANNOUNCED/GIVEN": how many configurations the heuristics announce, and how
//   many
//                              they then give ("18/6")
//   FAKE_CUDNN_FINALIZE        "TYPE:STATUS": what finalizing a descriptor of that type (its number) answers
//   FAKE_CUDNN_CHOOSES         a library that finalizing the heuristics loads, as a real one does its own
#include <cudnn.h>
#include <dlfcn.h>

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "fake_env.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL() FAKE_CALL("FAKE_CUDNN_FAULT", cudnnStatus_t)

namespace {

constexpr auto kBadParam = static_cast<cudnnStatus_t>(2000);
constexpr auto kNotFinalized = static_cast<cudnnStatus_t>(2005);
// What older headers do not declare.
constexpr int kDeviceProp = 38, kDevicePropJson = 2702, kEngineHeurDeviceProp = 204, kPlanDeviceProp = 407;

struct Fake {
  int type;
  bool finalized = false;
  std::map<int, std::string> attributes;  // the bytes of each
};

std::mutex mutex;
std::set<Fake*> descriptors;  // those that live

Fake* Find(cudnnBackendDescriptor_t descriptor) {
  auto* const fake = static_cast<Fake*>(descriptor);
  return descriptors.count(fake) > 0 ? fake : nullptr;
}

// The finalized descriptor that an attribute names; null if it names none.
Fake* Named(const Fake& fake, int name) {
  const auto attribute = fake.attributes.find(name);
  cudnnBackendDescriptor_t named = nullptr;
  if (attribute == fake.attributes.end() || attribute->second.size() != sizeof named) return nullptr;
  memcpy(&named, attribute->second.data(), sizeof named);
  Fake* const found = Find(named);
  return found && found->finalized ? found : nullptr;
}

// Heuristics and plans can be had without a handle where a device is described in its place.
bool IsComplete(const Fake& fake) {
  if (fake.type == kDeviceProp) {
    const auto json = fake.attributes.find(kDevicePropJson);
    return json != fake.attributes.end() && json->second.find("\"deviceVer\":") != std::string::npos;
  }
  if (fake.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
    return Named(fake, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH) && Named(fake, kEngineHeurDeviceProp);
  if (fake.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
    return Named(fake, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) && Named(fake, kPlanDeviceProp);
  return !fake.attributes.empty();
}

}  // namespace

EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                  cudnnBackendDescriptor_t* descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  auto* const fake = new Fake{static_cast<int>(type), false, {}};
  descriptors.insert(fake);
  *descriptor = fake;
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake) return kBadParam;
  descriptors.erase(fake);
  delete fake;
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name,
                                              cudnnBackendAttributeType_t type, int64_t count,
                                              const void* values) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake || fake->finalized || count <= 0 || !values) return kBadParam;
  const size_t element = type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? 8
                         : type == CUDNN_TYPE_CHAR                                         ? 1
                                                                                           : 4;
  fake->attributes[static_cast<int>(name)].assign(static_cast<const char*>(values),
                                                  static_cast<size_t>(count) * element);
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake) return kBadParam;
  const char* fault = getenv("FAKE_CUDNN_FINALIZE");
  int type = 0, status = 0;
  if (fault && sscanf(fault, "%d:%d", &type, &status) == 2 && type == fake->type)
    return static_cast<cudnnStatus_t>(status);
  if (!IsComplete(*fake)) return kBadParam;
  const char* const library = getenv("FAKE_CUDNN_CHOOSES");
  if (library && fake->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) dlopen(library, RTLD_NOW);
  fake->finalized = true;
  return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                              cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t,
                                              int64_t wanted, int64_t* count, void* values) {
  CALL();
  const std::lock_guard<std::mutex> lock(mutex);
  Fake* const fake = Find(descriptor);
  if (!fake || name != CUDNN_ATTR_ENGINEHEUR_RESULTS) return kBadParam;
  if (!fake->finalized) return kNotFinalized;
  const char* text = getenv("FAKE_CUDNN_CONFIGURATIONS");
  int announced = 18, given = 6;
  if (text && sscanf(text, "%d/%d", &announced, &given) != 2) abort();
  *count = values ? given : announced;
  for (int64_t i = 0; values && i < wanted && i < given; ++i) {
    Fake* const configuration = Find(static_cast<cudnnBackendDescriptor_t*>(values)[i]);
    if (!configuration || configuration->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) return kBadParam;
    configuration->finalized = true;
  }
  return CUDNN_STATUS_SUCCESS;
}
