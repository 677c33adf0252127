#include "framework/answer.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "base/json_bytes.h"
#include "common/cudart_api.h"
#include "common/cudnn_api.h"
#include "common/interpreter.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;

// A whole answer has about 400 KiB, most of them gradients of attentions.
constexpr size_t kMostBytes = 4 << 20;
constexpr size_t kMostText = 1000, kMostEntries = 200;

std::string Text(const json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : std::string();
  return text.size() <= kMostText ? text : text.substr(0, kMostText) + "...";
}

const json& Member(const json& object, const char* key) {
  static const json kNothing;
  const auto found = object.find(key);
  return object.is_object() && found != object.end() ? *found : kNothing;
}

std::string TextOf(const json& object, const char* key) { return Text(Member(object, key)); }

std::vector<std::string> Texts(const json& list) {
  std::vector<std::string> texts;
  if (list.is_array())
    for (const json& entry : list)
      if (texts.size() < kMostEntries) texts.push_back(Text(entry));
  return texts;
}

int Number(const json& value) {
  return value.is_number_integer() && value >= 0 && value < 1000000000 ? value.get<int>() : 0;
}

// "9.19.0" of 91900, [9, 19, 0] and "9.19.0".
std::string CudnnVersion(const json& value) {
  if (const int code = Number(value); code > 0) return CudnnVersionText(static_cast<size_t>(code));
  std::string joined;
  if (value.is_array())
    for (const json& part : value) joined += (joined.empty() ? "" : ".") + std::to_string(Number(part));
  return joined.empty() ? Text(value) : joined.substr(0, kMostText);
}

// "13.0" of 13000 and "13.0".
std::string CudaVersion(const json& value) {
  const int code = Number(value);
  return code > 0 ? CudaVersionText(code) : Text(value);
}

Computed ResultOf(const json& value) {
  Computed result;
  result.mode = TextOf(value, "mode");
  const json& arrays = Member(value, "arrays");
  if (!arrays.is_object()) return result;
  for (const auto& [name, elements] : arrays.items()) {
    std::vector<double>& numbers = result.arrays[name];
    for (const json& element : elements) {
      if (!element.is_number() && result.not_a_number.empty())
        result.not_a_number = name + "[" + std::to_string(numbers.size()) + "] is " + Text(element);
      numbers.push_back(element.is_number() ? element.get<double>() : 0);
    }
  }
  return result;
}

FrameworkPackage PackageOf(const json& value) {
  FrameworkPackage package;
  package.origin = TextOf(value, "origin");
  package.distribution = TextOf(value, "distribution");
  package.version = TextOf(value, "version");
  package.requirements = Texts(Member(value, "requires"));
  package.cuda = TextOf(value, "cuda");
  package.native = TextOf(value, "native");
  return package;
}

CudnnPackageInfo CudnnPackageOf(const json& value) {
  CudnnPackageInfo package{TextOf(value, "name"), TextOf(value, "version"), TextOf(value, "folder"), {}};
  if (const json& own = Member(value, "own"); own.is_boolean()) package.own = own.get<bool>();
  return package;
}

std::string Caused(const json& value) {
  std::string all;
  for (const std::string& text : Texts(value)) all += (all.empty() ? "" : " <- ") + text;
  return all;
}

using Reader = std::function<void(const json&, Answer*)>;

void ReadBuilt(const json& v, Answer* a) {
  a->built_cuda = CudaVersion(Member(v, "cuda"));
  a->built_cudnn = CudnnVersion(Member(v, "cudnn"));
  a->built_hip = !TextOf(v, "hip").empty();
}

void ReadPackages(const json& v, std::map<std::string, FrameworkPackage>* packages) {
  if (!v.is_object()) return;
  for (const auto& [name, package] : v.items())
    if (package.is_object()) (*packages)[name] = PackageOf(package);
}

void ReadDevices(const json& v, Answer* a) {
  a->devices = Number(Member(v, "count"));
  a->device_name = TextOf(v, "name");
}

