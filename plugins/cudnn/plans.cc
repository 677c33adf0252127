// cudnn.plans: can cuDNN choose engines and build plans? Needs no GPU and no driver: a device is described by
// a text. Where the heuristics' or the engines' library is there and of no use, nothing else says a word:
// handles, descriptors and version checks succeed, and the heuristics give nothing.
#include <cudnn_ci/check.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>

#include "common/cudnn_api.h"
#include "common/cudnn_failure.h"
#include "common/cudnn_loaded.h"
#include "common/judge.h"
#include "cudnn/backend.h"
#include "cudnn/contract.h"
#include "cudnn/findings.h"
#include "cudnn/install.h"

namespace cudnn_ci {
namespace {

constexpr PlanProblem kProblems[] = {{"float16, channels last, 3x3", CUDNN_DATA_HALF, true, 3},
                                     {"float32, channels first, 1x1", CUDNN_DATA_FLOAT, false, 1},
                                     {"bfloat16, channels last, 5x5", CUDNN_DATA_BFLOAT16, true, 5}};

// Seen to build plans for a described device; 9.5 does not know the descriptor.
constexpr std::size_t kFirstVersion = 90800;

// Between them stand the statuses of cuDNN 9 for what it does not know or would not have so.
constexpr int kFirstBadParam = 2000, kFirstUnsupported = 3000;

struct Outcome {
  std::optional<BuiltPlans> built;
  std::string failure;
};

// The main library, the graph library and what heuristics and engines are in must be there to be asked.
void SkipWhatCannot(Context& ctx, const CudnnInstall& install, const CudnnApi& cudnn) {
  if (cudnn.version() < kFirstVersion)
    ctx.Skip(CCI_SKIP_VERSION,
             "cuDNN " + CudnnVersionText(kFirstVersion) + " or later, which plans without a GPU",
             "cuDNN " + cudnn.VersionText() + " " + install.main.path);
  if (install.jit_only())
    ctx.Skip(CCI_SKIP_ABSENT, "cuDNN's heuristics (libcudnn_heuristic) and engines compiled ahead",
             "a JIT-only cuDNN " + cudnn.VersionText() + ": " + install.main.path);
}

// The device that plans are built for; nothing: the finding was reported.
std::optional<GraphDescriptor> Device(Context& ctx, const CudnnApi& api, const std::string& about) {
  try {
    return DescribeDevice(api);
  } catch (const CudnnFailure& e) {
    // A release that wants to know more of a device than this text tells is not broken.
    if (e.unsupported() || (e.status() >= kFirstBadParam && e.status() < kFirstUnsupported))
      ctx.Skip(CCI_SKIP_VERSION, "a cuDNN that takes this description of a device", e.what() + about);
    ctx.Finding(kCudnnPlansFailed, e.what() + about);
  } catch (const MissingSymbol& e) {
    ctx.Finding(kCudnnPlansFailed, e.what() + about);
  }
  return std::nullopt;
}

// Each problem in a thread of its own, as a framework's loader threads do it, and all plans held at once.
std::array<Outcome, std::size(kProblems)> BuildAll(const CudnnApi& api, const GraphDescriptor& device,
                                                   std::int64_t most) {
  std::array<Outcome, std::size(kProblems)> outcomes;
  const auto work = [&](std::size_t i) {
    try {
      outcomes[i].built.emplace(BuildPlans(api, device, kProblems[i], most));
    } catch (const std::exception& e) {
      outcomes[i].failure = e.what();
    }
  };
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < std::size(kProblems); ++i) {
    try {
      running.emplace_back(work, i);
    } catch (const std::system_error&) {
      work(i);  // this user may have no more threads
    }
  }
  for (std::thread& thread : running) thread.join();
  return outcomes;
}

void JudgeOutcomes(Context& ctx, const std::array<Outcome, std::size(kProblems)>& outcomes,
                   const std::string& about) {
  std::string failed, without;
  std::size_t plans = 0;
  const auto add = [](std::string& all, const char* problem, const std::string& what) {
    all += (all.empty() ? "" : "; ") + std::string(problem) + ": " + what;
  };
  for (std::size_t i = 0; i < std::size(kProblems); ++i) {
    if (!outcomes[i].built) {
      add(failed, kProblems[i].name, outcomes[i].failure);
      continue;
    }
    const BuiltPlans& built = *outcomes[i].built;
    plans += built.plans.size();
    if (!built.plans.empty()) continue;
    add(without, kProblems[i].name,
        built.given == 0
            ? "the heuristics announce " + std::to_string(built.announced) +
                  " configurations of engines, but return none"
            : "none of " + std::to_string(built.given) + " configurations can be built: " + built.refusal);
  }
  Judge(ctx, failed.empty(), "cuDNN's heuristics and engines answer", kCudnnPlansFailed,
        [&] { return failed + about; });
  Judge(ctx, without.empty(), "there is a plan for each plain convolution", kCudnnNoPlans,
        [&] { return without + about; });
  ctx.Measure("plans", static_cast<double>(plans), "", CCI_GOAL_NONE);
}

struct Plans {
  struct Params {
    std::int64_t plans = 0;
  };
  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN chooses engines for plain convolutions and builds plans with them, without a GPU")
        .Layer(CCI_LAYER_CUDNN)
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .Requires("cudnn.load")
        // A missing libcublasLt, which it names, would end the process here.
        .Requires("cudnn.version")
        // Several hundred megabytes of engines are read from a cold disk.
        .TimeoutSeconds(120);
    s.Param("plans", &Params::plans)
        .Range(1, 100)
        .Default(4)
        .Summary("most plans that are built for each convolution");
  }

  static void Run(Context& ctx, const Params& p) {
    const CudnnContract contract = ReadCudnnContract(ctx);
    if (contract.absent) ctx.Skip(CCI_SKIP_ABSENT, "cuDNN", "the matrix promises an image without one");
    CudnnInstall install = InspectCudnn(contract.majors);
    contract.SkipUnlessPromised(ctx, install.found());
    CCI_ASSERT_TRUE(LoadCudnn(&install)) << install.main.error;
    for (const CudnnPart* part : install.Awaiting())
      ctx.Skip(CCI_SKIP_ABSENT, part->awaits + ", which " + part->path + " needs",
               "no driver on this machine");
    CudnnApi cudnn;
    CCI_ASSERT_TRUE(cudnn.LoadFile(install.main.path)) << cudnn.error();
    SkipWhatCannot(ctx, install, cudnn);
    const std::string about = "; cuDNN " + cudnn.VersionText() + " " + install.main.path;
    ctx.Step("described device");
    const std::optional<GraphDescriptor> device = Device(ctx, cudnn, about);
    if (!device) return;
    ctx.Step("heuristics and plans");
    const auto start = std::chrono::steady_clock::now();
    const auto outcomes = BuildAll(cudnn, *device, p.plans);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    JudgeOutcomes(ctx, outcomes, about);
    JudgeLoadedCudnn(ctx, kCudnnMixedDirectories);
    ctx.Measure("plans_ms", took.count(), "ms");
  }
};

CCI_REGISTER(Plans, "plans")

}  // namespace
}  // namespace cudnn_ci
