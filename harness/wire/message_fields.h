// The fields of every message, once: the encoder and the decoder both walk this list, so they cannot drift.
// Internal to the two.
#ifndef CUDNN_CI_WIRE_MESSAGE_FIELDS_H_
#define CUDNN_CI_WIRE_MESSAGE_FIELDS_H_

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "wire/message.h"

namespace cudnn_ci::wire {

// A message as JSON. Most enumerators travel as numbers.
struct MessageRules {
  static constexpr bool kStrict = true;
  EmptyFields empty = EmptyFields::kShown;
  bool cleans = false;
  size_t text_bound = std::string::npos;  // longer texts are cut, head and tail kept

  std::string Text(const std::string& bytes, Mark mark) const;
  static constexpr ParamType LastOf(ParamType) { return ParamType::kShape; }
  static constexpr Layer LastOf(Layer) { return Layer::kOther; }
  static constexpr Devices LastOf(Devices) { return Devices::kEnvironment; }
  static constexpr Severity LastOf(Severity) { return Severity::kNote; }
  static constexpr Blame LastOf(Blame) { return Blame::kUndetermined; }
  static constexpr SkipKind LastOf(SkipKind) { return SkipKind::kVersion; }
  static constexpr Resource LastOf(Resource) { return Resource::kHostMemory; }
};

// The name of a message in its packet ("m").
template <class... M>
const char* Name(const std::variant<M...>& message) {
  return std::visit([](const auto& m) { return m.kName; }, message);
}

// At most `most` elements: more are not written, and refused by who reads.
template <class Io, class List>
void AtMost(Io& io, size_t most, const char* key, List& list) {
  if constexpr (Reads<Io>) {
    io(key, list);
    if (list.size() > most) io.Refuse(key, "has too many elements");
  } else {
    io(key, List(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(most, list.size()))));
  }
}

// Numbers and paths as the signal handler of the worker writes them (crash_handler.cc). Paths are bytes of
// the kernel and no text. The readers return false for what no writer has written.
std::string HexText(uint64_t number);
bool ReadHexText(const std::string& text, uint64_t* number);
std::string PathText(const std::string& bytes);
bool ReadPathText(const std::string& text, std::string* bytes);

template <class Io, Like<uint64_t> N>
void Hex(Io& io, const char* key, N& number) {
  std::string text = HexText(number);
  io(key, text, Mark::kWhole);
  if constexpr (Reads<Io>)
    if (!ReadHexText(text, &number)) io.Refuse(key, "is not a hexadecimal number");
}
template <class Io, Like<std::string> S>
void Path(Io& io, const char* key, S& bytes) {
  std::string text = PathText(bytes);
  io(key, text, Mark::kWhole);
  if constexpr (Reads<Io>)
    if (!ReadPathText(text, &bytes)) io.Refuse(key, "is not percent-encoded");
}

// Messages without fields.
template <class Io, class M>
requires std::is_empty_v<M>
void Fields(Io&, M&) {}

template <class Io, Like<Configure> M>
void Fields(Io& io, M& m) {
  io("contract", m.contract), io("facts", m.facts);
  io("subject", m.subject_name), io("spec", m.subject_spec), io("folders", m.subject_folders);
  io("uuid", m.device_uuid), io("scratch", m.scratch_dir);
}
template <class Io, Like<Known> M>
void Fields(Io& io, M& m) {
  io("entries", m.entries);
}
template <class Io, Like<Run> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("check", m.check), io("params", m.params), io("timeout_s", m.timeout_s);
  io("seed", m.seed), io("skip_steps", m.skip_steps);
}
template <class Io, Like<PrepareCase> M>
void Fields(Io& io, M& m) {
  io("check", m.check), io("params", m.params), io("seed", m.seed);
}
template <class Io, Like<Validate> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("check", m.check), io("params", m.params);
}

