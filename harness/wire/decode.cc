// Packets to messages. Decoding trusts nothing: every field is checked for presence, type and range.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include <stdexcept>

#include "base/text.h"
#include "wire/message.h"

namespace cudnn_ci::wire {
namespace {

using nlohmann::json;

struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One field of a message, checked.
const json& Field(const json& j, const char* key) {
  const auto it = j.find(key);
  if (it == j.end()) throw Malformed(std::string("field '") + key + "' is missing");
  return *it;
}
std::string Text(const json& j, const char* key) {
  const json& f = Field(j, key);
  if (!f.is_string()) throw Malformed(std::string("field '") + key + "' is not a string");
  return f.get<std::string>();
}
int64_t Int(const json& j, const char* key) {
  const json& f = Field(j, key);
  if (!f.is_number_integer()) throw Malformed(std::string("field '") + key + "' is not an integer");
  return f.get<int64_t>();
}
double Number(const json& j, const char* key) {
  const json& f = Field(j, key);
  if (f == "nan") return std::nan("");
  if (f == "inf" || f == "-inf") return f == "inf" ? HUGE_VAL : -HUGE_VAL;
  if (!f.is_number()) throw Malformed(std::string("field '") + key + "' is not a number");
  return f.get<double>();
}
bool Bool(const json& j, const char* key) {
  const json& f = Field(j, key);
  if (!f.is_boolean()) throw Malformed(std::string("field '") + key + "' is not a boolean");
  return f.get<bool>();
}
std::vector<std::string> Texts(const json& j, const char* key) {
  const json& f = Field(j, key);
  if (!f.is_array()) throw Malformed(std::string("field '") + key + "' is not an array");
  std::vector<std::string> out;
  for (const json& e : f) {
    if (!e.is_string())
      throw Malformed(std::string("field '") + key + "' has an element that is not a string");
    out.push_back(e.get<std::string>());
  }
  return out;
}
std::map<std::string, std::string> TextMap(const json& j, const char* key) {
  const json& f = Field(j, key);
  if (!f.is_object()) throw Malformed(std::string("field '") + key + "' is not an object");
  std::map<std::string, std::string> out;
  for (const auto& [k, v] : f.items()) {
    if (!v.is_string()) throw Malformed(std::string("field '") + key + "' has a value that is not a string");
    out[k] = v.get<std::string>();
  }
  return out;
}
template <class E>
E Enum(const json& j, const char* key, E last) {
  const int64_t v = Int(j, key);
  if (v < 0 || v > static_cast<int64_t>(last))
    throw Malformed(std::string("field '") + key + "' is out of range");
  return static_cast<E>(v);
}

Where PlaceFromJson(const json& j) {
  Where where = Where::kNone;
  if (!Parse(Text(j, "where"), &where)) throw Malformed("field 'where' is no place");
  return where;
}

Value ToValue(const json& j) {
  if (!j.is_object() || j.size() != 1) throw Malformed("a value is not tagged");
  const std::string tag = j.begin().key();
  const json& v = j.begin().value();
  if (tag == "b" && v.is_boolean()) return v.get<bool>();
  if (tag == "i" && v.is_number_integer()) return v.get<int64_t>();
  if (tag == "f" && v.is_number()) return v.get<double>();
  if (tag == "s" && v.is_string()) return v.get<std::string>();
  if (tag == "il" && v.is_array()) {
    std::vector<int64_t> list;
    for (const json& e : v) {
      if (!e.is_number_integer()) throw Malformed("an integer list has another element");
      list.push_back(e.get<int64_t>());
    }
    return list;
  }
  if (tag == "sl" && v.is_array()) return Texts(j, "sl");
  throw Malformed("a value is not of its tag's type");
}

ParamInfo ParamFromJson(const json& j, int depth = 0) {
  if (!j.is_object() || depth > 1) throw Malformed("a parameter is malformed");
  ParamInfo p;
  p.name = Text(j, "name");
  p.type = Enum(j, "type", ParamType::kShape);
  p.summary = Text(j, "summary");
  p.allowed = Texts(j, "allowed");
  p.min_i64 = Int(j, "min");
  p.max_i64 = Int(j, "max");
  if (j.contains("default")) p.default_json = Text(j, "default");
  const json& fields = Field(j, "fields");
  if (!fields.is_array()) throw Malformed("field 'fields' is not an array");
  for (const json& f : fields) p.fields.push_back(ParamFromJson(f, depth + 1));
  return p;
}

CheckInfo CheckFromJson(const json& j) {
  CheckInfo c;
  c.name = Text(j, "name");
  c.plugin = Text(j, "plugin");
  c.summary = Text(j, "summary");
  c.layer = Enum(j, "layer", Layer::kOther);
  c.devices = Enum(j, "devices", Devices::kEnvironment);
  c.shareable = Bool(j, "shareable");
  c.per_subject = Bool(j, "per_subject");
  c.disturbs = Bool(j, "disturbs");
  c.pooled = Bool(j, "pooled");
  c.second_opinion = Bool(j, "second_opinion");
  c.concurrent = Bool(j, "concurrent");
  c.validates = Bool(j, "validates");
  c.timeout_s = Number(j, "timeout_s");
  c.prerequisites = Texts(j, "requires");
  c.judges = Texts(j, "judges");
  const json& params = Field(j, "params");
  if (!params.is_array()) throw Malformed("field 'params' is not an array");
  for (const json& p : params) c.params.push_back(ParamFromJson(p));
  return c;
}

Params ParamsFromJson(const json& j) {
  const json& fields = Field(j, "params");
  if (!fields.is_object()) throw Malformed("field 'params' is not an object");
  Params params;
  for (const auto& [k, v] : fields.items()) params[k] = ToValue(v);
  return params;
}

ToWorker ParseToWorker(const json& j) {
  const std::string m = Text(j, "m");
  if (m == "run") {
    Run r;
    r.serial = Int(j, "n");
    r.check = Text(j, "check");
    r.params = ParamsFromJson(j);
    r.timeout_s = Number(j, "timeout_s");
    const json& seed = Field(j, "seed");
    if (!seed.is_number_integer()) throw Malformed("field 'seed' is not an integer");
    r.seed = seed.get<uint64_t>();
    r.skip_steps = Texts(j, "skip_steps");
    return r;
  }
  if (m == "configure")
    return Configure{TextMap(j, "contract"), TextMap(j, "compatibility"),
                     TextMap(j, "facts"),    Text(j, "subject"),
                     Text(j, "spec"),        Text(j, "uuid"),
                     Text(j, "scratch"),     Texts(j, "folders")};
  if (m == "validate") return Validate{Int(j, "n"), Text(j, "check"), ParamsFromJson(j)};
  if (m == "describe") return Describe{};
  if (m == "facts") return CollectFacts{};
  if (m == "warm") return Warm{};
  if (m == "prepare") return Prepare{};
  if (m == "canary") return Canary{};
  if (m == "shutdown") return Shutdown{};
  throw Malformed("unknown message '" + m + "'");
}

CaseFinished ParseCaseFinished(const json& j) {
  CaseFinished f;
  f.serial = Int(j, "n");
  f.evaluated = Int(j, "evaluated");
  if (j.contains("skip")) {
    f.skipped = true;
    const json& s = j["skip"];
    if (!s.is_object()) throw Malformed("field 'skip' is not an object");
    f.skip = {Enum(s, "kind", SkipKind::kVersion), Text(s, "need"), Text(s, "seen"),
              Enum(s, "resource", Resource::kHostMemory)};
  }
  if (j.contains("context_error")) f.context_error = Text(j, "context_error");
  if (j.contains("leaked")) f.leaked = Bool(j, "leaked");
  return f;
}

PluginDescribed ParsePlugin(const json& j) {
  PluginDescribed p;
  p.info.name = Text(j, "name");
  p.info.version = Text(j, "version");
  p.info.summary = Text(j, "summary");
  p.info.abi_minor = static_cast<uint32_t>(Int(j, "abi_minor"));
  p.info.has_facts = Bool(j, "has_facts");
  p.info.facts_per_subject = Bool(j, "facts_per_subject");
  return p;
}

Validated ParseValidated(const json& j) {
  Validated v;
  v.serial = Int(j, "n");
  v.failure = Text(j, "failure");
  const json& problems = Field(j, "problems");
  if (!problems.is_array() || problems.size() > kMaxProblems)
    throw Malformed("field 'problems' is not an array of at most " + std::to_string(kMaxProblems));
  for (const json& p : problems) {
    if (!p.is_object()) throw Malformed("a problem is not an object");
    v.problems.push_back({Text(p, "parameter"), Text(p, "why")});
  }
  return v;
}

// All of `digits` as a hexadecimal number.
template <class Number>
bool ReadHex(std::string_view digits, Number* number) {
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, *number, 16);
  return read.ec == std::errc() && read.ptr == end;
}

uint64_t Hex(const json& j, const char* key) {
  const std::string text = Text(j, key);
  uint64_t number = 0;
  if (text.compare(0, 2, "0x") != 0 || !ReadHex(std::string_view(text).substr(2), &number))
    throw Malformed(std::string("field '") + key + "' is not a hexadecimal number");
  return number;
}

std::string PercentDecoded(const json& j, const char* key) {
  const std::string text = Text(j, key);
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = std::string_view(text).substr(i + 1, 2);
    if (digits.size() != 2 || !ReadHex(digits, &byte))
      throw Malformed(std::string("field '") + key + "' is not percent-encoded");
    bytes += static_cast<char>(byte);
    i += 2;
  }
  return bytes;
}

