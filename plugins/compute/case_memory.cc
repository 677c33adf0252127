// Buffers and their sizes.
#include "compute/case_memory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/host_memory.h"
#include "common/numeric/fill.h"

namespace cudnn_ci {
namespace {

// For the library's kernels and buffers; without it a failure would say nothing about the operation.
constexpr std::size_t kDeviceHeadroom = std::size_t{256} << 20;
// Of all inputs together that get random data beside the exact ones.
constexpr std::size_t kMostRandom = std::size_t{1} << 30;
// Between outputs that lie behind one another in host memory.
constexpr std::size_t kAlignment = 256;

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

void RequireDevice(const DeviceSession& session, const std::vector<BufferSpec>& buffers) {
  const std::size_t free_bytes = session.FreeBytes();
  if (DeviceBytes(buffers) > free_bytes) throw NoDeviceMemory(buffers, "", free_bytes);
}

void RequireOnHost(const HostBuffer& buffer, std::size_t bytes) {
  const std::optional<HostRoom> room = LookAtHostMemory();
  const auto growth = static_cast<double>(buffer.Growth(bytes));
  if (room && growth > room->bytes) throw NoHostMemory(growth, room->bytes, *room);
}

void ReserveOnDevice(const std::vector<BufferSpec>& buffers, DeviceSession* session) {
  const CUresult reserved = session->memory().Reserve(buffers);
  if (reserved == CUDA_ERROR_OUT_OF_MEMORY)
    throw NoDeviceMemory(buffers, "cuMemAlloc: " + session->driver().Describe(reserved) + "; ",
                         session->FreeBytes());
  session->driver().Require(reserved, "cuMemAlloc");
}

CaseMemory::CaseMemory(Operands operands) : operands_(std::move(operands)) {
  for (const Operand& input : operands_.inputs) seeded_ += input.seed ? 1 : 0;
  std::size_t seeded = 0, others = WorkspacePlace() + 1;
  for (const Operand& input : operands_.inputs) places_.push_back(input.seed ? seeded++ : others++);
  random_ = SeededBytes() <= kMostRandom;
}

std::size_t CaseMemory::SeededBytes() const {
  std::size_t bytes = 0;
  for (const Operand& input : operands_.inputs) bytes += input.seed ? input.Bytes() : 0;
  return bytes;
}

std::size_t CaseMemory::OutputOffset(std::size_t output) const {
  std::size_t end = 0;
  for (std::size_t o = 0; o < output; ++o) {
    if (o > 0) end = (end + kAlignment - 1) / kAlignment * kAlignment;
    end += operands_.outputs[o].Bytes();
  }
  const bool behind = output == operands_.outputs.size();
  return behind ? end : (end + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<BufferSpec> CaseMemory::Buffers(std::size_t workspace_bytes) const {
  using Role = BufferSpec::Role;
  std::vector<BufferSpec> buffers(WorkspacePlace() + 1);
  for (const Operand& input : operands_.inputs)
    if (!input.seed) buffers.emplace_back();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Operand& input = operands_.inputs[i];
    buffers[InputPlace(i)] = {input.name, input.Bytes(), Role::kInput};
    if (input.seed)
      buffers[RandomPlace(i)] = {"random " + input.name, has_random() ? input.Bytes() : 0, Role::kInput};
  }
  for (std::size_t o = 0; o < operands_.outputs.size(); ++o) {
    const Operand& output = operands_.outputs[o];
    buffers[OutputPlace(o)] = {output.name, output.Bytes(), Role::kOutput, UnwrittenWord(output.type),
                               output.guard};
  }
  buffers[WorkspacePlace()] = {"workspace", workspace_bytes, Role::kWorkspace};
  return buffers;
}

VariantPack CaseMemory::Pack(const DeviceBuffers& memory, bool random, std::size_t workspace_bytes) const {
  const bool beside = random && has_random();
  VariantPack pack;
  for (std::size_t i = 0; i < places_.size(); ++i)
    pack.inputs.push_back(
        memory.Pointer(beside && operands_.inputs[i].seed ? RandomPlace(i) : InputPlace(i)));
  for (std::size_t o = 0; o < operands_.outputs.size(); ++o)
    pack.outputs.push_back(memory.Pointer(OutputPlace(o)));
  pack.workspace = memory.Pointer(WorkspacePlace());
  pack.workspace_bytes = workspace_bytes;
  return pack;
}

std::size_t CaseMemory::ReadbackBytes() const {
  std::size_t most = OutputBytes();
  for (const Operand& input : operands_.inputs) most = std::max(most, input.Bytes());
  return most;
}

void CaseMemory::Require(const ReferenceSource& data, std::size_t workspace_bytes, DeviceSession* session) {
  if (DeviceBytes(Buffers(workspace_bytes)) > session->FreeBytes() && !DeviceSession::IsShared())
    random_ = false;
  RequireDevice(*session, Buffers(workspace_bytes));
  RequireHost(data, session);
}

std::vector<std::pair<HostBuffer*, std::size_t>> CaseMemory::HostBuffers(DeviceSession* session) const {
  std::vector<std::pair<HostBuffer*, std::size_t>> buffers = {{&session->readback, ReadbackBytes()},
                                                              {&session->repeated, OutputBytes()}};
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (operands_.inputs[i].seed) buffers.emplace_back(&session->input(i), operands_.inputs[i].Bytes());
  return buffers;
}

CaseMemory::HostBytes CaseMemory::OnHost(const ReferenceSource& data, DeviceSession* session) const {
  // Of wrong outputs and of their repetition there are copies.
  const double copies = 2.0 * static_cast<double>(OutputBytes());
  // What this process has already is not needed once more.
  HostBytes host = {data.MakingBytes() + copies, data.Growth() + copies};
  for (const auto& [buffer, bytes] : HostBuffers(session)) {
    host.need += static_cast<double>(HostBuffer::SizeFor(bytes));
    host.growth += static_cast<double>(buffer->Growth(bytes));
  }
  return host;
}

// The answer must not depend on the cases that this process ran before: in a fresh one it would be another.
void CaseMemory::RequireHost(const ReferenceSource& data, DeviceSession* session) {
  for (const bool given_back : {false, true}) {
    const std::optional<HostRoom> room = LookAtHostMemory();
    const HostBytes host = OnHost(data, session);
    if (!room || host.growth <= room->bytes) return;
    if (given_back) throw NoHostMemory(host.need, room->bytes + host.need - host.growth, *room);
    GiveBack(data, session);
  }
}

void CaseMemory::GiveBack(const ReferenceSource& data, DeviceSession* session) {
  data.ForgetOthers();
  for (const auto& [buffer, bytes] : HostBuffers(session)) buffer->Trim(HostBuffer::SizeFor(bytes));
  GiveFreedMemoryBack();
  ++times_given_back_;
}

void CaseMemory::Reserve(DeviceSession* session, std::size_t workspace_bytes) const {
  ReserveOnDevice(Buffers(workspace_bytes), session);
}

}  // namespace cudnn_ci
