// nccl.ranks and nccl.gpus: collectives of several ranks, a process for each, on one GPU or on several.
#include "nccl/ranks_together.h"

#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "common/visible_gpus.h"
#include "nccl/findings.h"
#include "nccl/link_causes.h"
#include "nccl/ranks_case.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kMostRanks = 16;

std::string ComputeModeOfDevice(const Context& ctx) {
  const int count = std::atoi(ctx.Fact(CCI_FACT_GPU_COUNT).c_str());
  for (int i = 0; i < count; ++i) {
    const std::string gpu = CCI_FACT_GPU + std::to_string(i);
    if (ctx.Fact((gpu + CCI_FACT_GPU_UUID).c_str()) == ctx.DeviceUuid())
      return ctx.Fact((gpu + CCI_FACT_GPU_COMPUTE_MODE).c_str());
  }
  return "";
}

// Nothing but the image's NCCL lies between ranks of one GPU.
struct Ranks {
  using Params = RanksParams;

  static void Describe(Schema<Params>& s) {
    DescribeRanks(s);
    s.Summary("collectives of several ranks on one GPU are right").Devices(CCI_DEVICES_ONE);
    s.Param("ranks", &Params::ranks)
        .Range(2, kMostRanks)
        .Default(2)
        .Summary("number of processes on the GPU");
  }

  static void Run(Context& ctx, const Params& p) {
    RequireOwnProcess(ctx);
    const std::string mode = ComputeModeOfDevice(ctx);
    const bool mig = ctx.DeviceUuid().compare(0, 4, "MIG-") == 0;
    if (mig || (!mode.empty() && mode != "default"))
      ctx.Skip(CCI_SKIP_ABSENT, "a whole GPU that several processes may use",
               mig ? "MIG" : "compute mode " + mode);
    const int ranks = static_cast<int>(p.ranks);
    RankJob job = JobOf(p, ranks);
    job.one_gpu = true;
    job.environment["NCCL_MULTI_RANK_GPU_ENABLE"] = "1";
    Report(ctx, VerdictOf(ctx, RunTogether(job), {kRanksWrong, kRanksHung, kRanksFailed, kRanksDied}, ranks));
  }
};

CCI_REGISTER(Ranks, "ranks")

const std::vector<Way>& Ways() {
  static const std::vector<Way> kWays = {{"default", {}},
                                         {"shared_memory", {{"NCCL_P2P_DISABLE", "1"}}},
                                         {"sockets", {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}}}};
  return kWays;
}

struct Gpus {
  using Params = RanksParams;

  static void Describe(Schema<Params>& s) {
    DescribeRanks(s);
    s.Summary("collectives of all GPUs of the run are right").Devices(CCI_DEVICES_ALL);
    s.Param("transport", &Params::transport)
        .OneOf({"default", "shared_memory", "sockets"})
        .Default("default")
        .Summary("fastest transport between GPUs that NCCL may use");
    DescribeBandwidth(s);
  }

  static void Run(Context& ctx, const Params& p) {
    RequireOwnProcess(ctx);
    const int gpus = VisibleGpus();
    if (gpus < 2)
      ctx.Skip(CCI_SKIP_ABSENT, "two GPUs or more (--device all)", std::to_string(gpus) + " in the run");
    const WaysTried tried = TryWays(ctx, Ways(), p.transport, [&](const Way& way) {
      RankJob job = JobOf(p, gpus);
      job.environment.insert(way.environment.begin(), way.environment.end());
      return RunTogether(job);
    });
    const RanksFindings findings =
        tried.right_by.empty() ? RanksFindings{kRanksWrong, kGpusHung, kRanksFailed, kRanksDied}
                               : RanksFindings{kGpusLinkWrong, kGpusLinkHung, kGpusLinkHung, kRanksDied};
    std::string behind = tried.right_by.empty() ? tried.wrong_by : tried.right_by;
    if (MayBeTheWays(tried.first.end)) behind += LinkCausesSeen();
    Report(ctx, VerdictOf(ctx, tried.first, findings, gpus, behind));
  }
};

CCI_REGISTER(Gpus, "gpus")

}  // namespace
}  // namespace cudnn_ci
