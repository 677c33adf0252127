// nccl.ranks and nccl.gpus: collectives of several ranks, a process for each, on one GPU or on several.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/known_rows.h"
#include "common/visible_gpus.h"
#include "nccl/findings.h"
#include "nccl/known_faults.h"
#include "nccl/link_causes.h"
#include "nccl/ranks_together.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kMostRanks = 16;

// What the checks have in common.
struct RanksParams {
  std::string extent, algo, proto, transport;
  std::int64_t ranks = 2, limit_s = 20;
};

void DescribeRanks(Schema<RanksParams>& s) {
  using Params = RanksParams;
  s.Layer(CCI_LAYER_CONVOLUTION).PerSubject().Requires("nccl.init").TimeoutSeconds(120);
  s.Param("extent", &Params::extent)
      .OneOf({"least", "few", "all"})
      .Default("few")
      .Summary("each collective once, in some types, or in every type, reduction and count");
  s.Param("algo", &Params::algo)
      .OneOf({"auto", "ring", "tree", "nvls", "collnet"})
      .Default("auto")
      .Summary("NCCL_ALGO");
  s.Param("proto", &Params::proto)
      .OneOf({"auto", "simple", "ll", "ll128"})
      .Default("auto")
      .Summary("NCCL_PROTO");
  s.Param("limit_s", &Params::limit_s)
      .Range(1, 600)
      .Default(20)
      .Summary("seconds in which a rank has to go on; then they hang");
}

RankJob JobOf(const RanksParams& p, int ranks) {
  RankJob job;
  job.ranks = ranks;
  job.limit_s = static_cast<double>(p.limit_s);
  job.calls = CallsOf(ranks, p.extent == "all"   ? CallSet::kAll
                             : p.extent == "few" ? CallSet::kFew
                                                 : CallSet::kLeast);
  if (p.algo != "auto") job.environment["NCCL_ALGO"] = p.algo;
  if (p.proto != "auto") job.environment["NCCL_PROTO"] = p.proto;
  return job;
}

// CUDA does not survive a fork.
void RequireOwnProcess(Context& ctx) {
  if (void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(driver);
    ctx.Skip(CCI_SKIP_ABSENT, "a process of its own, into which nothing of CUDA is loaded",
             "libcuda.so.1 in memory");
  }
}

// Skips the case for what its first job lacks. Behind a job that went wrong nothing is skipped any more.
RanksOutcome RunFirst(Context& ctx, const RankJob& job) {
  RanksOutcome outcome = RunTogether(job);
  if (outcome.end == RanksEnd::kLacking)
    ctx.Skip(CCI_SKIP_VERSION, outcome.text.substr(0, outcome.text.find(", saw")),
             outcome.library.empty() ? outcome.text : outcome.library);
  if (outcome.end == RanksEnd::kMemory)
    ctx.SkipMemory(CCI_MEMORY_DEVICE, "device memory for " + std::to_string(job.ranks) + " ranks",
                   outcome.text);
  return outcome;
}

// The effect by which a known fault explains this end; empty: none does.
const char* EffectOf(RanksEnd end) {
  switch (end) {
    case RanksEnd::kWrong:
      return "wrong";
    case RanksEnd::kHung:
      return "hang";
    case RanksEnd::kFailed:
      return "failure";
    case RanksEnd::kDied:
      return "crash";
    default:
      return "";
  }
}

// "; known: ...", of the release that rank 0 has told.
std::string Known(const Context& ctx, const RanksOutcome& outcome, int ranks) {
  const std::string version = outcome.library.substr(std::min<std::size_t>(5, outcome.library.size()));
  CollectiveSpec spec;
  spec.ranks = ranks;
  const HitsCase hits = [&spec](const Predicates& of_row) { return HitsCollective(of_row, spec); };
  return TextOfKnown(KnownRowsOf(ctx, version.substr(0, version.find_first_of("+ ")), hits, kNccl),
                     {EffectOf(outcome.end)}, hits);
}

