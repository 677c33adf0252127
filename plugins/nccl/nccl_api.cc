// The binding of NCCL.
#include "nccl/nccl_api.h"

#include <chrono>
#include <thread>

#include "base/path.h"
#include "common/loader_path.h"
#include "image/elf/library_text.h"

namespace cudnn_ci {

bool NcclApi::Load() {
  if (!library_.loaded() && LoadChecked(kNcclSoname, &library_, &error_)) Bind();
  missing_ = !library_.loaded() && IsNotFound(kNcclSoname, error_);
  return library_.loaded();
}

void NcclApi::Bind() {
  version_.Bind(library_, "ncclGetVersion");
  unique_id_.Bind(library_, "ncclGetUniqueId");
  init_.Bind(library_, "ncclCommInitRank");
  init_config_.Bind(library_, "ncclCommInitRankConfig");
  split_.Bind(library_, "ncclCommSplit");
  finalize_.Bind(library_, "ncclCommFinalize");
  destroy_.Bind(library_, "ncclCommDestroy");
  count_.Bind(library_, "ncclCommCount");
  rank_.Bind(library_, "ncclCommUserRank");
  async_error_.Bind(library_, "ncclCommGetAsyncError");
  result_text_.Bind(library_, "ncclGetErrorString");
  last_error_.Bind(library_, "ncclGetLastError");
  AllReduce.Bind(library_, "ncclAllReduce");
  ReduceScatter.Bind(library_, "ncclReduceScatter");
  Reduce.Bind(library_, "ncclReduce");
  AllGather.Bind(library_, "ncclAllGather");
  AlltoAll.Bind(library_, "ncclAlltoAll");
  Broadcast.Bind(library_, "ncclBroadcast");
  Gather.Bind(library_, "ncclGather");
  Scatter.Bind(library_, "ncclScatter");
  Send.Bind(library_, "ncclSend");
  Recv.Bind(library_, "ncclRecv");
  GroupStart.Bind(library_, "ncclGroupStart");
  GroupEnd.Bind(library_, "ncclGroupEnd");
}

void NcclApi::Require(int result, const char* call, Comm comm) const {
  if (result == kNcclSuccess || result == kNcclInProgress) return;
  const char* text = result_text_ ? result_text_(result) : nullptr;
  const std::string last = LastError(comm);
  throw NcclError(result, std::string(call) + ": " + std::to_string(result) +
                              (text ? std::string(" ") + text : "") + (last.empty() ? "" : ": " + last));
}

std::string NcclApi::LastError(Comm comm) const {
  const char* last = last_error_ ? last_error_(comm) : nullptr;
  std::string text = last ? last : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string NcclApi::Version() const {
  int code = 0;
  Require(version_(&code), "ncclGetVersion");
  return NcclVersionText(code);
}

std::string NcclApi::Cuda() const {
  const std::string text = WordBehind(RealPath(path()), "NCCL version ");
  const std::size_t at = text.find("+cuda");
  return at == std::string::npos ? "" : text.substr(at + 5);
}

std::string NcclApi::Text() const {
  const std::string cuda = Cuda();
  return "NCCL " + Version() + (cuda.empty() ? "" : "+cuda" + cuda) + " (" + RealPath(path()) + ")";
}

NcclUniqueId NcclApi::UniqueId() const {
  NcclUniqueId id = {};
  Require(unique_id_(&id), "ncclGetUniqueId");
  return id;
}

NcclApi::Comm NcclApi::Init(int ranks, const NcclUniqueId& id, int rank) const {
  Comm comm = nullptr;
  Require(init_(&comm, ranks, id, rank), "ncclCommInitRank");
  return comm;
}

void NcclApi::Begin(int ranks, const NcclUniqueId& id, int rank, Comm* comm) const {
  NcclConfig config;
  if (init_config_)
    Require(init_config_(comm, ranks, id, rank, &config), "ncclCommInitRankConfig");
  else
    *comm = Init(ranks, id, rank);
}

void NcclApi::Split(Comm whole, int color, int key, Comm* part) const {
  Require(split_(whole, color, key, part, nullptr), "ncclCommSplit", whole);
}

void NcclApi::Finalize(Comm comm) const { Require(finalize_(comm), "ncclCommFinalize", comm); }
void NcclApi::Destroy(Comm comm) const { Require(destroy_(comm), "ncclCommDestroy"); }

int NcclApi::Count(Comm comm) const {
  int count = 0;
  Require(count_(comm, &count), "ncclCommCount", comm);
  return count;
}

int NcclApi::Rank(Comm comm) const {
  int rank = 0;
  Require(rank_(comm, &rank), "ncclCommUserRank", comm);
  return rank;
}

bool NcclApi::IsDone(Comm comm, const char* call) const {
  int state = kNcclSuccess;
  Require(async_error_(comm, &state), "ncclCommGetAsyncError", comm);
  Require(state, call, comm);
  return state == kNcclSuccess;
}

bool NcclApi::Wait(Comm comm, const char* call, double seconds) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!IsDone(comm, call)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

}  // namespace cudnn_ci
