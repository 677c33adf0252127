#include "kernels/runner_run.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "common/host_memory.h"
#include "common/interpreter.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "common/program.h"
#include "kernels/findings.h"
#include "kernels/job.h"

namespace cudnn_ci {
namespace {

// Caches of what is compiled at run time: nothing is left in the image, and nothing is taken from it.
std::vector<std::string> CachesIn(const std::string& folder) {
  std::vector<std::string> environment;
  for (const char* name : {"TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUPY_CACHE_DIR", "XDG_CACHE_HOME",
                           "TORCH_EXTENSIONS_DIR", "TVM_FFI_CACHE_DIR", "FLASHINFER_WORKSPACE_BASE",
                           "CUTE_DSL_CACHE_DIR", "QUACK_CACHE_DIR", "FLASH_ATTENTION_CUTE_DSL_CACHE_DIR"})
    environment.push_back(std::string(name) + "=" + folder + "/cache");
  return environment;
}

// Of the memory that is free no more than its share, if it has one.
void KeepTo(const std::string& share, std::optional<double>* bytes) {
  if (!share.empty() && *bytes) *bytes = std::min(**bytes, std::strtod(share.c_str(), nullptr));
}

}  // namespace

std::string RunnersPython(Context& ctx, const std::string& parameter) {
  std::string python = InterpreterOfCase(ctx, parameter, kKernelsPythonUnusable);
  if (parameter != kAutoPython || python != kDefaultPython) return python;
  // Its packages are asked once.
  const std::string other = SubjectOfInterpreter(ctx.Fact(CCI_FACT_RUN_SUBJECTS), PathOfProgram(python));
  if (!other.empty()) ctx.Skip(CCI_SKIP_ABSENT, "an interpreter that is not another subject's", other);
  return python;
}

RunnerRun RunRunner(Context& ctx, const std::string& python, const std::string& folder,
                    const std::string& job, double timeout_s, const std::vector<int>& processes_of_calls) {
  const std::string answer = folder + "/answer.jsonl";
  const auto begin = std::chrono::steady_clock::now();
  RunnerRun run = {RunScript(ctx, python, {RunnerIn(folder), job, answer}, CachesIn(folder), timeout_s), {}};
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.answer = ReadRunnerAnswer(answer, processes_of_calls);
  RequireAnswer(ctx, run, run.answer.problem, run.answer.python, timeout_s, kKernelsPythonUnusable);
  return run;
}

RunnerAnswer ListPackages(Context& ctx, const std::string& python,
                          const std::vector<std::string>& distributions, bool others, double timeout_s) {
  const std::string folder = ctx.ScratchDir() + "/look";
  RunnerRun run = RunRunner(ctx, python, folder, WriteLookJob(folder, distributions, others), timeout_s);
  if (!Judge(ctx, run.answer.processes.front().ended && run.end.exit_status == 0,
             "its packages can be listed", kKernelsPythonUnusable, [&] {
               const std::string how = run.end.timed_out
                                           ? "did not list its packages within " + SecondsText(timeout_s)
                                           : HowEnded(run.end);
               return python + " " + how + "; " + LastLine(run.end.output);
             }))
    ctx.Stop();
  return run.answer;
}

KernelRoom RoomForProcesses(const Context& ctx) {
  KernelRoom room;
  room.processors = ProcessorsOfThisProcess();
  room.gpus = std::atoi(ctx.Fact(CCI_FACT_GPU_COUNT).c_str());
  for (int i = 0; i < room.gpus; ++i) {
    const std::string gpu = CCI_FACT_GPU + std::to_string(i);
    if (ctx.Fact((gpu + CCI_FACT_GPU_UUID).c_str()) != ctx.DeviceUuid()) continue;
    room.compute_mode = ctx.Fact((gpu + CCI_FACT_GPU_COMPUTE_MODE).c_str());
    const std::string free = ctx.Fact((gpu + CCI_FACT_GPU_MEMORY_FREE_BYTES).c_str());
    if (!free.empty()) room.device_bytes = std::strtod(free.c_str(), nullptr);
  }
  if (const std::optional<HostRoom> host = LookAtHostMemory()) room.host_bytes = host->bytes;
  // Where other cases run at the same time.
  KeepTo(ctx.Fact(CCI_FACT_SHARE_DEVICE_MEMORY), &room.device_bytes);
  KeepTo(ctx.Fact(CCI_FACT_SHARE_HOST_MEMORY), &room.host_bytes);
  room.asked = std::atoi(Environment("CUDNN_CI_KERNEL_PROCESSES").c_str());
  return room;
}

std::vector<Adapter> AdaptersOf(const Context& ctx) {
  return KnownAdapters([&ctx](const std::string& key) { return ctx.Compatibility(key); });
}

}  // namespace cudnn_ci
