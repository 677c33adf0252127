// One collective as the parameters ask for it: who sends and receives how many elements, and where they lie.
// Must not know CUDA, NCCL's functions or the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_SPEC_H_
#define CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_SPEC_H_

#include <cstdint>
#include <string>

#include "nccl/nccl_types.h"

namespace cudnn_ci {

enum class Collective {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kAllToAll,
  kGather,
  kScatter,
  kSendReceive  // an all-to-all of sends and receives in one group, as frameworks make it
};

// The elements of one rank. An element of `input` lies `shift` behind its begin. In place, what is sent lies
// in the output, and the input is copied there first.
struct RankLayout {
  std::int64_t sends = 0, receives = 0;  // elements
  bool in_place = false;
  std::int64_t output = 0;                         // elements of the output, without its shift
  std::int64_t send_begin = 0, receive_begin = 0;  // in the output; send_begin: where it is in place
};

struct CollectiveSpec {
  Collective collective = Collective::kAllReduce;
  Reduction reduction = Reduction::kNone;
  const NcclType* type = nullptr;
  std::int64_t count = 1;  // elements of what each call takes as its count: a chunk's
  int ranks = 1, root = 0;
  bool in_place = false;
  std::int64_t shift = 0;  // elements by which buffers begin behind an address that allocations have

  // By its name, "all_reduce". Throws std::invalid_argument for others.
  void SetCollective(const std::string& name);
  bool Reduces() const { return collective <= Collective::kReduceScatter; }
  bool HasRoot() const;
  // Whether the call can be in place.
  bool CanBeInPlace() const;
  RankLayout Of(int rank) const;
  // Bytes of the larger of the buffers that any rank has; may be more than 64 bits can count.
  double MostBytes() const;
  // "all_reduce".
  const char* Name() const;
  // "ncclAllReduce", what a report calls it.
  const char* Call() const;
  // "all_reduce average of 1048584 float32, in place, of 2 ranks".
  std::string Text() const;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_COLLECTIVE_SPEC_H_
