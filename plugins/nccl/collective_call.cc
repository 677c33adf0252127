#include "nccl/collective_call.h"

#include <cstdlib>
#include <cstring>

namespace cudnn_ci {
namespace {

// The row by which memory is copied from one place of the device to another.
void CopyOnDevice(const DriverApi& driver, const void* from, void* to, std::size_t bytes, CUstream stream) {
  CUDA_MEMCPY2D copy;
  std::memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  // A row may be longer than pitches can be: in rows of 1 MiB, and what is left.
  constexpr std::size_t kRow = std::size_t{1} << 20;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = kRow;
  copy.Height = bytes / kRow;
  if (copy.Height > 0) driver.Require(driver.Memcpy2DAsync(&copy, stream), "cuMemcpy2DAsync");
  copy.srcDevice += copy.Height * kRow, copy.dstDevice += copy.Height * kRow;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = bytes % kRow;
  copy.Height = 1;
  if (copy.WidthInBytes > 0) driver.Require(driver.Memcpy2DAsync(&copy, stream), "cuMemcpy2DAsync");
}

// The address of an element of a buffer that may be null.
template <class Address>
Address At(Address buffer, std::int64_t element, std::size_t size) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Address>>, const unsigned char*,
                                  unsigned char*>;
  return buffer ? static_cast<Byte>(buffer) + static_cast<std::size_t>(element) * size : nullptr;
}

// One of the arguments of a call.
struct Call {
  const void* send;
  void* receive;
  std::size_t count;
  int type, reduction, root;
  NcclApi::Comm comm;
  CUstream stream;
};

int Enqueue(const CollectiveSpec& spec, const NcclApi& nccl, const Call& c) {
  switch (spec.collective) {
    case Collective::kAllReduce:
      return nccl.AllReduce(c.send, c.receive, c.count, c.type, c.reduction, c.comm, c.stream);
    case Collective::kReduce:
      return nccl.Reduce(c.send, c.receive, c.count, c.type, c.reduction, c.root, c.comm, c.stream);
    case Collective::kReduceScatter:
      return nccl.ReduceScatter(c.send, c.receive, c.count, c.type, c.reduction, c.comm, c.stream);
    case Collective::kAllGather:
      return nccl.AllGather(c.send, c.receive, c.count, c.type, c.comm, c.stream);
    case Collective::kBroadcast:
      return nccl.Broadcast(c.send, c.receive, c.count, c.type, c.root, c.comm, c.stream);
    case Collective::kAllToAll:
      return nccl.AlltoAll(c.send, c.receive, c.count, c.type, c.comm, c.stream);
    case Collective::kGather:
      return nccl.Gather(c.send, c.receive, c.count, c.type, c.root, c.comm, c.stream);
    case Collective::kScatter:
      return nccl.Scatter(c.send, c.receive, c.count, c.type, c.root, c.comm, c.stream);
    case Collective::kSendReceive:
      break;
  }
  nccl.Require(nccl.GroupStart(), "ncclGroupStart");
  for (int peer = 0; peer < spec.ranks; ++peer) {
    const std::int64_t chunk = spec.count * peer;
    nccl.Require(nccl.Send(At(c.send, chunk, spec.type->size), c.count, c.type, peer, c.comm, c.stream),
                 "ncclSend", c.comm);
    nccl.Require(nccl.Recv(At(c.receive, chunk, spec.type->size), c.count, c.type, peer, c.comm, c.stream),
                 "ncclRecv", c.comm);
  }
  return nccl.GroupEnd();
}

const LateFunction<int(const void*, void*, std::size_t, int, int, NcclApi::Comm, void*)>* Newer(
    const CollectiveSpec& spec, const NcclApi& nccl) {
  if (spec.collective == Collective::kGather) return &nccl.Gather;
  return spec.collective == Collective::kScatter ? &nccl.Scatter : nullptr;
}

}  // namespace

std::string LacksFor(const CollectiveSpec& spec, const NcclApi& nccl, const std::string& compute_capability) {
  const auto from = [](const std::string& what, const char* version) {
    return what + ", which NCCL has from " + version + " on";
  };
  const auto* const newer = Newer(spec, nccl);
  const bool all_to_all = spec.collective == Collective::kAllToAll;
  if ((newer && !*newer) || (all_to_all && !nccl.AlltoAll)) return from(spec.Call(), "2.28.3");
  if (spec.collective == Collective::kSendReceive && !nccl.Send) return from("ncclSend", "2.7.3");
  int major = 0, minor = 0;
  std::sscanf(nccl.Version().c_str(), "%d.%d", &major, &minor);
  const auto before = [&](int second) { return major < 2 || (major == 2 && minor < second); };
  const bool is_float8 = spec.type->size == 1 && !spec.type->is_integer;
  if (is_float8 && before(24)) return from(std::string("the type ") + spec.type->name, "2.24.3");
  if (spec.type->memory == DataType::kBfloat16 && before(10)) return from("the type bfloat16", "2.10.3");
  if (spec.reduction == Reduction::kAverage && before(10)) return from("averages", "2.10.3");
  if (is_float8 && spec.Reduces() && std::atoi(compute_capability.c_str()) < 9)
    return std::string("reductions of ") + spec.type->name +
           ", which NCCL has on GPUs of compute capability 9.0 and later";
  return "";
}

void CallCollective(const CollectiveSpec& spec, int rank, const NcclApi& nccl, NcclApi::Comm comm,
                    const DriverApi& driver, const void* input, void* output, CUstream stream) {
  const RankLayout layout = spec.Of(rank);
  const std::size_t size = spec.type->size;
  const void* send = At(input, spec.shift, size);
  void* const results = At(output, spec.shift, size);
  if (layout.in_place) {
    void* const sent = At(results, layout.send_begin, size);
    CopyOnDevice(driver, send, sent, static_cast<std::size_t>(layout.sends) * size, stream);
    send = sent;
  }
  const Call call = {send,
                     At(results, layout.receive_begin, size),
                     static_cast<std::size_t>(spec.count),
                     spec.type->number,
                     NumberOf(spec.reduction),
                     spec.root,
                     comm,
                     stream};
  nccl.Require(Enqueue(spec, nccl, call), spec.Call(), comm);
}

}  // namespace cudnn_ci
