// The fields of every event, once: the encoder and the decoder of the journal both walk this list, so they
// cannot drift. Internal to journal.cc.
#ifndef CUDNN_CI_REPORT_JOURNAL_FIELDS_H_
#define CUDNN_CI_REPORT_JOURNAL_FIELDS_H_

#include "model/event.h"

namespace cudnn_ci::journal {

// `Io` is called as io("name", field) for each field; E is const for the encoder.
template <class E, class T>
inline constexpr bool kIs = std::is_same_v<std::remove_const_t<E>, T>;

template <class Io, class E>
void Fields(Io& io, E& e) {
  if constexpr (kIs<E, DeviceInfo>) {
    io("name", e.name), io("uuid", e.uuid), io("model", e.model),
        io("compute_capability", e.compute_capability);
  } else if constexpr (kIs<E, SubjectInfo>) {
    io("name", e.name), io("spec", e.spec);
  } else if constexpr (kIs<E, Waiver>) {
    io("case", e.case_pattern), io("slug", e.slug), io("reason", e.reason), io("owner", e.owner);
    io("expires", e.expires);
  } else if constexpr (kIs<E, Finding>) {
    io("slug", e.slug), io("severity", e.severity), io("blame", e.blame), io("detail", e.detail);
    io("summary", e.summary), io("remedy", e.remedy), io("link", e.link);
  } else if constexpr (kIs<E, RunStarted>) {
    io("run_id", e.run_id), io("timestamp", e.timestamp), io("version", e.version),
        io("hostname", e.hostname);
    io("matrix_name", e.matrix_name), io("matrix_path", e.matrix_path), io("matrix_sha256", e.matrix_sha256);
    io("image", e.image), io("command_line", e.command_line), io("subjects", e.subjects);
    io("devices", e.devices), io("contract", e.contract), io("facts", e.facts), io("not_gated", e.not_gated);
    io("warnings", e.warnings), io("waivers", e.waivers), io("partial", e.partial);
    io("report_only", e.report_only), io("shard_index", e.shard_index), io("shard_count", e.shard_count);
  } else if constexpr (kIs<E, CasePlanned>) {
    io.Ref(e.ref);
    io("check", e.check), io("plugin", e.plugin), io("subject", e.subject), io("layer", e.layer);
    io("required", e.required), io("prerequisite", e.prerequisite), io("timeout_s", e.timeout_s);
    io("entry", e.entry), io("allow_skip", e.allow_skip), io("allow_flaky", e.allow_flaky);
    io("params", e.params);
  } else if constexpr (kIs<E, PlanEnd>) {
    io("count", e.count), io("plan_sha256", e.plan_sha256);
  } else if constexpr (kIs<E, WorkerStarted>) {
    io("worker", e.worker), io("pid", e.pid), io("plugin", e.plugin), io("subject", e.subject);
    io("device", e.device), io("shared", e.shared);
  } else if constexpr (kIs<E, WorkerEnded>) {
    io("worker", e.worker), io("how", e.how), io("why", e.why);
  } else if constexpr (kIs<E, AttemptStarted>) {
    io.Ref(e.ref);
    io("attempt", e.attempt), io("worker", e.worker), io("mode", e.mode);
  } else if constexpr (kIs<E, StepReached>) {
    io.Ref(e.ref);
    io("name", e.name);
  } else if constexpr (kIs<E, ExpectationFailed>) {
    io.Ref(e.ref);
    io("file", e.file), io("line", e.line), io("what", e.what);
  } else if constexpr (kIs<E, FindingReported>) {
    io.Ref(e.ref);
    io("finding", e.finding);
  } else if constexpr (kIs<E, Measured>) {
    io.Ref(e.ref);
    io("name", e.name), io("value", e.value), io("unit", e.unit), io("goal", e.goal);
  } else if constexpr (kIs<E, Attached>) {
    io.Ref(e.ref);
    io("name", e.name), io("mime", e.mime), io("path", e.path);
  } else if constexpr (kIs<E, CaseSlow>) {
    io.Ref(e.ref);
    io("seconds", e.seconds), io("limit", e.limit);
  } else if constexpr (kIs<E, AttemptFinished>) {
    io.Ref(e.ref);
    io("attempt", e.attempt), io("worker", e.worker), io("outcome", e.outcome), io("seconds", e.seconds);
    io("output", e.output), io("evidence", e.evidence);
  } else if constexpr (kIs<E, CaseFinished>) {
    io.Ref(e.ref);
    io("outcome", e.outcome), io("seconds", e.seconds), io("flags", e.flags);
  } else if constexpr (kIs<E, DeviceLost>) {
    io("device", e.device), io("reason", e.reason);
  } else if constexpr (kIs<E, RunCancelled>) {
    io("reason", e.reason), io("signal", e.signal);
  } else if constexpr (kIs<E, RunFinished>) {
    io("seconds", e.seconds);
  } else if constexpr (kIs<E, Skipped>) {
    io("kind", e.kind), io("need", e.need), io("seen", e.seen);
  } else if constexpr (kIs<E, Blocked>) {
    io("by", e.by);
  } else if constexpr (kIs<E, Errored>) {
    io("kind", e.kind), io("detail", e.detail);
  } else if constexpr (kIs<E, NotRun>) {
    io("reason", e.reason);
  } else {
    static_assert(kIs<E, Passed> || kIs<E, Failed>, "every event has its fields here");
  }
}

}  // namespace cudnn_ci::journal

#endif  // CUDNN_CI_REPORT_JOURNAL_FIELDS_H_
