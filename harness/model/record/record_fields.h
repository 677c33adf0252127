// The fields of every record, once: what writes and reads the journal, what masks secrets and what writes
// report.json walk this list, so they cannot drift. Internal to them.
#ifndef CUDNN_CI_MODEL_RECORD_RECORD_FIELDS_H_
#define CUDNN_CI_MODEL_RECORD_RECORD_FIELDS_H_

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "model/record/event.h"

namespace cudnn_ci {

// A record as JSON. The journal leaves out what is empty; report.json shows it as its Mark says. A record of
// a case names it by io.Ref(ref).
struct RecordRules {
  static constexpr bool kStrict = false;
  EmptyFields empty = EmptyFields::kLeftOut;
  bool cleans = false;
  const std::string& Text(const std::string& text, Mark) const { return text; }
};

template <class Io, Like<DeviceInfo> E>
void Fields(Io& io, E& e) {
  io("name", e.name), io("model", e.model), io("uuid", e.uuid);
  io("compute_capability", e.compute_capability);
}
template <class Io, Like<SubjectInfo> E>
void Fields(Io& io, E& e) {
  io("name", e.name), io("spec", e.spec);
  io("folders", e.folders, Mark::kOptional), io("late_folders", e.late_folders, Mark::kOptional);
}
template <class Io, Like<Waiver> E>
void Fields(Io& io, E& e) {
  io("case", e.case_pattern), io("slug", e.slug), io("reason", e.reason), io("owner", e.owner);
  io("expires", e.expires), io("blame", e.blame);
}
template <class Io, Like<Finding> E>
void Fields(Io& io, E& e) {
  io("slug", e.slug), io("severity", e.severity), io("blame", e.blame), io("detail", e.detail);
  io("summary", e.summary), io("remedy", e.remedy), io("link", e.link, Mark::kOptional);
  io("command", e.command, Mark::kOptional), io("where", e.where, Mark::kOptional);
  io("subject", e.subject, Mark::kOptional);
}
template <class Io, Like<Notice> E>
void Fields(Io& io, E& e) {
  std::string code = Name(e.code);
  io("code", code), io("args", e.args);
  if constexpr (!std::is_const_v<E>) e = MakeNotice(code, std::move(e.args));
}
// Sentences for whoever reads the journal, and beside them the notices that they are made of. Who reads a
// record takes none whose notices and sentences do not belong together.
template <class Io, Like<Notices> E>
void NoticeFields(Io& io, const char* sentences, const char* key, E& e) {
  std::vector<std::string> words = SentencesOf(e);
  io(sentences, words), io(key, e);
  if constexpr (Reads<Io>)
    if (!TakeSentences(words, &e)) io.Refuse(key, "not one notice for each sentence");
}
template <class Io, Like<Notices> E>
void PartialFields(Io& io, E& e) {
  std::string words = PartialText(e);
  io("partial", words, Mark::kOrNull), io("partial_notices", e);
  if constexpr (Reads<Io>)
    if (!TakePartialText(words, &e)) io.Refuse("partial_notices", "not the notices of the text");
}
template <class Io, Like<RunStarted> E>
void Fields(Io& io, E& e) {
  io("run_id", e.run_id), io("token_sha256", e.token_sha256), io("timestamp", e.timestamp),
      io("version", e.version), io("hostname", e.hostname);
  io("matrix_name", e.matrix_name), io("matrix_path", e.matrix_path), io("matrix_sha256", e.matrix_sha256);
  io("image", e.image), io("digest_from", e.digest_from);
  io("command_line", e.command_line), io("container_command", e.container_command);
  io("compatibility", e.compatibility), io("knowledge", e.knowledge);
  io("subjects", e.subjects), io("devices", e.devices), io("contract", e.contract), io("facts", e.facts);
  io("environment", e.environment), io("plugins", e.plugins);
  NoticeFields(io, "not_gated", "not_gated_notices", e.not_gated);
  NoticeFields(io, "warnings", "warning_notices", e.warnings), PartialFields(io, e.partial);
  io("report_only", e.report_only), io("shard_index", e.shard_index), io("shard_count", e.shard_count);
  io("merged_by", e.merged_by), io("parts", e.parts);
}
template <class Io, Like<RunPart> E>
void Fields(Io& io, E& e) {
  io("name", e.name), io("verdict", e.verdict), io("run_id", e.run_id), io("timestamp", e.timestamp);
  io("hostname", e.hostname), io("driver", e.driver, Mark::kOrNull), io("gpus", e.gpus);
  io("command_line", e.command_line, Mark::kOptional), io("seconds", e.seconds);
}
template <class Io, Like<VersionTable> E>
void Fields(Io& io, E& e) {
  io("as_of", e.as_of), io("path", e.path), io("sha256", e.sha256);
}
template <class Io, Like<KnowledgeFile> E>
void Fields(Io& io, E& e) {
  io("schema", e.schema), io("as_of", e.as_of), io("path", e.path), io("sha256", e.sha256);
  io("from", e.from, Mark::kOptional);
}
template <class Io, Like<PluginIdentity> E>
void Fields(Io& io, E& e) {
  io("name", e.name), io("version", e.version), io("path", e.path), io("sha256", e.sha256, Mark::kOrNull);
  io("from", e.from, Mark::kOptional);
}
template <class Io, Like<WaiverDeclared> E>
void Fields(Io& io, E& e) {
  io("waiver", e.waiver);
}
template <class Io, Like<CasePlanned> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("check", e.check), io("plugin", e.plugin), io("subject", e.subject), io("layer", e.layer);
  io("required", e.required), io("prerequisite", e.prerequisite), io("timeout_s", e.timeout_s);
  io("entry", e.entry), io("place", e.place), io("allow_skip", e.allow_skip),
      io("allow_flaky", e.allow_flaky);
  io("params", e.params);
}
template <class Io, Like<PlanEnd> E>
void Fields(Io& io, E& e) {
  io("count", e.count), io("plan_sha256", e.plan_sha256), io("whole", e.whole);
}
template <class Io, Like<WorkerStarted> E>
void Fields(Io& io, E& e) {
  io("worker", e.worker), io("pid", e.pid), io("plugin", e.plugin), io("subject", e.subject);
  io("device", e.device), io("shared", e.shared), io("sharing", e.sharing);
}
template <class Io, Like<WorkerEnded> E>
void Fields(Io& io, E& e) {
  io("worker", e.worker), io("how", e.how), io("why", e.why);
}
template <class Io, Like<AttemptStarted> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("attempt", e.attempt), io("worker", e.worker), io("mode", e.mode);
}
template <class Io, Like<StepReached> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("name", e.name);
}
template <class Io, Like<ExpectationFailed> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("file", e.file), io("line", e.line), io("what", e.what);
}
template <class Io, Like<FindingReported> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("finding", e.finding);
}
template <class Io, Like<Measured> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("name", e.name), io("value", e.value), io("unit", e.unit), io("goal", e.goal);
}
template <class Io, Like<TableCell> C>
void Fields(Io& io, C& c) {
  io("text", c.text), io("state", c.state, Mark::kOptional);
}
template <class Io, Like<TableRow> R>
void Fields(Io& io, R& r) {
  io("cells", r.cells);
}
template <class Io, Like<AttachedTable> T>
void Fields(Io& io, T& t) {
  io("title", t.title), io("columns", t.columns), io("rows", t.rows), io("left_out", t.left_out);
}
template <class Io, Like<Attached> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("name", e.name), io("mime", e.mime), io("path", e.path), io("table", e.table, Mark::kOptional);
}
template <class Io, Like<CaseSlow> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("seconds", e.seconds), io("limit", e.limit);
}
template <class Io, Like<Skipped> E>
void Fields(Io& io, E& e) {
  io("kind", e.kind), io("need", e.need), io("seen", e.seen), io("resource", e.resource, Mark::kOptional);
}
template <class Io, Like<Blocked> E>
void Fields(Io& io, E& e) {
  io("by", e.by);
}
template <class Io, Like<Errored> E>
void Fields(Io& io, E& e) {
  io("kind", e.kind), io("detail", e.detail), io("site", e.site, Mark::kOptional);
}
template <class Io, Like<NotRun> E>
void Fields(Io& io, E& e) {
  io("reason", e.reason);
}
template <class Io, Like<Passed> E>
void Fields(Io&, E&) {}
template <class Io, Like<Failed> E>
void Fields(Io&, E&) {}
template <class Io, Like<Outcome> E>
void Fields(Io& io, E& e) {
  std::string is = Name(std::as_const(e));
  io("is", is);
  if constexpr (Reads<Io>)
    if (!Choose(is, &e)) io.RefuseName("outcome", is);
  std::visit([&io](auto& outcome) { Fields(io, outcome); }, e);
}
template <class Io, Like<AttemptFinished> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("attempt", e.attempt), io("worker", e.worker), io("outcome", e.outcome), io("seconds", e.seconds);
  io("output", e.output), io("evidence", e.evidence);
}
template <class Io, Like<CaseFinished> E>
void Fields(Io& io, E& e) {
  io.Ref(e.ref);
  io("outcome", e.outcome), io("seconds", e.seconds), io("flags", e.flags);
}
template <class Io, Like<DeviceLost> E>
void Fields(Io& io, E& e) {
  io("device", e.device), io("reason", e.reason);
}
template <class Io, Like<RunCancelled> E>
void Fields(Io& io, E& e) {
  io("reason", e.reason), io("signal", e.signal);
}
template <class Io, Like<RunFinished> E>
void Fields(Io& io, E& e) {
  io("seconds", e.seconds), io("token", e.token);
}
}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_RECORD_FIELDS_H_
