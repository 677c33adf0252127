// Buffers and their sizes.
#include "conv/case_memory.h"

#include <algorithm>
#include <limits>
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
// Of the guards around the result, which are read back with each look at them.
constexpr std::size_t kWidestGuard = std::size_t{64} << 10;

std::size_t DeviceBytes(const std::vector<BufferSpec>& buffers) {
  return DeviceBuffers::BytesFor(buffers) + kDeviceHeadroom;
}

NoMemory NoDeviceMemory(const std::vector<BufferSpec>& buffers, const std::string& answer,
                        std::size_t free_bytes) {
  return {CCI_MEMORY_DEVICE, MebiBytes(static_cast<double>(DeviceBytes(buffers))) + " of device memory",
          answer + MebiBytes(static_cast<double>(free_bytes)) + " free"};
}

NoMemory NoHostMemory(double need, double available, const HostRoom& room) {
  return {CCI_MEMORY_HOST, MebiBytes(need) + " of host memory",
          MebiBytes(std::max(0.0, available)) + " available, " + room.limit};
}

}  // namespace

void RequireDevice(const Session& session, const std::vector<BufferSpec>& buffers) {
  const std::size_t free_bytes = session.FreeBytes();
  if (DeviceBytes(buffers) > free_bytes) throw NoDeviceMemory(buffers, "", free_bytes);
}

void RequireOnHost(const HostBuffer& buffer, std::size_t bytes) {
  const std::optional<HostRoom> room = LookAtHostMemory();
  const auto growth = static_cast<double>(buffer.Growth(bytes));
  if (room && growth > room->bytes) throw NoHostMemory(growth, room->bytes, *room);
}

void ReserveOnDevice(const std::vector<BufferSpec>& buffers, Session* session) {
  const CUresult reserved = session->memory().Reserve(buffers);
  if (reserved == CUDA_ERROR_OUT_OF_MEMORY)
    throw NoDeviceMemory(buffers, "cuMemAlloc: " + session->driver().Describe(reserved) + "; ",
                         session->FreeBytes());
  session->driver().Require(reserved, "cuMemAlloc");
}

std::size_t CaseMemory::Bytes(const Tensor& tensor) const {
  return static_cast<std::size_t>(tensor.Count()) * SizeOf(type_);
}

std::size_t CaseMemory::OutputBytes() const {
  return static_cast<std::size_t>(problem_.Y().Count()) * SizeOf(output_type());
}

std::size_t CaseMemory::BiasBytes() const {
  return static_cast<std::size_t>(problem_.Bias().Count()) * SizeOf(BiasTypeOf(type_));
}

std::size_t CaseMemory::RowBytes() const {
  const Tensor y = problem_.Y();
  const auto row = static_cast<std::size_t>(y.sizes[2] * y.channels);
  return std::min(row * SizeOf(output_type()), kWidestGuard);
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
      {y.name, OutputBytes(), Role::kOutput, UnwrittenWord(output_type()), RowBytes()},
      {"workspace", workspace_bytes, Role::kWorkspace}};
  if (BiasBytes() > 0) buffers.push_back({problem_.Bias().name, BiasBytes(), Role::kInput});
  return buffers;
}

std::size_t CaseMemory::ReadbackBytes() const {
  return std::max({Bytes(problem_.A()), Bytes(problem_.B()), OutputBytes(), BiasBytes()});
}

void CaseMemory::Require(const Recipe& recipe, std::size_t workspace_bytes, Session* session) {
  if (DeviceBytes(Buffers(workspace_bytes)) > session->FreeBytes() && !Session::InCompany()) random_ = false;
  RequireDevice(*session, Buffers(workspace_bytes));
  RequireHost(recipe, session);
}

std::vector<std::pair<HostBuffer*, std::size_t>> CaseMemory::HostBuffers(Session* session) const {
  return {{&session->a, Bytes(problem_.A())},
          {&session->b, Bytes(problem_.B())},
          {&session->readback, ReadbackBytes()},
          {&session->repeated, OutputBytes()}};
}

CaseMemory::HostBytes CaseMemory::OnHost(const Recipe& recipe, Session* session) const {
  // Of a wrong result and of its repetition there are copies.
  const double copies = 2.0 * static_cast<double>(OutputBytes());
  // What this process has already is not needed once more.
  HostBytes host = {MakingBytes(problem_, recipe) + copies, ReferenceGrowth(problem_, recipe) + copies};
  for (const auto& [buffer, bytes] : HostBuffers(session)) {
    host.need += static_cast<double>(HostBuffer::SizeFor(bytes));
    host.growth += static_cast<double>(buffer->Growth(bytes));
  }
  return host;
}

// The answer must not depend on the cases that this process ran before: in a fresh one it would be another.
void CaseMemory::RequireHost(const Recipe& recipe, Session* session) {
  for (const bool given_back : {false, true}) {
    const std::optional<HostRoom> room = LookAtHostMemory();
    const HostBytes host = OnHost(recipe, session);
    if (!room || host.growth <= room->bytes) return;
    if (given_back) throw NoHostMemory(host.need, room->bytes + host.need - host.growth, *room);
    GiveBack(recipe, session);
  }
}

void CaseMemory::GiveBack(const Recipe& recipe, Session* session) {
  ForgetOtherReferences(problem_, recipe);
  for (const auto& [buffer, bytes] : HostBuffers(session)) buffer->Trim(HostBuffer::SizeFor(bytes));
  GiveFreedMemoryBack();
  ++times_given_back_;
}

ReferenceAhead CaseMemory::Begin(const Recipe& recipe) const {
  const std::optional<HostRoom> room = LookAtHostMemory();
  return {problem_, recipe, room ? room->bytes : std::numeric_limits<double>::infinity()};
}

void CaseMemory::Reserve(Session* session, std::size_t workspace_bytes) const {
  ReserveOnDevice(Buffers(workspace_bytes), session);
}

}  // namespace cudnn_ci
