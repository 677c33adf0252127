#include "conv/trial.h"

#include <algorithm>
#include <optional>

#include "common/host_memory.h"
#include "common/numeric/fill.h"
#include "conv/bounds.h"
#include "conv/reference.h"

namespace cudnn_ci {
namespace {

// For cuDNN's kernels and workspaces; without it a failure would say nothing about the convolution.
constexpr std::size_t kDeviceHeadroom = std::size_t{256} << 20;

}  // namespace

Trial PrepareTrial(Candidate& candidate, const Problem& problem, DataType type, const ApiPromise& promise) {
  Trial trial;
  trial.candidate = &candidate;
  trial.workspace_bytes = candidate.Prepare();
  trial.recipe = RecipeFor(problem, type, candidate.arithmetic(), promise);
  trial.bound = ErrorBound(candidate.arithmetic(), type, problem, trial.recipe);
  return trial;
}

std::size_t BytesOf(const Tensor& tensor, DataType type) {
  return static_cast<std::size_t>(tensor.Count()) * SizeOf(type);
}

std::size_t ReadbackBytes(const Problem& problem, DataType type) {
  return std::max({BytesOf(problem.A(), type), BytesOf(problem.B(), type), BytesOf(problem.Y(), type)});
}

std::vector<BufferSpec> BuffersOf(const Trial& trial, const Problem& problem, DataType type) {
  using Role = BufferSpec::Role;
  const Tensor a = problem.A(), b = problem.B(), y = problem.Y();
  return {{a.name, BytesOf(a, type), Role::kInput},
          {b.name, BytesOf(b, type), Role::kInput},
          {y.name, BytesOf(y, type), Role::kOutput, UnwrittenWord(type)},
          {"workspace", trial.workspace_bytes, Role::kWorkspace}};
}

void RequireMemory(const Session& session, const Trial& trial, const Problem& problem, DataType type) {
  const std::size_t device = DeviceBuffers::BytesFor(BuffersOf(trial, problem, type)) + kDeviceHeadroom;
  const std::size_t free_bytes = session.FreeBytes();
  if (device > free_bytes)
    throw NoMemory(MebiBytes(static_cast<double>(device)) + " of device memory",
                   MebiBytes(static_cast<double>(free_bytes)) + " free");
  const double host = ReferenceBytes(problem, trial.recipe) +
                      static_cast<double>(BytesOf(problem.A(), type) + BytesOf(problem.B(), type) +
                                          ReadbackBytes(problem, type));
  const std::optional<double> available = AvailableHostBytes();
  if (available && host > *available)
    throw NoMemory(MebiBytes(host) + " of host memory", MebiBytes(*available) + " available");
}

}  // namespace cudnn_ci
