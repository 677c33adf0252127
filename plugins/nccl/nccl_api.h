// NCCL (libnccl.so.2), bound at run time. Prototypes by hand
// (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api.html): they are the same in every release
// that has them. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_NCCL_NCCL_API_H_
#define CUDNN_CI_PLUGINS_NCCL_NCCL_API_H_

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

#include "common/late_function.h"
#include "nccl/nccl_types.h"

namespace cudnn_ci {

// A call of NCCL that failed: "ncclAllReduce: 1 unhandled cuda error: ...", with its last error behind.
class NcclError : public std::runtime_error {
 public:
  NcclError(int result, const std::string& what) : std::runtime_error(what), result_(result) {}
  int result() const { return result_; }

 private:
  int result_;
};

inline constexpr char kNcclSoname[] = "libnccl.so.2";

// One thread at a time. Functions throw NcclError naming call and result, or MissingSymbol of a library that
// lacks the function.
class NcclApi {
 public:
  using Comm = struct ncclComm*;

  // The one soname that there is, as the loader finds it. False: error() says why.
  bool Load();
  bool loaded() const { return library_.loaded(); }
  bool missing() const { return missing_; }  // there is none
  const std::string& error() const { return error_; }
  std::string path() const { return library_.Path(); }
  // "2.28.9", as it says itself.
  std::string Version() const;
  // "13.0", the CUDA that it was built with, by the words in its file; empty: it has none.
  std::string Cuda() const;
  // "NCCL 2.28.9+cuda13.0 (/usr/lib/libnccl.so.2)".
  std::string Text() const;

  NcclUniqueId UniqueId() const;
  // Waits for all ranks; in the current context.
  Comm Init(int ranks, const NcclUniqueId& id, int rank) const;
  // The same, and returns before it is done (Wait), until when `comm` must stay where it is; releases before
  // 2.14 wait.
  void Begin(int ranks, const NcclUniqueId& id, int rank, Comm* comm) const;
  // Likewise; `part` is made when the whole is done with it.
  void Split(Comm whole, int color, int key, Comm* part) const;
  void Finalize(Comm comm) const;
  void Destroy(Comm comm) const;
  int Count(Comm comm) const;
  int Rank(Comm comm) const;
  // What a communicator that does not block says of its last call; throws where that failed. False: it goes
  // on.
  bool IsDone(Comm comm, const char* call) const;
  // Asks until it is done, for so many seconds at most. False: it is not.
  bool Wait(Comm comm, const char* call, double seconds) const;
  // NCCL's words on the last error; null: of any communicator. Empty: it has none.
  std::string LastError(Comm comm) const;

  // The collectives, by their numbers of types and reductions; they enqueue.
  LateFunction<int(const void*, void*, std::size_t, int, int, Comm, void*)> AllReduce, ReduceScatter;
  LateFunction<int(const void*, void*, std::size_t, int, int, int, Comm, void*)> Reduce;
  LateFunction<int(const void*, void*, std::size_t, int, Comm, void*)> AllGather, AlltoAll;
  LateFunction<int(const void*, void*, std::size_t, int, int, Comm, void*)> Broadcast, Gather, Scatter;
  LateFunction<int(const void*, std::size_t, int, int, Comm, void*)> Send;
  LateFunction<int(void*, std::size_t, int, int, Comm, void*)> Recv;
  LateFunction<int()> GroupStart, GroupEnd;
  // Throws unless a call succeeded, or goes on where the communicator does not block.
  void Require(int result, const char* call, Comm comm = nullptr) const;

 private:
  void Bind();

  LateLibrary library_;
  std::string error_;
  bool missing_ = false;
  LateFunction<int(int*)> version_;
  LateFunction<int(NcclUniqueId*)> unique_id_;
  LateFunction<int(Comm*, int, NcclUniqueId, int)> init_;
  LateFunction<int(Comm*, int, NcclUniqueId, int, NcclConfig*)> init_config_;
  LateFunction<int(Comm, int, int, Comm*, NcclConfig*)> split_;
  LateFunction<int(Comm)> finalize_, destroy_;
  LateFunction<int(Comm, int*)> count_, rank_, async_error_;
  LateFunction<const char*(int)> result_text_;
  LateFunction<const char*(Comm)> last_error_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_NCCL_API_H_
