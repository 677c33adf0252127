// framework.torch, .tensorflow, .jax, .onnxruntime, .ctranslate2 and .cupy: the framework sees the GPU,
// computes right numbers on it, and does so with a cuDNN that it can use.
//
// The script reports values; what they mean is judged here, in the order in which one cause hides another: it
// cannot be imported, its libraries do not go together, it died, it sees no GPU, it failed, its numbers are
// wrong.
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <set>

#include "common/judge.h"
#include "common/known_attention.h"
#include "framework/findings.h"
#include "framework/how_it_went.h"
#include "framework/interpreter.h"
#include "framework/loaded.h"
#include "framework/problem.h"
#include "framework/rules.h"

namespace cudnn_ci {
namespace {

// A package for the CPU that others carry along, "onnxruntime" in place of "onnxruntime-gpu", is no promise
// of a GPU where another framework beside it is for CUDA. An entry that promises one does not allow the skip.
void SkipIfForTheCpu(Context& ctx, const Framework& framework, const Asked& asked) {
  const Answer& answer = asked.answer;
  if (!answer.built_cuda.empty() || answer.built_hip) return;
  for (const auto& [name, package] : answer.packages_beside) {
    if (CudaMajorOf(package) == 0) continue;
    ctx.Skip(CCI_SKIP_ABSENT, framework.title + " for CUDA in " + asked.python,
             WhyNoGpu(framework, asked) + "; " + name + (package.version.empty() ? "" : " ") +
                 package.version + " beside it is for CUDA " + std::to_string(CudaMajorOf(package)));
  }
}

// The script's name of the attention that cuDNN computes.
constexpr char kCudnnAttention[] = "attention, cudnn";

// What is known of a wrong attention of cuDNN's; empty: nothing. With a right output its gradients are wrong.
std::string KnownOf(const Context& ctx, const Answer& answer, const Computed& result,
                    const Problem& problem) {
  if (result.mode != kCudnnAttention) return "";
  AttentionProblemSpec pass = problem.attention;
  const auto output = result.arrays.find("o");
  pass.backward = output != result.arrays.end() && output->second == problem.expected.at("o");
  return KnownOfAttention(ctx, answer.cudnn_version, pass);
}

void JudgeNumbers(Context& ctx, const Framework& framework, const Probe& probe, const Answer& answer,
                  const Problem& problem) {
  std::set<std::string> computed;
  for (const Computed& result : answer.results) {
    const std::string difference = Difference(result, problem.expected);
    const bool attention = result.arrays.count("o") > 0;
    const std::string cudnn = !attention || answer.cudnn_version.empty()
                                  ? ""
                                  : ", with cuDNN " + answer.cudnn_version + " (" + answer.cudnn_file + ")";
    Judge(ctx, difference.empty(), result.mode + ": the numbers are right",
          attention ? kFrameworkWrongAttention : kFrameworkWrongResult, [&] {
            return NameOf(framework, answer) + ", " + result.mode + cudnn + ": " + difference +
                   KnownOf(ctx, answer, result, problem);
          });
    for (const auto& [name, numbers] : result.arrays) computed.insert(name);
  }
  for (const char* const* name = probe.arrays; *name; ++name)
    if (computed.count(*name) == 0)
      ctx.Skip(CCI_SKIP_UNSUPPORTED, framework.title + " that can compute \"" + *name + "\"",
               NameOf(framework, answer));
}

// What was seen stays with the case, whatever its outcome.
void Tell(Context& ctx, const Framework& framework, const Answer& answer) {
  const auto known = [](const std::string& text) { return text.empty() ? "unknown" : text; };
  std::string text = NameOf(framework, answer) + ", built for CUDA " + known(answer.built_cuda) +
                     " and cuDNN " + known(answer.built_cudnn) + ", on " + known(answer.device_name) +
                     " with cuDNN " + known(answer.cudnn_version) + " of " + known(answer.cudnn_file) + "\n";
  for (const Computed& result : answer.results) text += "computed: " + result.mode + "\n";
  for (const std::string& refusal : answer.refused) text += "refused: " + refusal + "\n";
  for (const std::string& file : answer.mapped) text += "in memory: " + file + "\n";
  ctx.Attach("framework.txt", "text/plain", text);
}

void JudgeFramework(Context& ctx, const Probe& probe, const Interpreter& p) {
  const Framework framework = FrameworkOf(ctx, probe);
  const Problem problem = MakeProblem(ctx.Seed());
  std::vector<std::string> environment;
  if (probe.environment) environment.emplace_back(probe.environment);
  const Asked asked = Ask(ctx, p, framework.name, problem.json, environment);
  const Answer& answer = asked.answer;
  SkipIfAbsent(ctx, framework, asked);
  Tell(ctx, framework, answer);
  if (!JudgeImport(ctx, framework, asked)) return;
  JudgeLoadedCudnn(ctx, framework, answer);
  if (!JudgeEnd(ctx, framework, p, asked)) return;
  const bool seen = answer.devices.value_or(0) > 0;
  if (!seen) SkipIfForTheCpu(ctx, framework, asked);
  if (answer.devices && !JudgeGpus(ctx, framework, asked, 1)) return;
  if (answer.preloaded)
    ctx.Finding(kFrameworkNeedsPreload, NameOf(framework, answer) + Then(LoaderWords(asked.end.output)));
  if (!JudgeErrors(ctx, framework, asked)) return;
  JudgeNumbers(ctx, framework, probe, answer, problem);
  const bool convolved = std::any_of(answer.results.begin(), answer.results.end(),
                                     [](const Computed& result) { return result.arrays.count("y") > 0; });
  if (convolved && answer.cudnn_file.empty()) ctx.Finding(kFrameworkWithoutCudnn, NameOf(framework, answer));
}

constexpr char kComputes[] = "sees the GPU and computes the right numbers with a cuDNN that it can use";

template <const Probe& kProbe>
using OnGpu = FrameworkCheck<kProbe, kComputes, JudgeFramework>;

CCI_REGISTER(OnGpu<kTorch>, "torch")
CCI_REGISTER(OnGpu<kTensorflow>, "tensorflow")
CCI_REGISTER(OnGpu<kJax>, "jax")
CCI_REGISTER(OnGpu<kOnnxruntime>, "onnxruntime")
CCI_REGISTER(OnGpu<kCtranslate2>, "ctranslate2")
CCI_REGISTER(OnGpu<kCupy>, "cupy")

}  // namespace
}  // namespace cudnn_ci
