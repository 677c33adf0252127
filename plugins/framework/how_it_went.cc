#include "framework/how_it_went.h"

#include "common/judge.h"
#include "common/loader_path.h"
#include "common/program.h"
#include "common/shortage.h"
#include "framework/findings.h"
#include "framework/loaded.h"
#include "framework/rules.h"

namespace cudnn_ci {

std::string Then(const std::string& text) { return text.empty() ? "" : "; " + text; }

bool JudgeImport(Context& ctx, const Framework& framework, const Asked& asked) {
  const Answer& answer = asked.answer;
  const bool raised = !answer.imported && !answer.errors.empty();
  return Judge(ctx, !raised, "it can be imported", kFrameworkImportFailed, [&] {
    const auto package = answer.packages.find(framework.name);
    return NameOf(framework, answer) + " (" +
           (package == answer.packages.end() ? "" : package->second.origin) + ") in " + asked.python + ": " +
           answer.LastError() + Then(LoaderWords(asked.end.output)) + WordsOfShortage(answer.LastError());
  });
}

bool JudgeEnd(Context& ctx, const Framework& framework, const Interpreter& p, const Asked& asked) {
  const Answer& answer = asked.answer;
  const std::string at = " at \"" + answer.step + "\"; ";
  if (!Judge(ctx, !asked.end.timed_out, "it answers in time", kFrameworkTimedOut, [&] {
        return NameOf(framework, answer) + " did not answer within " + SecondsText(p.timeout_s) + "; it was" +
               at + LastLine(asked.end.output);
      }))
    return false;
  // What happens at its exit, behind the answer, is a crash as well.
  return Judge(ctx, answer.ended && asked.end.exit_status == 0, "its process lives until it has answered",
               kFrameworkCrashed, [&] {
                 return NameOf(framework, answer) + ": " + asked.python + " " + HowEnded(asked.end) +
                        (answer.ended ? " after its answer; " : at) + LastLine(asked.end.output) +
                        WordsOfShortage(asked.end.output);
               });
}

std::string WhyNoGpu(const Framework& framework, const Asked& asked) {
  const Answer& answer = asked.answer;
  const auto package = answer.packages.find(framework.name);
  std::string distribution;
  if (package != answer.packages.end() && !package->second.distribution.empty())
    distribution = " (" + package->second.distribution + " " + package->second.version + ")";
  std::string why = NameOf(framework, answer) + distribution;
  if (answer.built_hip) return why + " is built for AMD's GPUs (ROCm)";
  if (answer.built_cuda.empty()) return why + " is built without CUDA";
  if (answer.built_cuda != "unknown") why += " is built for CUDA " + answer.built_cuda;
  return why + Then(answer.LastError()) + Then(LoaderWords(asked.end.output)) + "; CUDA_VISIBLE_DEVICES='" +
         Environment("CUDA_VISIBLE_DEVICES") + "'";
}

bool JudgeGpus(Context& ctx, const Framework& framework, const Asked& asked, int gpus) {
  const int seen = asked.answer.devices.value_or(0);
  return Judge(ctx, seen >= gpus, "it sees a GPU", kFrameworkNoGpu, [&] {
    return WhyNoGpu(framework, asked) +
           (seen > 0 ? "; it sees " + std::to_string(seen) + " of " + std::to_string(gpus) : "");
  });
}

bool JudgeErrors(Context& ctx, const Framework& framework, const Asked& asked) {
  const Answer& answer = asked.answer;
  const std::string error = answer.LastError();
  SkipIfOutOfMemory(ctx, framework, error);
  return Judge(ctx, error.empty(), "it computes", kFrameworkFailed, [&] {
    return NameOf(framework, answer) + " at \"" + answer.failed_at + "\": " + error +
           Then(LoaderWords(asked.end.output)) + WordsOfShortage(error);
  });
}

}  // namespace cudnn_ci
