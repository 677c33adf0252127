// Buffers and their sizes.
#include "conv/case_memory.h"

#include <algorithm>
#include <optional>

#include "common/host_memory.h"
#include "common/numeric/fill.h"
#include "conv/reference.h"

namespace cudnn_ci {
namespace {

// For cuDNN's kernels and workspaces; without it a failure would say nothing about the convolution.
constexpr std::size_t kDeviceHeadroom = std::size_t{256} << 20;
// Of both inputs together, of which a second pair is made.
constexpr std::size_t kMostRandom = std::size_t{1} << 30;

}  // namespace

std::size_t CaseMemory::Bytes(const Tensor& tensor) const {
  return static_cast<std::size_t>(tensor.Count()) * SizeOf(type_);
}

std::size_t CaseMemory::OutputBytes() const {
  return static_cast<std::size_t>(problem_.Y().Count()) * SizeOf(output_type());
}

std::size_t CaseMemory::BiasBytes() const {
  return static_cast<std::size_t>(problem_.Bias().Count()) * SizeOf(BiasTypeOf(type_));
}

CaseMemory::CaseMemory(const Problem& problem, DataType type)
    : problem_(problem), type_(type), random_(Bytes(problem_.A()) + Bytes(problem_.B()) <= kMostRandom) {}

std::vector<BufferSpec> CaseMemory::Buffers(std::size_t workspace_bytes) const {
  using Role = BufferSpec::Role;
  const Tensor a = problem_.A(), b = problem_.B(), y = problem_.Y();
  std::vector<BufferSpec> buffers = {
      {a.name, Bytes(a), Role::kInput},
      {b.name, Bytes(b), Role::kInput},
      {std::string("random ") + a.name, has_random() ? Bytes(a) : 0, Role::kInput},
      {std::string("random ") + b.name, has_random() ? Bytes(b) : 0, Role::kInput},
      {y.name, OutputBytes(), Role::kOutput, UnwrittenWord(output_type())},
      {"workspace", workspace_bytes, Role::kWorkspace}};
  if (BiasBytes() > 0) buffers.push_back({problem_.Bias().name, BiasBytes(), Role::kInput});
  return buffers;
}

std::size_t CaseMemory::ReadbackBytes() const {
  return std::max({Bytes(problem_.A()), Bytes(problem_.B()), OutputBytes(), BiasBytes()});
}

void CaseMemory::Require(const Session& session, const Recipe& recipe, std::size_t workspace_bytes) {
  const auto device = [&] { return DeviceBuffers::BytesFor(Buffers(workspace_bytes)) + kDeviceHeadroom; };
  const std::size_t free_bytes = session.FreeBytes();
  if (device() > free_bytes && !Session::InCompany()) random_ = false;
  if (device() > free_bytes)
    throw NoMemory(MebiBytes(static_cast<double>(device())) + " of device memory",
                   MebiBytes(static_cast<double>(free_bytes)) + " free");
  const double host =
      ReferenceBytes(problem_, recipe) +
      static_cast<double>(Bytes(problem_.A()) + Bytes(problem_.B()) + ReadbackBytes() + OutputBytes());
  const std::optional<double> available = AvailableHostBytes();
  if (available && host > *available)
    throw NoMemory(MebiBytes(host) + " of host memory", MebiBytes(*available) + " available");
}

void CaseMemory::Reserve(Session* session, std::size_t workspace_bytes) const {
  const std::vector<BufferSpec> buffers = Buffers(workspace_bytes);
  const CUresult reserved = session->memory().Reserve(buffers);
  if (reserved == CUDA_ERROR_OUT_OF_MEMORY)
    throw NoMemory(MebiBytes(static_cast<double>(DeviceBuffers::BytesFor(buffers))) + " of device memory",
                   "cuMemAlloc: " + session->driver().Describe(reserved) + "; " +
                       MebiBytes(static_cast<double>(session->FreeBytes())) + " free");
  session->driver().Require(reserved, "cuMemAlloc");
}

}  // namespace cudnn_ci
