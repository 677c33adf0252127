// The fields of every message, once: the encoder and the decoder both walk this list, so they cannot drift.
// Internal to the two.
#ifndef CUDNN_CI_WIRE_MESSAGE_FIELDS_H_
#define CUDNN_CI_WIRE_MESSAGE_FIELDS_H_

#include <type_traits>

#include "wire/message.h"

namespace cudnn_ci::wire {

// `io` is called for each field:
//   io("key", field)                     text of a worker is cut to fit the packet
//   io.Whole("key", field)               text that is never cut
//   io.Exact("key", field)               text of a worker that is not cleaned: a path, a command
//   io.Optional("key", field)            left out when it is empty or false
//   io.If("key", present, field)         there only if `present`
//   io.Place("key", field)              where a command is typed, by its name
//   io.AtMost(n, "key", list)            the encoder drops what is beyond n, the decoder refuses it
//   io.Hex, io.Path("key", field)        as the signal handler of the worker writes numbers and paths
// M is const for the encoder. A message without a list does not compile.
template <class M, class T>
concept Like = std::is_same_v<std::remove_const_t<M>, T>;

// The last enumerator: what is beyond it is refused.
constexpr ParamType LastOf(ParamType) { return ParamType::kShape; }
constexpr Layer LastOf(Layer) { return Layer::kOther; }
constexpr Devices LastOf(Devices) { return Devices::kEnvironment; }
constexpr Severity LastOf(Severity) { return Severity::kNote; }
constexpr Blame LastOf(Blame) { return Blame::kUndetermined; }
constexpr SkipKind LastOf(SkipKind) { return SkipKind::kVersion; }
constexpr Resource LastOf(Resource) { return Resource::kHostMemory; }

// Messages without fields.
template <class Io, class M>
requires std::is_empty_v<M>
void Fields(Io&, M&) {}

template <class Io, Like<Configure> M>
void Fields(Io& io, M& m) {
  io("contract", m.contract), io("compatibility", m.compatibility), io("facts", m.facts);
  io("subject", m.subject_name), io("spec", m.subject_spec), io("folders", m.subject_folders);
  io("uuid", m.device_uuid), io("scratch", m.scratch_dir);
}
template <class Io, Like<Run> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("check", m.check), io("params", m.params), io("timeout_s", m.timeout_s);
  io("seed", m.seed), io("skip_steps", m.skip_steps);
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
  io.Whole("name", m.info.name), io.Whole("version", m.info.version), io.Whole("summary", m.info.summary);
  io("abi_minor", m.info.abi_minor);
  io("has_facts", m.info.has_facts), io("facts_per_subject", m.info.facts_per_subject);
}
template <class Io, Like<ParamInfo> M>
void Fields(Io& io, M& p) {
  io.Whole("name", p.name), io("type", p.type), io.Whole("summary", p.summary);
  io.Optional("default", p.default_json), io.Whole("allowed", p.allowed);
  io("min", p.min_i64), io("max", p.max_i64), io("fields", p.fields);
}
template <class Io, Like<CheckInfo> M>
void Fields(Io& io, M& c) {
  io.Whole("name", c.name), io.Whole("plugin", c.plugin), io.Whole("summary", c.summary);
  io("layer", c.layer), io("devices", c.devices), io("timeout_s", c.timeout_s);
  io("shareable", c.shareable), io("per_subject", c.per_subject), io("disturbs", c.disturbs);
  io("pooled", c.pooled), io("second_opinion", c.second_opinion), io("concurrent", c.concurrent);
  io("slow_cases", c.slow_cases), io("validates", c.validates);
  io("params", c.params), io.Whole("requires", c.prerequisites), io.Whole("judges", c.judges);
}
template <class Io, Like<CheckDescribed> M>
void Fields(Io& io, M& m) {
  io("check", m.check);
}
template <class Io, Like<FindingDescribed> M>
void Fields(Io& io, M& m) {
  io.Whole("slug", m.finding.slug), io("severity", m.finding.severity), io("blame", m.finding.blame);
  io("summary", m.finding.summary), io("remedy", m.finding.remedy), io("link", m.finding.link);
  io("command", m.finding.command), io.Place("where", m.finding.where);
  io.Whole("by", m.finding.declared_by);
}
template <class Io, Like<Fact> M>
void Fields(Io& io, M& m) {
  io.Whole("key", m.key), io("value", m.value);
}
template <class Io, Like<FactsEnd> M>
void Fields(Io& io, M& m) {
  io.Optional("failure", m.failure);
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
  io("n", m.serial), io.AtMost(kMaxProblems, "problems", m.problems), io("failure", m.failure);
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
  io.Exact("command", m.command), io.Place("where", m.where);
}
template <class Io, Like<Measurement> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("name", m.name), io("value", m.value), io("unit", m.unit), io.Whole("goal", m.goal);
}
template <class Io, Like<Attachment> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("name", m.name), io("mime", m.mime), io.Exact("path", m.path);
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
// The worker's signal handler writes this message without an encoder (crash_handler.cc).
template <class Io, Like<CrashFrame> M>
void Fields(Io& io, M& f) {
  io.Hex("a", f.address), io.Path("m", f.module), io.Hex("o", f.offset);
}
template <class Io, Like<Crashed> M>
void Fields(Io& io, M& m) {
  io("signal", m.crash.signal), io("code", m.crash.code), io.Hex("address", m.crash.address);
  io.Path("module", m.crash.module), io.AtMost(kMaxCrashFrames, "frames", m.crash.frames);
}
template <class Io, Like<Skipped> M>
void Fields(Io& io, M& s) {
  io("kind", s.kind), io("need", s.need), io("seen", s.seen), io("resource", s.resource);
}
template <class Io, Like<CaseFinished> M>
void Fields(Io& io, M& m) {
  io("n", m.serial), io("evaluated", m.evaluated), io.If("skip", m.skipped, m.skip);
  io.Optional("context_error", m.context_error), io.Optional("leaked", m.leaked);
}

}  // namespace cudnn_ci::wire

#endif  // CUDNN_CI_WIRE_MESSAGE_FIELDS_H_