template <class Io, Like<Hello> M>
void Fields(Io& io, M& m) {
  io("version", m.version), io("pid", m.pid);
}
template <class Io, Like<PluginFailed> M>
void Fields(Io& io, M& m) {
  io("reason", m.reason);
}
template <class Io, Like<PluginDescribed> M>
void Fields(Io& io, M& m) {
  io("name", m.info.name, Mark::kWhole), io("version", m.info.version, Mark::kWhole),
      io("summary", m.info.summary, Mark::kWhole);
  io("abi_minor", m.info.abi_minor);
  io("has_facts", m.info.has_facts), io("facts_per_subject", m.info.facts_per_subject);
}
template <class Io, Like<ParamInfo> M>
void Fields(Io& io, M& p) {
  io("name", p.name, Mark::kWhole), io("type", p.type), io("summary", p.summary, Mark::kWhole);
  io("default", p.default_json, Mark::kWhole), io("allowed", p.allowed, Mark::kWhole);
  io("min", p.min_i64), io("max", p.max_i64), io("fields", p.fields);
}
template <class Io, Like<CheckInfo> M>
void Fields(Io& io, M& c) {
  io("name", c.name, Mark::kWhole), io("plugin", c.plugin, Mark::kWhole),
      io("summary", c.summary, Mark::kWhole);
  io("layer", c.layer), io("devices", c.devices), io("timeout_s", c.timeout_s);
  io("shareable", c.shareable), io("per_subject", c.per_subject), io("disturbs", c.disturbs);
  io("pooled", c.pooled), io("second_opinion", c.second_opinion), io("concurrent", c.concurrent);
  io("slow_cases", c.slow_cases), io("validates", c.validates);
  io("params", c.params), io("requires", c.prerequisites, Mark::kWhole), io("judges", c.judges, Mark::kWhole);
}
template <class Io, Like<CheckDescribed> M>
void Fields(Io& io, M& m) {
  io("check", m.check);
}
template <class Io, Like<FindingDescribed> M>
void Fields(Io& io, M& m) {
  io("slug", m.finding.slug, Mark::kWhole), io("severity", m.finding.severity), io("blame", m.finding.blame);
  io("summary", m.finding.summary), io("remedy", m.finding.remedy), io("link", m.finding.link);
  io("command", m.finding.command), io("where", m.finding.where), io("of_result", m.finding.of_result);
  io("by", m.finding.declared_by, Mark::kWhole);
}
template <class Io, Like<Fact> M>
void Fields(Io& io, M& m) {
  io("key", m.key, Mark::kWhole), io("value", m.value);
}
template <class Io, Like<FactsEnd> M>
void Fields(Io& io, M& m) {
  io("failure", m.failure, Mark::kOptional);
}
template <class Io, Like<CanaryDone> M>
void Fields(Io& io, M& m) {
  io("ok", m.ok), io("detail", m.detail);
}
template <class Io, Like<ParamProblem> M>
void Fields(Io& io, M& p) {
  io("parameter", p.parameter), io("why", p.why);
}
template <class Io, Like<Validated> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), AtMost(io, kMaxProblems, "problems", m.problems), io("failure", m.failure);
}
template <class Io, Like<CaseStarted> M>
void Fields(Io& io, M& m) {
  io("n", m.serial);
}
template <class Io, Like<Step> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("name", m.name), io("skippable", m.skippable);
}
template <class Io, Like<Expectation> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("file", m.file), io("line", m.line), io("what", m.what);
}
template <class Io, Like<FindingSaid> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("slug", m.slug), io("detail", m.detail);
  io("command", m.command, Mark::kExact), io("where", m.where);
}
template <class Io, Like<Measurement> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("name", m.name), io("value", m.value), io("unit", m.unit),
      io("goal", m.goal, Mark::kWhole);
}
template <class Io, Like<Attachment> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("name", m.name), io("mime", m.mime), io("path", m.path, Mark::kExact);
}
template <class Io, Like<Log> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("level", m.level), io("text", m.text);
}
template <class Io, Like<Poisoned> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("reason", m.reason);
}
template <class Io, Like<Uncaught> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("what", m.what);
}
template <class Io, Like<CrashFrame> M>
void Fields(Io& io, M& f) {
  Hex(io, "a", f.address), Path(io, "m", f.module), Hex(io, "o", f.offset);
}
template <class Io, Like<Crashed> M>
void Fields(Io& io, M& m) {
  io("signal", m.crash.signal), io("code", m.crash.code), Hex(io, "address", m.crash.address);
  Path(io, "module", m.crash.module), AtMost(io, kMaxCrashFrames, "frames", m.crash.frames);
  if constexpr (Reads<Io>)
    if (m.crash.signal != kTimeIsOver &&
        std::ranges::find(kCrashSignals, m.crash.signal) == kCrashSignals.end())
      io.Refuse("signal", "is not one of a crash");
}
template <class Io, Like<Skipped> M>
void Fields(Io& io, M& s) {
  io("kind", s.kind), io("need", s.need), io("seen", s.seen), io("resource", s.resource);
}
template <class Io, Like<CaseFinished> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("evaluated", m.evaluated), io("skip", m.skip);
  io("context_error", m.context_error, Mark::kOptional), io("leaked", m.leaked, Mark::kOptional);
}

}  // namespace cudnn_ci::wire

#endif  // CUDNN_CI_WIRE_MESSAGE_FIELDS_H_
