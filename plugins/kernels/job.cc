#include "kernels/job.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "common/interpreter.h"
#include "kernels/runner.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kAdapterFile[] = "cudnn_ci_adapter.py";

// Of the case before in this process nothing is left.
void MakeFolder(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  WriteScript(folder, RunnerFiles());
}

nlohmann::ordered_json WriteProblem(const std::string& folder, std::size_t number,
                                    const KernelProblem& problem) {
  nlohmann::ordered_json inputs;  // in their order, which is that of arguments
  for (const KernelInput& input : problem.inputs) {
    const std::string path = folder + "/p" + std::to_string(number) + "." + input.name;
    WriteForScript(path, {reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size()});
    inputs[input.name] = {{"file", path},
                          {"dtype", input.dtype},
                          {"shape", input.shape},
                          {"strides", input.strides},
                          {"bytes", input.bytes.size()}};
  }
  return {{"name", problem.name},
          {"operation", problem.operation},
          {"attributes", json::parse(problem.attributes)},
          {"inputs", inputs}};
}

std::string PathOf(const std::string& folder, RunnerAnswer::Call call, const KernelOutput& output) {
  return folder + "/" + std::to_string(call.first) + "." + std::to_string(call.second) + "." + output.name;
}

std::string WhyWrongFile(const std::string& path, const KernelOutput& output, KernelArithmetic arithmetic) {
  const std::size_t wanted = static_cast<std::size_t>(output.Count()) * SizeOf(output.type);
  const Result<std::string> bytes = ReadFile(path, wanted);
  return bytes.ok() ? WhyWrong(output, arithmetic, *bytes) : "it cannot be read: " + bytes.error();
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

}  // namespace

std::string KernelCall::Text(int run) const {
  return implementation->name + ", " + problem->name + (run > 0 ? ", run " + std::to_string(run) : "");
}

KernelJob MakeKernelJob(const Adapter& adapter, const std::function<bool(const Implementation&)>& takes,
                        int most_processes) {
  KernelJob job;
  std::vector<std::string> names;  // of the processes that calls ask for, in order
  for (const Implementation& implementation : adapter.implementations) {
    if (!takes(implementation)) continue;
    std::size_t turn = 0;
    for (const std::string& name : KernelProblemNames()) {
      if (!implementation.Asks(name)) continue;
      auto problem = job.problems.find(name);
      if (problem == job.problems.end()) problem = job.problems.emplace(name, MakeKernelProblem(name)).first;
      const std::string& asked = implementation.processes[turn++ % implementation.processes.size()];
      const auto known = std::find(names.begin(), names.end(), asked);
      job.calls.push_back({&implementation, &problem->second, static_cast<int>(known - names.begin())});
      if (known == names.end()) names.push_back(asked);
    }
  }
  const std::size_t most = std::min(names.size(), static_cast<std::size_t>(std::max(1, most_processes)));
  if (most > 1) job.processes.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most));
  for (KernelCall& call : job.calls) call.process %= static_cast<int>(std::max<std::size_t>(1, most));
  return job;
}

std::vector<int> ProcessesOfCalls(const KernelJob& job) {
  std::vector<int> processes;
  for (const KernelCall& call : job.calls) processes.push_back(call.process);
  return processes;
}

std::string RunnerIn(const std::string& folder) { return folder + "/" + RunnerFiles().front().name; }

std::string WriteKernelJob(const std::string& folder, const Adapter& adapter, const KernelJob& job) {
  MakeFolder(folder);
  WriteForScript(folder + "/" + kAdapterFile, adapter.code);
  nlohmann::ordered_json problems, calls, whole;
  for (const auto& [name, problem] : job.problems)
    problems[name] = WriteProblem(folder, problems.size(), problem);
  for (const KernelCall& call : job.calls)
    calls.push_back({{"implementation", call.implementation->name}, {"problem", call.problem->name}});
  nlohmann::ordered_json processes;
  for (const std::string& name : job.processes)
    processes.push_back({{"name", name}, {"calls", json::array()}});
  for (std::size_t i = 0; i < job.calls.size(); ++i)
    processes.at(static_cast<std::size_t>(job.calls[i].process))["calls"].push_back(i);
  whole = {{"folder", folder}, {"problems", problems}, {"calls", calls}, {"processes", processes}};
  WriteForScript(folder + "/job.json", whole.dump(-1, ' ', true));
  return folder + "/job.json";
}

std::string WriteLookJob(const std::string& folder, const std::vector<std::string>& distributions,
                         bool others) {
  MakeFolder(folder);
  WriteForScript(folder + "/look.json",
                 json{{"look", distributions}, {"others", others}}.dump(-1, ' ', true));
  return folder + "/look.json";
}

WrongOutput WrongWith(const std::string& folder, const KernelJob& job, RunnerAnswer::Call call,
                      const RunnerResult& result) {
  const KernelCall& asked = job.calls.at(static_cast<std::size_t>(call.first));
  if (asked.problem->outputs.empty()) return {"", "it returned a result, but must return none"};
  for (const KernelOutput& output : asked.problem->outputs) {
    const auto said = result.outputs.find(output.name);
    if (said == result.outputs.end()) return {output.name, "it returned no " + output.name};
    const RunnerResult::Output& got = said->second;
    if (got.dtype != NameOf(output.type) || got.shape != output.shape)
      return {output.name, output.name + " is " + got.dtype + " " + ShapeText(got.shape) + ", expected " +
                               NameOf(output.type) + " " + ShapeText(output.shape)};
    const std::string why =
        WhyWrongFile(PathOf(folder, call, output), output, asked.implementation->arithmetic);
    if (!why.empty()) return {output.name, output.name + ": " + why};
  }
  return {};
}

bool IsWithinBound(const std::string& folder, const KernelJob& job, RunnerAnswer::Call call) {
  const KernelCall& asked = job.calls.at(static_cast<std::size_t>(call.first));
  if (asked.implementation->arithmetic == KernelArithmetic::kExact) return false;
  const auto& outputs = asked.problem->outputs;
  return std::any_of(outputs.begin(), outputs.end(), [&](const KernelOutput& output) {
    return !WhyWrongFile(PathOf(folder, call, output), output, KernelArithmetic::kExact).empty();
  });
}

}  // namespace cudnn_ci
