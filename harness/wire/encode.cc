// Messages to packets. JSON is chosen because a crashed worker's last packet can be read by a person.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "wire/message.h"

namespace cudnn_ci::wire {
namespace {

using nlohmann::json;

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

json ParamToJson(const ParamInfo& p) {
  json j{{"name", p.name},         {"type", static_cast<int>(p.type)},
         {"summary", p.summary},   {"allowed", p.allowed},
         {"min", p.min_i64},       {"max", p.max_i64},
         {"fields", json::array()}};
  if (p.default_json) j["default"] = *p.default_json;
  for (const ParamInfo& f : p.fields) j["fields"].push_back(ParamToJson(f));
  return j;
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
          {"per_subject", c.per_subject},
          {"disturbs", c.disturbs},
          {"pooled", c.pooled},
          {"second_opinion", c.second_opinion},
          {"concurrent", c.concurrent},
          {"validates", c.validates},
          {"timeout_s", c.timeout_s},
          {"params", params},
          {"requires", c.prerequisites},
          {"judges", c.judges}};
}
// Any bytes as printable ASCII without quotes: the kernel's paths are no text.
std::string PercentEncode(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    if (NeedsNoEscape(c)) {
      text += c;
      continue;
    }
    char escaped[4];
    snprintf(escaped, sizeof escaped, "%%%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    text += escaped;
  }
  return text;
}

// One overload per message: the tag stands in "m".
json Body(const Describe&) { return {{"m", "describe"}}; }
json Body(const CollectFacts&) { return {{"m", "facts"}}; }
json Body(const Configure& m) {
  return {{"m", "configure"},      {"contract", m.contract},    {"compatibility", m.compatibility},
          {"facts", m.facts},      {"subject", m.subject_name}, {"spec", m.subject_spec},
          {"uuid", m.device_uuid}, {"scratch", m.scratch_dir},  {"folders", m.subject_folders}};
}
json Body(const Warm&) { return {{"m", "warm"}}; }
json Body(const Prepare&) { return {{"m", "prepare"}}; }
json Body(const Canary&) { return {{"m", "canary"}}; }
json ToJson(const Params& params) {
  json j = json::object();
  for (const auto& [k, v] : params) j[k] = ToJson(v);
  return j;
}
json Body(const Run& m) {
  return {{"m", "run"},
          {"n", m.serial},
          {"check", m.check},
          {"params", ToJson(m.params)},
          {"timeout_s", m.timeout_s},
          {"seed", m.seed},
          {"skip_steps", m.skip_steps}};
}
json Body(const Validate& m) {
  return {{"m", "validate"}, {"n", m.serial}, {"check", m.check}, {"params", ToJson(m.params)}};
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
          {"command", Bounded(m.finding.command)},
          {"where", Name(m.finding.where)},
          {"by", m.finding.declared_by}};
}
json Body(const DescribeEnd&) { return {{"m", "describe_end"}}; }
json Body(const Fact& m) { return {{"m", "fact"}, {"key", m.key}, {"value", Bounded(m.value)}}; }
json Body(const FactsEnd& m) {
  json j{{"m", "facts_end"}};
  if (!m.failure.empty()) j["failure"] = Bounded(m.failure);
  return j;
}
json Body(const CanaryDone& m) { return {{"m", "canary_done"}, {"ok", m.ok}, {"detail", Bounded(m.detail)}}; }
json Body(const Validated& m) {
  json problems = json::array();
  for (const ParamProblem& p : m.problems) {
    if (problems.size() == kMaxProblems) break;
    problems.push_back({{"parameter", Bounded(p.parameter)}, {"why", Bounded(p.why)}});
  }
  return {{"m", "validated"}, {"n", m.serial}, {"problems", problems}, {"failure", Bounded(m.failure)}};
}
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
  return {{"m", "finding"},
          {"n", m.serial},
          {"slug", Bounded(m.slug)},
          {"detail", Bounded(m.detail)},
          {"command", Bounded(m.command)},
          {"where", Name(m.where)}};
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
std::string Hex(uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}
// As the worker's signal handler writes it, which can call nothing of this.
json Body(const Crashed& m) {
  json frames = json::array();
  for (const CrashFrame& f : m.crash.frames) {
    if (frames.size() == kMaxCrashFrames) break;
    frames.push_back({{"a", Hex(f.address)}, {"m", PercentEncode(f.module)}, {"o", Hex(f.offset)}});
  }
  return {{"m", "crashed"},
          {"signal", m.crash.signal},
          {"code", m.crash.code},
          {"address", Hex(m.crash.address)},
          {"module", PercentEncode(m.crash.module)},
          {"frames", frames}};
}
json Body(const CaseFinished& m) {
  json j{{"m", "case_finished"}, {"n", m.serial}, {"evaluated", m.evaluated}};
  if (m.skipped)
    j["skip"] = {{"kind", static_cast<int>(m.skip.kind)},
                 {"need", Bounded(m.skip.need)},
                 {"seen", Bounded(m.skip.seen)},
                 {"resource", static_cast<int>(m.skip.resource)}};
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

}  // namespace

std::string Encode(const ToWorker& message) { return EncodeAny(message); }
std::string Encode(const FromWorker& message) { return EncodeAny(message); }

}  // namespace cudnn_ci::wire
