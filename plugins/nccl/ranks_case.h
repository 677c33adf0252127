// What the checks of several ranks have in common: their parameters, the ways by which they try again, and
// the verdict.
#ifndef CUDNN_CI_PLUGINS_NCCL_RANKS_CASE_H_
#define CUDNN_CI_PLUGINS_NCCL_RANKS_CASE_H_

#include <cudnn_ci/check.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "nccl/rank_job.h"
#include "nccl/rank_tally.h"

namespace cudnn_ci {

// The members that all the checks have; all others but limit_s are those of
// single ones.
struct RanksParams {
  std::string extent, algo, proto, transport;
  std::int64_t ranks = 2, limit_s = 20, join_s = 120, bandwidth_mib = 0;
};

void DescribeRanks(Schema<RanksParams>& schema);
// The parameter bandwidth_mib.
void DescribeBandwidth(Schema<RanksParams>& schema);
RankJob JobOf(const RanksParams& params, int ranks);

// Skips the case unless this is a process of its own, into which nothing of CUDA is loaded: CUDA does not
// survive a fork.
void RequireOwnProcess(Context& ctx);

// What is said of a case, by each process that has a part in it.
struct RanksVerdict {
  enum class Kind { kRight, kFinding, kSkippedVersion, kSkippedMemory };
  Kind kind = Kind::kRight;
  std::string finding;  // its id
  std::string text;     // the finding's; of a skip what it lacks
  std::string seen;     // of a skip
  int judged = 0;       // collectives
  // "all_reduce_busbw": in GB/s, as nccl-tests has them.
  std::map<std::string, double> figures;
};

// The findings by which ranks that did not end right are told.
struct RanksFindings {
  const char *wrong, *hung, *failed, *died;
};

// `behind` stands behind what the ranks said.
RanksVerdict VerdictOf(const Context& ctx, const RanksOutcome& outcome, const RanksFindings& findings,
                       int ranks, const std::string& behind = "");
void Report(Context& ctx, const RanksVerdict& verdict);

// A way between ranks, by what is set for it. Ways stand from the fastest to the slowest: one that is right
// beside one that is not shows that the library is right and the way is not.
struct Way {
  const char* name;
  std::map<std::string, std::string> environment;
};

// What came of a way, and of those behind it where it was not right.
struct WaysTried {
  RanksOutcome first;
  std::string right_by;  // "; by default, but right by sockets"; empty: none is
  std::string wrong_by;  // "; by sockets: rank 0: ...": what others came to
};

// Runs by the way of that name, and where the end may be the way's by those behind it, until one is right.
WaysTried TryWays(Context& ctx, const std::vector<Way>& ways, const std::string& name,
                  const std::function<RanksOutcome(const Way& way)>& run);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_RANKS_CASE_H_
