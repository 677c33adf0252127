#include "kernels/answer.h"

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

using Reader = std::function<void(const json&, RunnerAnswer*)>;

void ReadPackage(const json& v, RunnerAnswer* a) {
  constexpr std::size_t kMostPackages = 10000;
  if (a->packages.size() < kMostPackages)
    a->packages.push_back({TextOf(v, "name"), TextOf(v, "version"), Member(v, "kernels") == true});
}

void ReadDevice(const json& v, RunnerAnswer* a) {
  a->described = true;
  a->devices = static_cast<int>(std::min<std::int64_t>(Number(Member(v, "count")), 1 << 20));
  a->device = TextOf(v, "name");
  a->built = TextOf(v, "built");
  a->capability = TextOf(v, "capability");
}

const std::map<std::string, Reader>& Readers() {
  static const std::map<std::string, Reader> kReaders = {
      {"python", [](const json& v, RunnerAnswer* a) { a->python = TextOf(v, "version"); }},
      {"end", [](const json&, RunnerAnswer* a) { a->ended = true; }},
      {"package", ReadPackage},
      {"cut", [](const json& v, RunnerAnswer* a) { a->cut = Number(v); }},
      {"step", [](const json& v, RunnerAnswer* a) { a->step = CallOf(v); }},
      {"device", ReadDevice},
      {"untraced", [](const json& v, RunnerAnswer* a) { a->untraced = Text(v); }},
      {"error", [](const json& v, RunnerAnswer* a) { a->error = Text(v); }},
      {"lacks", [](const json& v, RunnerAnswer* a) { a->lacks = Text(v); }},
      {"cudnn",
       [](const json& v, RunnerAnswer* a) {
         const std::int64_t version = Number(Member(v, "version"));
         if (version > 0) a->cudnn_version = CudnnVersionText(static_cast<std::size_t>(version));
         a->cudnn_file = TextOf(v, "file");
       }},
      {"result", [](const json& v, RunnerAnswer* a) { a->results[CallOf(v)] = ResultOf(v); }},
      {"refused",
       [](const json& v, RunnerAnswer* a) {
         a->refused[CallOf(v)] = {TextOf(v, "why"), TextOf(v, "by") == "itself"};
       }},
      {"broken", [](const json& v, RunnerAnswer* a) { a->broken[CallOf(v)] = TextOf(v, "why"); }},
  };
  return kReaders;
}

void ReadLine(const std::string& line, RunnerAnswer* answer) {
  const json object = JsonNesting(line) <= kMostJsonNesting ? json::parse(line, nullptr, false) : json();
  const auto reader =
      object.is_object() && object.size() == 1 ? Readers().find(object.begin().key()) : Readers().end();
  if (reader == Readers().end())
    answer->problem = "a line is not an answer: " + line.substr(0, 100);
  else
    reader->second(*object.begin(), answer);
}

}  // namespace

RunnerAnswer ReadRunnerAnswer(const std::string& path) {
  RunnerAnswer answer;
  const std::string text = ReadScriptsAnswer(path, kMostBytes, &answer.problem);
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (answer.problem.empty()) ReadLine(text.substr(begin, end - begin), &answer);
  return answer;
}

}  // namespace cudnn_ci
