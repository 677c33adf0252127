// What several ranks do together, one process for each, and what they say of it. Data alone; must not know
// CUDA or the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_RANK_JOB_H_
#define CUDNN_CI_PLUGINS_NCCL_RANK_JOB_H_

#include <map>
#include <string>
#include <vector>

#include "nccl/collective_spec.h"

namespace cudnn_ci {

struct RankJob {
  int ranks = 2;
  bool one_gpu = false;                            // all use device 0; else each of a process's ranks another
  std::map<std::string, std::string> environment;  // of each rank, over the process's own
  std::vector<CollectiveSpec> calls;
  std::vector<CollectiveSpec> timed;  // behind them, of which only the time is asked
  // For which nothing may happen at any rank; then they hang.
  double limit_s = 30;
};

// What ranks tell their leader, a letter each, with words behind it in a line.
enum class RankWord : char {
  kId = 'I',       // of rank 0: the unique id, in hexadecimal digits
  kLibrary = 'T',  // "NCCL 2.30.7+cuda13.0 (/...)"
  kStep = 'S',     // the call that begins
  kWaits = 'W',    // nothing has come for most of the limit: NCCL's last error
  kWrong = 'F',    // what is wrong with a result
  kFailed = 'E',   // a call failed: the end of the rank
  kMemory = 'M',   // the same for want of device memory
  kLacks = 'L',    // the library or the GPU lacks something for all calls: the end of the rank
  kTime = 'B',     // a timed call: its name, bytes, BusFactor, and the seconds that it takes
  kDone = 'D',     // all calls are done: how many were judged
  kEnded = 'X'     // of the process that forked it: how its process ended
};

// How long a leader waits for what ranks say before it looks at the clock again.
inline constexpr int kRankLookMs = 20;

// How many collectives a case has: each kind once; each in some types, which take turns in reductions and
// counts; or each in every type, reduction and count.
enum class CallSet { kLeast, kFew, kAll };

// The collectives of a case. Roots, places and shifts take turns.
std::vector<CollectiveSpec> CallsOf(int ranks, CallSet set);

// Calls by which nccl-tests measures
// (https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md), of so
// many bytes as it counts them: the largest buffer of a rank.
std::vector<CollectiveSpec> TimedCalls(int ranks, std::int64_t bytes);
// What a byte of them counts on the link that is used most: its "busbw" is its
// "algbw", bytes by time, times this.
double BusFactor(const CollectiveSpec& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_RANK_JOB_H_
