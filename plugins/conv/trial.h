// A candidate that the library agreed to: how its result is judged, and the memory it needs.
#ifndef CUDNN_CI_PLUGINS_CONV_TRIAL_H_
#define CUDNN_CI_PLUGINS_CONV_TRIAL_H_

#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "common/numeric/compare.h"
#include "common/session.h"
#include "conv/candidate.h"
#include "conv/recipe.h"

namespace cudnn_ci {

// The places of the buffers.
enum Buffer : std::size_t { kA, kB, kY, kWorkspace };

struct Trial {
  Candidate* candidate = nullptr;
  std::size_t workspace_bytes = 0;
  Recipe recipe;
  double bound = 0;

  bool decisive() const { return IsDecisive(bound); }
};

// Memory that a trial lacks; the context is sound, and another choice may need less.
struct NoMemory : std::exception {
  NoMemory(std::string n, std::string s) : need(std::move(n)), seen(std::move(s)) {}
  std::string need, seen;
};

// Throws CudnnFailure.
Trial PrepareTrial(Candidate& candidate, const Problem& problem, DataType type, const ApiPromise& promise);

std::size_t BytesOf(const Tensor& tensor, DataType type);
// Of the largest tensor.
std::size_t ReadbackBytes(const Problem& problem, DataType type);
std::vector<BufferSpec> BuffersOf(const Trial& trial, const Problem& problem, DataType type);

// Throws NoMemory where device or host have less than the trial needs.
void RequireMemory(const Session& session, const Trial& trial, const Problem& problem, DataType type);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_TRIAL_H_
