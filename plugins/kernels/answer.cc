#include "kernels/answer.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/json_bytes.h"
#include "common/cudnn_api.h"
#include "common/interpreter.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;
using Call = RunnerAnswer::Call;

constexpr std::size_t kMostBytes = 8 << 20, kMostText = 1000, kMostEntries = 200;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 40;

std::string Text(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : std::string();
  return text.size() <= kMostText ? text : text.substr(0, kMostText) + "...";
}

const json& Member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found != object.end() ? *found : kNothing;
}

std::string TextOf(const json& object, const char* key) { return Text(Member(object, key)); }

std::int64_t Number(const json& value) {
  if (!value.is_number_integer() || value < -1 || value > kMostNumber) return -1;
  return value.get<std::int64_t>();
}

Call CallOf(const json& value) {
  return {static_cast<int>(std::min<std::int64_t>(Number(Member(value, "call")), 1 << 20)),
          static_cast<int>(std::min<std::int64_t>(Number(Member(value, "run")), 2))};
}

RunnerResult ResultOf(const json& value) {
  RunnerResult result;
  const json& seconds = Member(value, "seconds");
  if (seconds.is_number()) result.seconds = seconds.get<double>();
  for (const json& name : Member(value, "launches"))
    if (result.launches.size() < kMostEntries) result.launches.push_back(Text(name));
  const json& outputs = Member(value, "outputs");
  if (!outputs.is_object()) return result;
  for (const auto& [name, output] : outputs.items()) {
    if (result.outputs.size() >= kMostEntries) break;
    RunnerResult::Output& one = result.outputs[name];
    one.dtype = TextOf(output, "dtype");
    one.device = TextOf(output, "device");
    for (const json& size : Member(output, "shape"))
      if (one.shape.size() < 16) one.shape.push_back(Number(size));
  }
  return result;
}

// Each is told the process that says it; null: of a line that is not a process's.
using Reader = std::function<void(const json&, RunnerAnswer*, RunnerProcess*)>;

void ReadPackage(const json& v, RunnerAnswer* a, RunnerProcess*) {
  constexpr std::size_t kMostPackages = 10000;
  if (a->packages.size() < kMostPackages)
    a->packages.push_back({TextOf(v, "name"), TextOf(v, "version"), Member(v, "kernels") == true});
}

void ReadDevice(const json& v, RunnerAnswer*, RunnerProcess* p) {
  p->described = true;
  p->devices = static_cast<int>(std::min<std::int64_t>(Number(Member(v, "count")), 1 << 20));
  p->device = TextOf(v, "name");
  p->built = TextOf(v, "built");
  p->capability = TextOf(v, "capability");
}

void ReadCudnn(const json& v, RunnerAnswer*, RunnerProcess* p) {
  const std::int64_t version = Number(Member(v, "version"));
  if (version > 0) p->cudnn_version = CudnnVersionText(static_cast<std::size_t>(version));
  p->cudnn_file = TextOf(v, "file");
}

void ReadLeft(const json& v, RunnerAnswer*, RunnerProcess* p) {
  p->left = true;
  p->signal = static_cast<int>(std::min<std::int64_t>(Number(Member(v, "signal")), 1 << 10));
  p->exit_status = static_cast<int>(std::min<std::int64_t>(Number(Member(v, "status")), 1 << 10));
}

using Readers = std::map<std::string, Reader>;

// What is said of the job as a whole.
const Readers& ReadersOfJob() {
  static const Readers kReaders = {
      {"python", [](const json& v, RunnerAnswer* a, RunnerProcess*) { a->python = TextOf(v, "version"); }},
      {"package", ReadPackage},
      {"cut", [](const json& v, RunnerAnswer* a, RunnerProcess*) { a->cut = Number(v); }},
  };
  return kReaders;
}

const Readers& ReadersOfProcess() {
  static const Readers kReaders = {
      {"end", [](const json&, RunnerAnswer*, RunnerProcess* p) { p->ended = true; }},
      {"step", [](const json& v, RunnerAnswer*, RunnerProcess* p) { p->step = CallOf(v); }},
      {"device", ReadDevice},
      {"untraced", [](const json& v, RunnerAnswer*, RunnerProcess* p) { p->untraced = Text(v); }},
      {"error", [](const json& v, RunnerAnswer*, RunnerProcess* p) { p->error = Text(v); }},
      {"lacks", [](const json& v, RunnerAnswer*, RunnerProcess* p) { p->lacks = Text(v); }},
      {"cudnn", ReadCudnn},
      {"left", ReadLeft},
      {"result", [](const json& v, RunnerAnswer* a, RunnerProcess*) { a->results[CallOf(v)] = ResultOf(v); }},
      {"refused",
       [](const json& v, RunnerAnswer* a, RunnerProcess*) {
         a->refused[CallOf(v)] = {TextOf(v, "why"), TextOf(v, "by") == "itself"};
       }},
      {"broken",
       [](const json& v, RunnerAnswer*, RunnerProcess* p) { p->broken[CallOf(v)] = TextOf(v, "why"); }},
  };
  return kReaders;
}

// Whether what a process says is of itself or of a call of its own.
bool IsItsOwn(const json& value, std::int64_t process, const std::vector<int>& processes_of_calls) {
  if (!value.is_object() || !value.contains("call")) return true;
  const int call = CallOf(value).first;
  if (call < 0) return true;  // its import, or no call at all
  return static_cast<std::size_t>(call) < processes_of_calls.size() &&
         processes_of_calls[static_cast<std::size_t>(call)] == process;
}

// Why a line is no answer; empty: it is one, and was read.
std::string ReadLine(const std::string& line, const std::vector<int>& processes_of_calls,
                     RunnerAnswer* answer) {
  json object = JsonNesting(line) <= kMostJsonNesting ? json::parse(line, nullptr, false) : json();
  // One of several says which it is.
  std::int64_t process = answer->processes.size() == 1 ? 0 : -1;
  if (object.is_object() && object.contains("process")) {
    process = Number(object["process"]);
    object.erase("process");
  }
  if (!object.is_object() || object.size() != 1) return "a line is not an answer";
  const auto [key, value] = *object.items().begin();
  if (const auto reader = ReadersOfJob().find(key); reader != ReadersOfJob().end()) {
    reader->second(value, answer, nullptr);
    return "";
  }
  const auto reader = ReadersOfProcess().find(key);
  if (reader == ReadersOfProcess().end() || process < 0 ||
      process >= static_cast<std::int64_t>(answer->processes.size()))
    return "a line is not an answer";
  if (!IsItsOwn(value, process, processes_of_calls)) return "a process answers for a call of another";
  reader->second(value, answer, &answer->processes[static_cast<std::size_t>(process)]);
  return "";
}

}  // namespace

RunnerAnswer ReadRunnerAnswer(const std::string& path, const std::vector<int>& processes_of_calls) {
  RunnerAnswer answer;
  for (const int process : processes_of_calls)
    answer.processes.resize(std::max(answer.processes.size(), static_cast<std::size_t>(process) + 1));
  const std::string text = ReadScriptsAnswer(path, kMostBytes, &answer.problem);
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (!answer.problem.empty()) break;
    const std::string line = text.substr(begin, end - begin);
    const std::string problem = ReadLine(line, processes_of_calls, &answer);
    if (!problem.empty()) answer.problem = problem + ": " + line.substr(0, 100);
  }
  return answer;
}

}  // namespace cudnn_ci