Crashed ParseCrashed(const json& j) {
  Crash crash;
  const int64_t signal = Int(j, "signal");
  if (std::find(kCrashSignals.begin(), kCrashSignals.end(), signal) == kCrashSignals.end())
    throw Malformed("field 'signal' is not one of a crash");
  crash.signal = static_cast<int>(signal);
  crash.code = static_cast<int>(Int(j, "code"));
  crash.address = Hex(j, "address");
  crash.module = PercentDecoded(j, "module");
  const json& frames = Field(j, "frames");
  if (!frames.is_array() || frames.size() > kMaxCrashFrames)
    throw Malformed("field 'frames' is not an array of at most " + std::to_string(kMaxCrashFrames));
  for (const json& f : frames) {
    if (!f.is_object()) throw Malformed("a frame is not an object");
    crash.frames.push_back({Hex(f, "a"), PercentDecoded(f, "m"), Hex(f, "o"), ""});
  }
  return {std::move(crash)};
}

FromWorker ParseFromWorker(const json& j) {
  const std::string m = Text(j, "m");
  if (m == "case_started") return CaseStarted{Int(j, "n")};
  if (m == "case_finished") return ParseCaseFinished(j);
  if (m == "step") return Step{Int(j, "n"), Text(j, "name"), Bool(j, "skippable")};
  if (m == "expectation")
    return Expectation{Int(j, "n"), Text(j, "file"), static_cast<int>(Int(j, "line")), Text(j, "what")};
  if (m == "finding")
    return FindingSaid{Int(j, "n"), Text(j, "slug"), Text(j, "detail"), Text(j, "command"), PlaceFromJson(j)};
  if (m == "measurement")
    return Measurement{Int(j, "n"), Text(j, "name"), Number(j, "value"), Text(j, "unit"), Text(j, "goal")};
  if (m == "attachment") return Attachment{Int(j, "n"), Text(j, "name"), Text(j, "mime"), Text(j, "path")};
  if (m == "log") return Log{Int(j, "n"), static_cast<int>(Int(j, "level")), Text(j, "text")};
  if (m == "poisoned") return Poisoned{Int(j, "n"), Text(j, "reason")};
  if (m == "uncaught") return Uncaught{Int(j, "n"), Text(j, "what")};
  if (m == "crashed") return ParseCrashed(j);
  if (m == "hello") return Hello{static_cast<int>(Int(j, "version")), Int(j, "pid")};
  if (m == "plugin_failed") return PluginFailed{Text(j, "reason")};
  if (m == "plugin") return ParsePlugin(j);
  if (m == "check") return CheckDescribed{CheckFromJson(Field(j, "check"))};
  if (m == "finding_info")
    return FindingDescribed{{Text(j, "slug"), Enum(j, "severity", Severity::kNote),
                             Enum(j, "blame", Blame::kUndetermined), Text(j, "summary"), Text(j, "remedy"),
                             Text(j, "link"), Text(j, "by"), Text(j, "command"), PlaceFromJson(j)}};
  if (m == "describe_end") return DescribeEnd{};
  if (m == "fact") return Fact{Text(j, "key"), Text(j, "value")};
  if (m == "facts_end") return FactsEnd{j.contains("failure") ? Text(j, "failure") : ""};
  if (m == "validated") return ParseValidated(j);
  if (m == "canary_done") return CanaryDone{Bool(j, "ok"), Text(j, "detail")};
  throw Malformed("unknown message '" + m + "'");
}

template <class T, class Parse>
Result<T> Decode(std::string_view packet, Parse parse) {
  const auto shown = [&] { return "'" + CleanLine(packet, 80) + "'"; };
  try {
    const json j = json::parse(packet.begin(), packet.end(), nullptr, false);
    if (j.is_discarded()) return Error{"a packet is not JSON: " + shown()};
    if (!j.is_object()) return Error{"a packet is not an object: " + shown()};
    return parse(j);
  } catch (const std::exception& e) {
    return Error{std::string(e.what()) + " in packet " + shown()};
  }
}

}  // namespace

Result<ToWorker> DecodeToWorker(std::string_view packet) { return Decode<ToWorker>(packet, ParseToWorker); }
Result<FromWorker> DecodeFromWorker(std::string_view packet) {
  return Decode<FromWorker>(packet, ParseFromWorker);
}

}  // namespace cudnn_ci::wire
