#include "nccl/ranks_case.h"

#include <dlfcn.h>

#include <algorithm>

#include "common/known_rows.h"
#include "nccl/findings.h"
#include "nccl/known_faults.h"

namespace cudnn_ci {
namespace {

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

const char* FindingOf(RanksEnd end, const RanksFindings& findings) {
  switch (end) {
    case RanksEnd::kWrong:
      return findings.wrong;
    case RanksEnd::kHung:
      return findings.hung;
    case RanksEnd::kDied:
      return findings.died;
    default:
      return findings.failed;
  }
}

}  // namespace

void DescribeRanks(Schema<RanksParams>& s) {
  using Params = RanksParams;
  s.Layer(CCI_LAYER_CONVOLUTION).PerSubject().Requires("nccl.init").TimeoutSeconds(120);
  s.Param("extent", &Params::extent)
      .OneOf({"least", "few", "all"})
      .Default("few")
      .Summary(
          "each collective once (least), in some types (few), or in every type, reduction and count (all)");
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
      .Summary("seconds without progress after which the ranks count as hung");
}

void DescribeBandwidth(Schema<RanksParams>& s) {
  s.Param("bandwidth_mib", &RanksParams::bandwidth_mib)
      .Range(0, std::int64_t{1} << 20)
      .Default(0)
      .Summary("largest buffer of a rank with which bandwidth is measured, in MiB; 0: it is not measured");
}

RankJob JobOf(const RanksParams& p, int ranks) {
  RankJob job;
  job.ranks = ranks;
  job.limit_s = static_cast<double>(p.limit_s);
  job.calls = CallsOf(ranks, p.extent == "all"   ? CallSet::kAll
                             : p.extent == "few" ? CallSet::kFew
                                                 : CallSet::kLeast);
  if (p.bandwidth_mib > 0 && ranks > 1) job.timed = TimedCalls(ranks, p.bandwidth_mib << 20);
  if (p.algo != "auto") job.environment["NCCL_ALGO"] = p.algo;
  if (p.proto != "auto") job.environment["NCCL_PROTO"] = p.proto;
  return job;
}

void RequireOwnProcess(Context& ctx) {
  if (void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(driver);
    ctx.Skip(CCI_SKIP_ABSENT, "a separate process without CUDA libraries", "libcuda.so.1 in memory");
  }
}

RanksVerdict VerdictOf(const Context& ctx, const RanksOutcome& outcome, const RanksFindings& findings,
                       int ranks, const std::string& behind) {
  RanksVerdict verdict;
  verdict.judged = outcome.judged;
  verdict.figures = outcome.figures;
  using Kind = RanksVerdict::Kind;
  switch (outcome.end) {
    case RanksEnd::kRight:
      break;
    case RanksEnd::kLacking:
      verdict.kind = Kind::kSkippedVersion;
      verdict.text = outcome.text.substr(0, outcome.text.find(", saw"));
      verdict.seen = outcome.library.empty() ? outcome.text : outcome.library;
      break;
    case RanksEnd::kMemory:
      verdict.kind = Kind::kSkippedMemory;
      verdict.text = "device memory for " + std::to_string(ranks) + " ranks";
      verdict.seen = outcome.text;
      break;
    default:
      verdict.kind = Kind::kFinding;
      verdict.finding = FindingOf(outcome.end, findings);
      verdict.text = outcome.text + behind + "; " + outcome.library + Known(ctx, outcome, ranks);
  }
  return verdict;
}

void Report(Context& ctx, const RanksVerdict& verdict) {
  switch (verdict.kind) {
    case RanksVerdict::Kind::kRight:
      ctx.Measure("collectives", verdict.judged, "");
      for (const auto& [name, gigabytes] : verdict.figures)
        ctx.Measure(name.c_str(), gigabytes, "GB/s", CCI_GOAL_HIGHER);
      CCI_EXPECT_GT(verdict.judged, 0);
      break;
    case RanksVerdict::Kind::kFinding:
      ctx.Finding(verdict.finding.c_str(), verdict.text);
      break;
    case RanksVerdict::Kind::kSkippedVersion:
      ctx.Skip(CCI_SKIP_VERSION, verdict.text, verdict.seen);
      break;
    case RanksVerdict::Kind::kSkippedMemory:
      ctx.SkipMemory(CCI_MEMORY_DEVICE, verdict.text, verdict.seen);
      break;
  }
}

WaysTried TryWays(Context& ctx, const std::vector<Way>& ways, const std::string& name,
                  const std::function<RanksOutcome(const Way&)>& run) {
  auto way = std::find_if(ways.begin(), ways.end(), [&](const Way& w) { return name == w.name; });
  ctx.Step(way->name);
  WaysTried tried;
  tried.first = run(*way);
  if (!MayBeTheWays(tried.first.end)) return tried;
  while (++way != ways.end()) {
    ctx.Step(way->name);
    const RanksOutcome other = run(*way);
    if (other.end == RanksEnd::kRight) {
      tried.right_by = "; by " + name + ", but right by " + way->name;
      break;
    }
    tried.wrong_by += "; by " + std::string(way->name) + ": " + other.text;
  }
  return tried;
}

}  // namespace cudnn_ci