void ReadCudnn(const json& v, Answer* a) {
  a->cudnn_file = TextOf(v, "file");
  a->cudnn_version = CudnnVersion(Member(v, "version"));
  a->cudnn_cuda = Number(Member(v, "cudart")) / 1000;
}

void ReadRankEnd(const json& v, Answer* a) {
  const json& status = Member(v, "status");
  if (a->rank_ends.size() < kMostEntries && status.is_number_integer() && status >= -255 && status <= 255)
    a->rank_ends[Number(Member(v, "rank"))] = status.get<int>();
}

const std::map<std::string, Reader>& Readers() {
  static const std::map<std::string, Reader> kReaders = {
      {"python",
       [](const json& v, Answer* a) {
         a->python = TextOf(v, "version");
         a->executable = TextOf(v, "executable");
       }},
      {"step",
       [](const json& v, Answer* a) {
         a->step = Text(v);
         ++a->steps;
       }},
      {"end", [](const json&, Answer* a) { a->ended = true; }},
      {"absent", [](const json& v, Answer* a) { a->absent = Text(v); }},
      {"packages", [](const json& v, Answer* a) { ReadPackages(v, &a->packages); }},
      {"packages_beside", [](const json& v, Answer* a) { ReadPackages(v, &a->packages_beside); }},
      {"cudnn_packages",
       [](const json& v, Answer* a) {
         if (v.is_array())
           for (const json& package : v) a->cudnn_packages.push_back(CudnnPackageOf(package));
       }},
      {"library_folders", [](const json& v, Answer* a) { a->library_folders = Texts(v); }},
      {"imported", [](const json& v, Answer* a) { a->imported = Text(v); }},
      {"built", ReadBuilt},
      {"loaded", [](const json& v, Answer* a) { a->loaded_cudnn = CudnnVersion(Member(v, "cudnn")); }},
      {"devices", ReadDevices},
      {"preloaded", [](const json& v, Answer* a) { a->preloaded = v == true; }},
      {"error",
       [](const json& v, Answer* a) {
         a->errors.push_back(Caused(v));
         a->failed_at = a->step;
       }},
      {"result", [](const json& v, Answer* a) { a->results.push_back(ResultOf(v)); }},
      {"refused", [](const json& v, Answer* a) { a->refused.push_back(Text(v)); }},
      {"mapped", [](const json& v, Answer* a) { a->mapped = Texts(v); }},
      {"cudnn", ReadCudnn},
      {"cudnn_unknown", [](const json&, Answer*) {}},
      {"nccl",
       [](const json& v, Answer* a) {
         a->nccl_file = TextOf(v, "file");
         a->nccl_version = Number(Member(v, "version"));
       }},
      {"lacks", [](const json& v, Answer* a) { a->lacks = Text(v); }},
      {"left_out",
       [](const json& v, Answer* a) {
         if (a->left_out.size() < kMostEntries) a->left_out.push_back(Text(v));
       }},
      {"rank_ended", ReadRankEnd},
  };
  return kReaders;
}

void ReadLine(const std::string& line, Answer* answer) {
  const json object = JsonNesting(line) <= kMostJsonNesting ? json::parse(line, nullptr, false) : json();
  const auto reader =
      object.is_object() && object.size() == 1 ? Readers().find(object.begin().key()) : Readers().end();
  if (reader == Readers().end()) {
    answer->problem = "a line is not an answer: " + line.substr(0, 100);
    return;
  }
  reader->second(*object.begin(), answer);
}

}  // namespace

Answer ParseAnswer(const std::string& text) {
  Answer answer;
  if (text.size() > kMostBytes) {
    answer.problem = "more than " + std::to_string(kMostBytes) + " bytes";
    return answer;
  }
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    if (answer.problem.empty()) ReadLine(text.substr(begin, end - begin), &answer);
  return answer;
}

Answer ReadAnswer(const std::string& path) {
  std::string problem;
  Answer answer = ParseAnswer(ReadScriptsAnswer(path, kMostBytes, &problem));
  if (!problem.empty()) answer.problem = problem;
  return answer;
}

}  // namespace cudnn_ci