// The findings by which ranks that did not end right are told.
struct RanksFindings {
  const char *wrong, *hung, *failed, *died;
  const char* Of(RanksEnd end) const {
    switch (end) {
      case RanksEnd::kWrong:
        return wrong;
      case RanksEnd::kHung:
        return hung;
      case RanksEnd::kDied:
        return died;
      default:
        return failed;
    }
  }
};

void Report(Context& ctx, const RanksOutcome& outcome, const RanksFindings& findings, int ranks,
            const std::string& behind = "") {
  if (outcome.end == RanksEnd::kRight) {
    ctx.Measure("collectives", outcome.judged, "");
    CCI_EXPECT_GT(outcome.judged, 0);
    return;
  }
  ctx.Finding(findings.Of(outcome.end),
              outcome.text + behind + "; " + outcome.library + Known(ctx, outcome, ranks));
}

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
    s.Param("ranks", &Params::ranks).Range(2, kMostRanks).Default(2).Summary("processes on the GPU");
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
    Report(ctx, RunFirst(ctx, job), {kRanksWrong, kRanksHung, kRanksFailed, kRanksDied}, ranks);
  }
};

CCI_REGISTER(Ranks, "ranks")

// Ways between GPUs, the fastest first, by what is taken from NCCL. One that is right beside one that is not
// shows that the library is right and the way is not.
struct Transport {
  const char* name;
  std::vector<const char*> without;
};

const std::vector<Transport>& Transports() {
  static const std::vector<Transport> kTransports = {{"default", {}},
                                                     {"shared_memory", {"NCCL_P2P_DISABLE"}},
                                                     {"sockets", {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}}};
  return kTransports;
}

struct Gpus {
  using Params = RanksParams;

  static void Describe(Schema<Params>& s) {
    DescribeRanks(s);
    s.Summary("collectives of all GPUs of the run are right").Devices(CCI_DEVICES_ALL);
    s.Param("transport", &Params::transport)
        .OneOf({"default", "shared_memory", "sockets"})
        .Default("default")
        .Summary("the fastest way between GPUs that NCCL may take");
  }

  static void Run(Context& ctx, const Params& p) {
    RequireOwnProcess(ctx);
    const int gpus = VisibleGpus();
    if (gpus < 2)
      ctx.Skip(CCI_SKIP_ABSENT, "two GPUs or more (--device all)", std::to_string(gpus) + " in the run");
    const std::vector<Transport>& all = Transports();
    auto way =
        std::find_if(all.begin(), all.end(), [&](const Transport& t) { return p.transport == t.name; });
    ctx.Step(way->name);
    const RanksOutcome first = RunFirst(ctx, JobBy(p, gpus, *way));
    // A process that ended, often by a signal from outside, says nothing of the link.
    if (first.end == RanksEnd::kRight || first.end == RanksEnd::kDied)
      return Report(ctx, first, kFindings, gpus);
    std::string tried;
    for (const std::string failed = way->name; ++way != all.end();) {
      ctx.Step(way->name);
      const RanksOutcome other = RunTogether(JobBy(p, gpus, *way));
      if (other.end == RanksEnd::kRight)
        return Report(ctx, first, {kGpusLinkWrong, kGpusLinkHung, kGpusLinkHung, kRanksDied}, gpus,
                      "; by " + failed + ", and by " + way->name + " all is right" + LinkCausesSeen());
      tried += "; by " + std::string(way->name) + ": " + other.text;
    }
    Report(ctx, first, kFindings, gpus, tried + LinkCausesSeen());
  }

 private:
  static constexpr RanksFindings kFindings = {kRanksWrong, kGpusHung, kRanksFailed, kRanksDied};

  static RankJob JobBy(const Params& p, int gpus, const Transport& way) {
    RankJob job = JobOf(p, gpus);
    for (const char* variable : way.without) job.environment[variable] = "1";
    return job;
  }
};

CCI_REGISTER(Gpus, "gpus")

}  // namespace
}  // namespace cudnn_ci
