// framework.torch_collective, .jax_collective, .torch_gpus and .jax_gpus: collectives by the framework
// itself, on one GPU and on all of the run, are right, bit for bit.
//
// PyTorch has a process for each rank, all below a leader that ends them together; JAX has one process for
// all. What comes is judged by the data of nccl.collective (nccl/collective_data.h).
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <filesystem>

#include "common/judge.h"
#include "common/known_rows.h"
#include "common/loader_path.h"
#include "common/program.h"
#include "common/visible_gpus.h"
#include "framework/collective_files.h"
#include "framework/findings.h"
#include "framework/how_it_went.h"
#include "framework/loaded.h"
#include "nccl/known_faults.h"

namespace cudnn_ci {
namespace {

// "PyTorch 2.11.0 with NCCL 2.28.9 (/...)".
std::string WithNccl(const Framework& framework, const Answer& answer) {
  const std::string version = answer.nccl_version > 0 ? NcclVersionText(answer.nccl_version) : "";
  return NameOf(framework, answer) +
         (version.empty() ? "" : " with NCCL " + version + " (" + answer.nccl_file + ")");
}

std::string Known(const Context& ctx, const Answer& answer, const CollectiveSpec& spec, const char* effect) {
  const HitsCase hits = [&spec](const Predicates& of_row) { return HitsCollective(of_row, spec); };
  if (answer.nccl_version == 0) return "";
  return TextOfKnown(KnownRowsOf(ctx, NcclVersionText(answer.nccl_version), hits, kNccl), {effect}, hits);
}

void Tell(Context& ctx, const Framework& framework, const Answer& answer, int ranks) {
  std::string text = WithNccl(framework, answer) + ", ranks: " + std::to_string(ranks) + "\n";
  for (const std::string& call : answer.left_out) text += "left out by its compiler: " + call + "\n";
  for (const std::string& file : answer.mapped) text += "in memory: " + file + "\n";
  ctx.Attach("framework.txt", "text/plain", text);
}

void SkipIfLacking(Context& ctx, const Framework& framework, const Asked& asked) {
  const Answer& answer = asked.answer;
  const bool for_cpu = answer.devices == 0 && answer.built_cuda.empty() && !answer.built_hip;
  if (!answer.lacks.empty() || for_cpu)
    ctx.Skip(CCI_SKIP_ABSENT, framework.title + " for CUDA with NCCL in " + asked.python,
             for_cpu ? WhyNoGpu(framework, asked)
                     : NameOf(framework, answer) + " was built without " + answer.lacks);
}

// What became of a rank's process: "rank 1 was killed by signal 11 (Segmentation fault) at "import"".
std::string EndOfRank(int rank, const Answer& said, const Asked& leader) {
  const auto end = leader.answer.rank_ends.find(rank);
  const std::string name = "rank " + std::to_string(rank), at = " at \"" + said.step + "\"";
  if (!said.errors.empty()) return name + " failed at \"" + said.failed_at + "\": " + said.LastError();
  if (end == leader.answer.rank_ends.end())
    return name + (said.step.empty() ? " had not begun" : " waited" + at);
  if (end->second == 0 && said.ended) return name + " finished";
  return name + " " + HowEnded({end->second, std::max(0, -end->second), false, ""}) + at;
}

// Of several processes, whether each came to its end. The ranks that are furthest behind come first.
bool JudgeRanks(Context& ctx, const Framework& framework, const Interpreter& p, const Asked& leader,
                const std::vector<Answer>& said, const CollectiveSpec& spec) {
  std::vector<int> order;
  bool whole = leader.answer.ended && leader.end.exit_status == 0;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    const auto end = leader.answer.rank_ends.find(rank);
    const Answer& answer = said[static_cast<size_t>(rank)];
    order.push_back(rank);
    whole = whole && end != leader.answer.rank_ends.end() && end->second == 0 && answer.ended &&
            answer.errors.empty() && answer.problem.empty();
  }
  std::stable_sort(order.begin(), order.end(), [&said](int a, int b) {
    return said[static_cast<size_t>(a)].steps < said[static_cast<size_t>(b)].steps;
  });
  return Judge(ctx, whole, "each rank finishes", kFrameworkGpusFailed, [&] {
    std::string text = WithNccl(framework, said.front()) + ": ";
    if (leader.end.timed_out) text += "did not finish within " + SecondsText(p.timeout_s) + "; ";
    for (const int rank : order) text += EndOfRank(rank, said[static_cast<size_t>(rank)], leader) + "; ";
    return text + LastLine(leader.end.output) +
           Known(ctx, said.front(), spec, leader.end.timed_out ? "hang" : "failure");
  });
}

bool JudgeResult(Context& ctx, const Framework& framework, const Answer& answer, const std::string& folder,
                 const std::vector<CollectiveSpec>& calls, size_t index) {
  const CollectiveSpec& spec = calls[index];
  const std::string wrong = WrongWith(folder, calls, index);
  return Judge(ctx, wrong.empty(), spec.Text() + ": right",
               spec.ranks > 1 ? kFrameworkGpusWrong : kFrameworkWrongCollective, [&] {
                 return WithNccl(framework, answer) + ", " + spec.Text() + ": " + wrong +
                        Known(ctx, answer, spec, "wrong");
               });
}

// Of a framework that did not come to its end: whether the results that it had until then are right.
bool JudgeResultsSoFar(Context& ctx, const Framework& framework, const Answer& answer,
                       const std::string& folder, const std::vector<CollectiveSpec>& calls) {
  bool right = true;
  for (size_t i = 0; i < calls.size(); ++i)
    if (HasResults(folder, calls, i)) right = JudgeResult(ctx, framework, answer, folder, calls, i) && right;
  return right;
}

void JudgeCollectives(Context& ctx, const Probe& probe, const Interpreter& p, int ranks) {
  const Framework framework = FrameworkOf(ctx, probe);
  const bool processes = ranks > 1 && framework.name == kTorch.name;
  const std::string folder = ctx.ScratchDir() + "/collectives";
  const std::vector<CollectiveSpec> calls = CollectivesOf(probe, ranks);
  WriteCollectives(folder, calls);
  std::vector<std::string> environment;
  if (probe.environment) environment.emplace_back(probe.environment);
  const Asked leader =
      Ask(ctx, p, framework.name, ProblemOf(folder, calls, processes ? ranks : 1), environment);
  std::vector<Answer> said = {leader.answer};
  if (processes) said.clear();
  for (int rank = 0; processes && rank < ranks; ++rank)
    said.push_back(ReadAnswer(folder + "/answer." + std::to_string(rank)));
  const Asked asked = {{leader.python, leader.end}, said.front()};
  SkipIfAbsent(ctx, framework, asked);
  Tell(ctx, framework, asked.answer, ranks);
  if (!JudgeImport(ctx, framework, asked)) return;
  SkipIfLacking(ctx, framework, asked);
  if (!processes && !JudgeEnd(ctx, framework, p, asked)) return;
  if (asked.answer.devices && !JudgeGpus(ctx, framework, asked, ranks)) return;
  const bool failed =
      std::any_of(said.begin(), said.end(), [](const Answer& of_rank) { return !of_rank.errors.empty(); });
  // Too little memory for a later call excuses no wrong result.
  if (failed && !JudgeResultsSoFar(ctx, framework, asked.answer, folder, calls)) return;
  for (const Answer& of_rank : said) SkipIfOutOfMemory(ctx, framework, of_rank.LastError());
  if (processes && !JudgeRanks(ctx, framework, p, leader, said, calls.front())) return;
  if (!JudgeErrors(ctx, framework, asked)) return;
  for (size_t i = 0; i < calls.size(); ++i) JudgeResult(ctx, framework, asked.answer, folder, calls, i);
  ctx.Measure("collectives", static_cast<double>(calls.size()), "");
  std::error_code error;
  std::filesystem::remove_all(folder, error);
}

void OfOneRank(Context& ctx, const Probe& probe, const Interpreter& p) { JudgeCollectives(ctx, probe, p, 1); }

constexpr char kRight[] = "computes the right results in collectives of one rank";

template <const Probe& kProbe>
using OnOneGpu = FrameworkCheck<kProbe, kRight, OfOneRank>;

CCI_REGISTER(OnOneGpu<kTorch>, "torch_collective")
CCI_REGISTER(OnOneGpu<kJax>, "jax_collective")

template <const Probe& kProbe>
struct OnAllGpus {
  using Params = Interpreter;
  static void Describe(Schema<Params>& s) {
    s.Summary("the image's own " + std::string(kProbe.title) +
              " computes the right results in collectives of all GPUs of the run")
        .Devices(CCI_DEVICES_ALL)
        .Requires("driver.canary");
    DescribeInterpreter(s, 240);
  }
  static void Validate(const Params& p, Problems& problems) { ValidateInterpreter(p, problems); }
  static void Run(Context& ctx, const Params& p) {
    const int gpus = VisibleGpus();
    if (gpus < 2)
      ctx.Skip(CCI_SKIP_ABSENT, "two GPUs or more (--device all)", std::to_string(gpus) + " in the run");
    JudgeCollectives(ctx, kProbe, p, gpus);
  }
};

CCI_REGISTER(OnAllGpus<kTorch>, "torch_gpus")
CCI_REGISTER(OnAllGpus<kJax>, "jax_gpus")

}  // namespace
}  // namespace cudnn_ci
