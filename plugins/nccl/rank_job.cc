#include "nccl/rank_job.h"

#include "nccl/collective_data.h"

namespace cudnn_ci {
namespace {

constexpr Collective kKinds[] = {Collective::kAllReduce, Collective::kReduce,    Collective::kReduceScatter,
                                 Collective::kAllGather, Collective::kBroadcast, Collective::kAllToAll,
                                 Collective::kGather,    Collective::kScatter,   Collective::kSendReceive};
constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProduct, Reduction::kMin, Reduction::kMax,
                                     Reduction::kAverage};
constexpr const char* kTypes[] = {"float32", "bfloat16", "int8",  "float64",     "float8_e4m3", "float16",
                                  "int32",   "int64",    "uint8", "float8_e5m2", "uint32",      "uint64"};
constexpr std::int64_t kCounts[] = {1023, 1, 262145};
constexpr std::size_t kFewTypes = 5;

}  // namespace

std::vector<CollectiveSpec> CallsOf(int ranks, CallSet set) {
  const bool all = set == CallSet::kAll;
  const std::size_t types = all ? std::size(kTypes) : set == CallSet::kFew ? kFewTypes : 1;
  std::vector<CollectiveSpec> calls;
  int turn = 0;
  const auto add = [&](CollectiveSpec spec) {
    spec.root = turn % ranks;
    spec.in_place = turn % 2 == 1 && spec.CanBeInPlace();
    spec.shift = turn % 3 == 2 ? 1 : 0;
    ++turn;
    if (InexactBecause(spec).empty()) calls.push_back(spec);
  };
  for (const Collective kind : kKinds)
    for (std::size_t type = 0; type < types; ++type)
      for (std::size_t count = 0; count < std::size(kCounts); ++count) {
        CollectiveSpec spec;
        spec.collective = kind, spec.type = FindNcclType(kTypes[type]), spec.count = kCounts[count];
        spec.ranks = ranks;
        if (!all && count != type % std::size(kCounts)) continue;
        for (std::size_t r = 0; r < (spec.Reduces() ? std::size(kReductions) : 1); ++r) {
          if (!all && spec.Reduces() && r != type) continue;
          if (spec.Reduces()) spec.reduction = kReductions[r];
          add(spec);
        }
      }
  return calls;
}

std::vector<CollectiveSpec> TimedCalls(int ranks, std::int64_t bytes) {
  std::vector<CollectiveSpec> calls;
  for (const Collective kind : {Collective::kAllReduce, Collective::kReduce, Collective::kReduceScatter,
                                Collective::kAllGather, Collective::kBroadcast, Collective::kAllToAll}) {
    CollectiveSpec spec;
    spec.collective = kind, spec.type = FindNcclType("float32"), spec.ranks = ranks;
    if (spec.Reduces()) spec.reduction = Reduction::kSum;
    // A chunk of each rank, where the buffer is made of chunks.
    const bool whole = spec.MostBytes() <= static_cast<double>(spec.type->size);
    spec.count = bytes / static_cast<std::int64_t>(spec.type->size) / (whole ? 1 : ranks);
    calls.push_back(spec);
  }
  return calls;
}

double BusFactor(const CollectiveSpec& spec) {
  const double others = static_cast<double>(spec.ranks - 1) / spec.ranks;
  switch (spec.collective) {
    case Collective::kAllReduce:
      return 2 * others;
    case Collective::kReduce:
    case Collective::kBroadcast:
      return 1;
    default:
      return others;
  }
}

}  // namespace cudnn_ci
