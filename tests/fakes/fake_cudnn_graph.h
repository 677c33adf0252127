// What the parts of the fake graph API share: descriptors that keep what they are given, and what they say.
#ifndef CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_GRAPH_H_
#define CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_GRAPH_H_

#include <cudnn.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fake_cudnn.h"
#include "fake_env.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define CALL() FAKE_CALL("FAKE_CUDNN_FAULT", cudnnStatus_t)

namespace fake_graph {

inline constexpr auto kBadParam = static_cast<cudnnStatus_t>(2000);
inline constexpr auto kMisaligned = static_cast<cudnnStatus_t>(2003);
inline constexpr auto kNotFinalized = static_cast<cudnnStatus_t>(2005);
// In all, and of a graph with pointwise operations.
inline constexpr int64_t kEngines = 20, kEnginesOfFusions = 11;
inline constexpr int kOrdinal = -1;  // of a configuration: which of the heuristics' it is
// What older headers do not declare.
inline constexpr int kDeviceProp = 38, kDevicePropJson = 2702, kEngineHeurDeviceProp = 204,
                     kPlanDeviceProp = 407;

struct Fake {
  int type;
  bool finalized = false;
  bool of_heuristics = false;
  std::map<int, std::string> attributes;  // the bytes of each

  template <class T>
  std::vector<T> List(int name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T One(int name, T otherwise) const {
    const std::vector<T> values = List<T>(name);
    return values.empty() ? otherwise : values.front();
  }
  template <class T>
  void Put(int name, const T& value) {
    attributes[name].assign(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

// Every function below is called with it locked.
extern std::mutex mutex;

// The descriptor, if it lives.
Fake* Find(cudnnBackendDescriptor_t descriptor);
// A new one, which lives.
Fake* Add(int type);
// Ends one that lives.
void Remove(Fake* fake);
// The finalized descriptor that an attribute names, the first of a list; null if it names none.
Fake* Named(const Fake& fake, int name);

// The attributes of an operation: x, w, y, convolution, alpha, beta.
struct Operation {
  fake_cudnn::Operation operation;
  int type, x, w, y, convolution, alpha, beta;
};
inline constexpr Operation kOperations[] = {
    {fake_cudnn::Operation::kForward, 10, 704, 703, 705, 702, 700, 701},
    {fake_cudnn::Operation::kBackwardFilter, 11, 716, 715, 717, 714, 712, 713},
    {fake_cudnn::Operation::kBackwardData, 12, 710, 709, 711, 708, 706, 707}};

// Null for what is no convolution.
const Operation* OperationOf(const Fake& fake);

std::vector<int> Ints(const std::vector<int64_t>& values);
// A tensor's descriptor, and where its elements lie.
fake_cudnn::View ViewOf(const Fake& tensor, unsigned char* data);

// The operations of a graph, in their order; those that live and are finalized.
std::vector<Fake*> OperationsOf(const Fake& graph);
// What the last of them writes, behind a forward convolution.
Fake* ResultOf(const Fake& graph);

// What finalizing it answers.
cudnnStatus_t Check(const Fake& fake);

// Whether an engine is for the operation of a graph.
bool Offered(const Fake& graph, int64_t engine);
// Its numerical notes.
std::vector<int> NotesOf(int64_t engine);
// What CUDNN_ATTR_ENGINEHEUR_RESULTS gives.
cudnnStatus_t Results(const Fake& heuristics, int64_t wanted, int64_t* count,
                      cudnnBackendDescriptor_t* values);

// Bytes that a plan asks for.
int64_t WorkspaceOf(const Fake& plan);

}  // namespace fake_graph

#endif  // CUDNN_CI_TESTS_FAKES_FAKE_CUDNN_GRAPH_H_
