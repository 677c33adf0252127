// JSON is chosen because a crashed worker's last packet can be read by a person. Decoding trusts
// nothing: every field is checked for presence and type.
#include "wire/message.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include <stdexcept>

#include "base/text.h"

namespace cudnn_ci::wire {
namespace {

using nlohmann::json;

struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// How much of a text goes into the packet being built: escaping may make it up to six times longer, so
// EncodeAny lowers this until the packet fits.
thread_local size_t text_bound = kMaxText;

std::string Bounded(const std::string& text) {
  return HeadAndTail(text, text_bound / 4, text_bound - text_bound / 4);
}

json ToJson(const Value& value) {
  return std::visit(
      [](const auto& v) -> json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>)
          return {{"b", v}};
        else if constexpr (std::is_same_v<T, int64_t>)
          return {{"i", v}};
        else if constexpr (std::is_same_v<T, double>)
          return {{"f", v}};
        else if constexpr (std::is_same_v<T, std::string>)
          return {{"s", v}};
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return {{"il", v}};
        else
          return {{"sl", v}};
      },
      value);
}

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

json ParamToJson(const ParamInfo& p) {
  json j{{"name", p.name},         {"type", static_cast<int>(p.type)},
         {"summary", p.summary},   {"allowed", p.allowed},
         {"min", p.min_i64},       {"max", p.max_i64},
         {"fields", json::array()}};
  if (p.default_json) j["default"] = *p.default_json;
  for (const ParamInfo& f : p.fields) j["fields"].push_back(ParamToJson(f));
  return j;
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

json CheckToJson(const CheckInfo& c) {
  json params = json::array();
  for (const ParamInfo& p : c.params) params.push_back(ParamToJson(p));
  return {{"name", c.name},
          {"plugin", c.plugin},
          {"summary", c.summary},
          {"layer", static_cast<int>(c.layer)},
          {"devices", static_cast<int>(c.devices)},
          {"shareable", c.shareable},
          {"exclusive", c.exclusive},
          {"per_subject", c.per_subject},
          {"disturbs", c.disturbs},
          {"pooled", c.pooled},
          {"timeout_s", c.timeout_s},
          {"params", params},
          {"requires", c.prerequisites}};
}
CheckInfo CheckFromJson(const json& j) {
  CheckInfo c;
  c.name = Text(j, "name");
  c.plugin = Text(j, "plugin");
  c.summary = Text(j, "summary");
  c.layer = Enum(j, "layer", Layer::kOther);
  c.devices = Enum(j, "devices", Devices::kEnvironment);
  c.shareable = Bool(j, "shareable");
  c.exclusive = Bool(j, "exclusive");
  c.per_subject = Bool(j, "per_subject");
  c.disturbs = Bool(j, "disturbs");
  c.pooled = Bool(j, "pooled");
  c.timeout_s = Number(j, "timeout_s");
  c.prerequisites = Texts(j, "requires");
  const json& params = Field(j, "params");
  if (!params.is_array()) throw Malformed("field 'params' is not an array");
  for (const json& p : params) c.params.push_back(ParamFromJson(p));
  return c;
}

// One overload per message: the tag stands in "m".
json Body(const Describe&) { return {{"m", "describe"}}; }
json Body(const CollectFacts&) { return {{"m", "facts"}}; }
json Body(const Configure& m) {
  return {{"m", "configure"},          {"contract", m.contract}, {"facts", m.facts},
          {"subject", m.subject_name}, {"spec", m.subject_spec}, {"uuid", m.device_uuid},
          {"scratch", m.scratch_dir}};
}
json Body(const Warm&) { return {{"m", "warm"}}; }
json Body(const Canary&) { return {{"m", "canary"}}; }
json Body(const Run& m) {
  json params = json::object();
  for (const auto& [k, v] : m.params) params[k] = ToJson(v);
  return {{"m", "run"},
          {"n", m.serial},
          {"check", m.check},
          {"params", std::move(params)},
          {"timeout_s", m.timeout_s},
          {"seed", m.seed},
          {"skip_steps", m.skip_steps}};
}
json Body(const Shutdown&) { return {{"m", "shutdown"}}; }

json Body(const Hello& m) { return {{"m", "hello"}, {"version", m.version}, {"pid", m.pid}}; }
json Body(const PluginFailed& m) { return {{"m", "plugin_failed"}, {"reason", Bounded(m.reason)}}; }
json Body(const PluginDescribed& m) {
  return {{"m", "plugin"},
          {"name", m.info.name},
          {"version", m.info.version},
          {"summary", m.info.summary},
          {"abi_minor", m.info.abi_minor},
          {"has_facts", m.info.has_facts},
          {"facts_per_subject", m.info.facts_per_subject}};
}
json Body(const CheckDescribed& m) { return {{"m", "check"}, {"check", CheckToJson(m.check)}}; }
json Body(const FindingDescribed& m) {
  return {{"m", "finding_info"},
          {"slug", m.finding.slug},
          {"severity", static_cast<int>(m.finding.severity)},
          {"blame", static_cast<int>(m.finding.blame)},
          {"summary", Bounded(m.finding.summary)},
          {"remedy", Bounded(m.finding.remedy)},
          {"link", Bounded(m.finding.link)},
          {"by", m.finding.declared_by}};
}
json Body(const DescribeEnd&) { return {{"m", "describe_end"}}; }
json Body(const Fact& m) { return {{"m", "fact"}, {"key", m.key}, {"value", Bounded(m.value)}}; }
json Body(const FactsEnd&) { return {{"m", "facts_end"}}; }
json Body(const CanaryDone& m) { return {{"m", "canary_done"}, {"ok", m.ok}, {"detail", Bounded(m.detail)}}; }
json Body(const CaseStarted& m) { return {{"m", "case_started"}, {"n", m.serial}}; }
json Body(const Step& m) {
  return {{"m", "step"}, {"n", m.serial}, {"name", Bounded(m.name)}, {"skippable", m.skippable}};
}
json Body(const Expectation& m) {
  return {{"m", "expectation"},
          {"n", m.serial},
          {"file", Bounded(m.file)},
          {"line", m.line},
          {"what", Bounded(m.what)}};
}
json Body(const FindingSaid& m) {
  return {{"m", "finding"}, {"n", m.serial}, {"slug", Bounded(m.slug)}, {"detail", Bounded(m.detail)}};
}
// NaN and the infinities have no number in JSON.
json NumberOrName(double v) {
  if (std::isfinite(v)) return v;
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}
json Body(const Measurement& m) {
  return {{"m", "measurement"},      {"n", m.serial},
          {"name", Bounded(m.name)}, {"value", NumberOrName(m.value)},
          {"unit", Bounded(m.unit)}, {"goal", m.goal}};
}
json Body(const Attachment& m) {
  return {{"m", "attachment"},
          {"n", m.serial},
          {"name", Bounded(m.name)},
          {"mime", Bounded(m.mime)},
          {"path", m.path}};
}
json Body(const Log& m) {
  return {{"m", "log"}, {"n", m.serial}, {"level", m.level}, {"text", Bounded(m.text)}};
}
json Body(const Poisoned& m) { return {{"m", "poisoned"}, {"n", m.serial}, {"reason", Bounded(m.reason)}}; }
json Body(const Uncaught& m) { return {{"m", "uncaught"}, {"n", m.serial}, {"what", Bounded(m.what)}}; }
json Body(const CaseFinished& m) {
  json j{{"m", "case_finished"}, {"n", m.serial}, {"evaluated", m.evaluated}};
  if (m.skipped)
    j["skip"] = {{"kind", static_cast<int>(m.skip.kind)},
                 {"need", Bounded(m.skip.need)},
                 {"seen", Bounded(m.skip.seen)}};
  if (!m.context_error.empty()) j["context_error"] = Bounded(m.context_error);
  if (m.leaked) j["leaked"] = true;
  return j;
}

template <class Variant>
std::string EncodeAny(const Variant& message) {
  const auto encode = [&] {
    return std::visit(
        [](const auto& m) { return Body(m).dump(-1, ' ', false, json::error_handler_t::replace); }, message);
  };
  std::string packet = encode();
  while (packet.size() > kMaxPacket && text_bound > 64) {
    text_bound /= 2;
    packet = encode();
  }
  text_bound = kMaxText;
  return packet;
}

ToWorker ParseToWorker(const json& j) {
  const std::string m = Text(j, "m");
  if (m == "run") {
    Run r;
    r.serial = Int(j, "n");
    r.check = Text(j, "check");
    const json& params = Field(j, "params");
    if (!params.is_object()) throw Malformed("field 'params' is not an object");
    for (const auto& [k, v] : params.items()) r.params[k] = ToValue(v);
    r.timeout_s = Number(j, "timeout_s");
    const json& seed = Field(j, "seed");
    if (!seed.is_number_integer()) throw Malformed("field 'seed' is not an integer");
    r.seed = seed.get<uint64_t>();
    r.skip_steps = Texts(j, "skip_steps");
    return r;
  }
  if (m == "configure")
    return Configure{TextMap(j, "contract"), TextMap(j, "facts"), Text(j, "subject"),
                     Text(j, "spec"),        Text(j, "uuid"),     Text(j, "scratch")};
  if (m == "describe") return Describe{};
  if (m == "facts") return CollectFacts{};
  if (m == "warm") return Warm{};
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
    f.skip = {Enum(s, "kind", SkipKind::kVersion), Text(s, "need"), Text(s, "seen")};
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

FromWorker ParseFromWorker(const json& j) {
  const std::string m = Text(j, "m");
  if (m == "case_started") return CaseStarted{Int(j, "n")};
  if (m == "case_finished") return ParseCaseFinished(j);
  if (m == "step") return Step{Int(j, "n"), Text(j, "name"), Bool(j, "skippable")};
  if (m == "expectation")
    return Expectation{Int(j, "n"), Text(j, "file"), static_cast<int>(Int(j, "line")), Text(j, "what")};
  if (m == "finding") return FindingSaid{Int(j, "n"), Text(j, "slug"), Text(j, "detail")};
  if (m == "measurement")
    return Measurement{Int(j, "n"), Text(j, "name"), Number(j, "value"), Text(j, "unit"), Text(j, "goal")};
  if (m == "attachment") return Attachment{Int(j, "n"), Text(j, "name"), Text(j, "mime"), Text(j, "path")};
  if (m == "log") return Log{Int(j, "n"), static_cast<int>(Int(j, "level")), Text(j, "text")};
  if (m == "poisoned") return Poisoned{Int(j, "n"), Text(j, "reason")};
  if (m == "uncaught") return Uncaught{Int(j, "n"), Text(j, "what")};
  if (m == "hello") return Hello{static_cast<int>(Int(j, "version")), Int(j, "pid")};
  if (m == "plugin_failed") return PluginFailed{Text(j, "reason")};
  if (m == "plugin") return ParsePlugin(j);
  if (m == "check") return CheckDescribed{CheckFromJson(Field(j, "check"))};
  if (m == "finding_info")
    return FindingDescribed{{Text(j, "slug"), Enum(j, "severity", Severity::kNote),
                             Enum(j, "blame", Blame::kUndetermined), Text(j, "summary"), Text(j, "remedy"),
                             Text(j, "link"), Text(j, "by")}};
  if (m == "describe_end") return DescribeEnd{};
  if (m == "fact") return Fact{Text(j, "key"), Text(j, "value")};
  if (m == "facts_end") return FactsEnd{};
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

std::string Encode(const ToWorker& message) { return EncodeAny(message); }
std::string Encode(const FromWorker& message) { return EncodeAny(message); }

Result<ToWorker> DecodeToWorker(std::string_view packet) { return Decode<ToWorker>(packet, ParseToWorker); }
Result<FromWorker> DecodeFromWorker(std::string_view packet) {
  return Decode<FromWorker>(packet, ParseFromWorker);
}

}  // namespace cudnn_ci::wire
