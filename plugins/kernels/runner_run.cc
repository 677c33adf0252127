#include "kernels/runner_run.h"

#include <cudnn_ci/facts.h>

#include <cstdio>

#include "common/interpreter.h"
#include "common/judge.h"
#include "common/program.h"
#include "common/shortage.h"
#include "kernels/findings.h"
#include "kernels/job.h"

namespace cudnn_ci {
namespace {

// Why an interpreter did not get as far as the runner's first line; empty: it did.
std::string WhyNoAnswer(const RunnerRun& run, double timeout_s) {
  if (!run.answer.problem.empty()) return "left an answer that cannot be read: " + run.answer.problem;
  if (!run.answer.python.empty()) return "";
  if (const std::string why = WhyNotStarted(run.python, run.end); !why.empty())
    return "cannot be started: " + why;
  const std::string last = "; " + LastLine(run.end.output);
  if (run.end.timed_out) return "did not run a script within " + SecondsText(timeout_s) + last;
  return HowEnded(run.end) + " before it ran a script" + last;
}

// Caches of what is compiled at run time: nothing is left in the image, and nothing is taken from it.
std::vector<std::string> CachesIn(const std::string& folder) {
  std::vector<std::string> environment;
  for (const char* name : {"TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUPY_CACHE_DIR", "XDG_CACHE_HOME",
                           "FLASHINFER_WORKSPACE_BASE", "TORCH_EXTENSIONS_DIR"})
    environment.push_back(std::string(name) + "=" + folder + "/cache");
  return environment;
}

}  // namespace

std::string RunnersPython(Context& ctx, const std::string& parameter) {
  TakeUsersLibraryPath(ctx);
  std::string python = InterpreterOf(parameter, ctx.SubjectSpec());
  if (const std::string missing = WhyNotFound(python); !missing.empty()) {
    if (parameter == kAutoPython && python == kDefaultPython)
      ctx.Skip(CCI_SKIP_ABSENT, kDefaultPython, missing);
    ctx.Finding(kKernelsPythonUnusable, missing);
    ctx.Stop();
  }
  if (parameter != kAutoPython || python != kDefaultPython) return python;
  // Its packages are asked once.
  const std::string path = PathOfProgram(python);
  const std::string other = SubjectOfInterpreter(ctx.Fact(CCI_FACT_RUN_SUBJECTS), path);
  if (!other.empty())
    ctx.Skip(CCI_SKIP_ABSENT, "an interpreter that is not another subject's", path + " is that of " + other);
  return python;
}

RunnerRun RunRunner(Context& ctx, const std::string& python, const std::string& folder,
                    const std::string& job, double timeout_s) {
  RunnerRun run;
  run.python = python;
  const std::string answer = folder + "/answer.jsonl";
  std::remove(answer.c_str());
  // Nothing is left in the image (-B), and a crash shows where Python was.
  Shortage shortage;
  run.end = RunProgram(ctx, {python, "-B", "-X", "faulthandler", RunnerIn(folder), job, answer},
                       CachesIn(folder), timeout_s, &shortage);
  LogEnd(ctx, run.end.output);
  if (!run.end.timed_out && run.end.exit_status != 0 && ReportShortage(ctx, python, run.end, shortage))
    ctx.Stop();
  run.answer = ReadRunnerAnswer(answer);
  const std::string unusable = WhyNoAnswer(run, timeout_s);
  if (!Judge(ctx, unusable.empty(), "the interpreter runs a script", kKernelsPythonUnusable,
             python + " " + unusable))
    ctx.Stop();
  if (!ctx.Satisfies(NumbersOf(run.answer.python), ">=3.8"))
    ctx.Skip(CCI_SKIP_VERSION, "Python 3.8 or later", run.answer.python + " at " + python);
  return run;
}

std::vector<Adapter> AdaptersOf(const Context& ctx) {
  return KnownAdapters([&ctx](const std::string& key) { return ctx.Compatibility(key); });
}

}  // namespace cudnn_ci
