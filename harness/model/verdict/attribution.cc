// Why a case did not pass. See attribution.h.
#include "model/verdict/attribution.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/record/finding_ids.h"

namespace cudnn_ci {
namespace {

bool HasFlag(const CaseRecord& record, Flag flag) {
  return std::find(record.flags.begin(), record.flags.end(), flag) != record.flags.end();
}

// Whether the harness came to this between two attempts. What a check says of its GPU is one of its
// errors.
bool HarnessSaid(const CaseRecord& record, const std::string& slug) {
  const auto told = [&](const Finding& finding) {
    return std::any_of(record.attempts.begin(), record.attempts.end(), [&](const AttemptRecord& a) {
      return std::find(a.findings.begin(), a.findings.end(), finding) != a.findings.end();
    });
  };
  return std::any_of(record.findings.begin(), record.findings.end(), [&](const Finding& f) {
    return f.severity == Severity::kError && f.slug == slug && !told(f);
  });
}

Finding FindingOfPass(const CaseRecord& record) {
  if (HasFlag(record, Flag::kOrderDependent)) {
    return HarnessFinding("order-dependent", "failed in a shared process and passed alone");
  }
  return HarnessFinding("flaky", "failed, then passed when it was repeated");
}

std::string FailureText(const CaseRecord& record) {
  for (auto attempt = record.attempts.rbegin(); attempt != record.attempts.rend(); ++attempt) {
    if (attempt->expectations.empty() || attempt->mode == AttemptMode::kCrossDevice) continue;
    if (IsDiscarded(record, *attempt)) continue;
    const ExpectationFailed& first = attempt->expectations.front();
    std::string text = first.file.empty() ? "" : first.file + ":" + std::to_string(first.line) + ": ";
    return text + first.what;
  }
  return "an expectation did not hold";
}

// A pass that came only after a failure is no pass, unless the matrix says so.
bool IsUncleanPass(const CaseRecord& record) {
  if (!std::holds_alternative<Passed>(record.outcome)) return false;
  if (HasFlag(record, Flag::kOrderDependent)) return true;
  return HasFlag(record, Flag::kFlaky) && !record.plan.allow_flaky;
}

// Where how a case ended overrules what was said on the way: a lost device explains every failure on it, and
// results that contradict each other blame no one.
std::string DecisiveSlug(const CaseRecord& record) {
  if (const auto* errored = std::get_if<Errored>(&record.outcome)) {
    if (errored->kind == ErrorKind::kDeviceLost || errored->kind == ErrorKind::kAbandoned)
      return SlugOf(errored->kind);
  }
  // What the GPUs say of one another comes before what the case alone looks like: two that fail alike before
  // one that differs.
  if (std::holds_alternative<Failed>(record.outcome))
    for (const char* slug : {kFailsOnAnotherGpu, kGpuComputesWrong})
      if (HarnessSaid(record, slug)) return slug;
  if (HasFlag(record, Flag::kOrderDependent)) return "order-dependent";
  if (HasFlag(record, Flag::kFlaky)) return "flaky";
  return "";
}

// The case that blocks one on `device`. A record that does not name its device means that of the blocked
// case, none, or the first that has such a case.
const CaseRecord* Blocker(const Summary& summary, const CaseRef& by, const std::string& device) {
  if (!by.device.empty()) return summary.Find(by);
  for (const char* other : {device.c_str(), "", "gpu0"})
    if (const CaseRecord* found = summary.Find({by.id, other})) return found;
  if (summary.run)
    for (const DeviceInfo& other : summary.run->devices)
      if (const CaseRecord* found = summary.Find({by.id, other.name})) return found;
  return nullptr;
}

}  // namespace

bool IsDecisiveSlug(const std::string& slug) {
  for (const char* decisive : {kFailsOnAnotherGpu, kGpuComputesWrong, "order-dependent", "flaky"})
    if (slug == decisive) return true;
  return slug == SlugOf(ErrorKind::kDeviceLost) || slug == SlugOf(ErrorKind::kAbandoned);
}

const char* SlugOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kCrashed:
      return "crashed";
    case ErrorKind::kTimedOut:
      return "timed-out";
    case ErrorKind::kExited:
      return "exited-early";
    case ErrorKind::kProtocol:
      return "protocol-violation";
    case ErrorKind::kOutOfMemory:
      return "out-of-memory";
    case ErrorKind::kOutputLimit:
      return "output-limit";
    case ErrorKind::kProcessLimit:
      return "process-limit";
    case ErrorKind::kPluginLoad:
      return "plugin-load";
    case ErrorKind::kDeviceLost:
      return "device-lost";
    case ErrorKind::kAbandoned:
      return "abandoned";
    case ErrorKind::kKilledFromOutside:
      return "killed-from-outside";
    case ErrorKind::kCancelled:
      break;
  }
  return "cancelled";
}

Blame BlameOf(const Errored& errored, Layer layer) {
  const bool in_driver = layer == Layer::kDriver;
  if (errored.kind == ErrorKind::kCrashed) {
    switch (errored.site) {
      case CrashSite::kHarness:
        return Blame::kHarness;
      case CrashSite::kImage:
        return Blame::kImage;
      case CrashSite::kDriver:
      case CrashSite::kUnknown:
        return in_driver ? Blame::kRunner : Blame::kUndetermined;
    }
  }
  // A command of the image has started them, no plugin.
  if (errored.kind == ErrorKind::kProcessLimit && errored.site == CrashSite::kImage) return Blame::kImage;
  // A plugin's own code did not come to its end.
  if (errored.kind == ErrorKind::kTimedOut && errored.site == CrashSite::kHarness) return Blame::kHarness;
  const Blame declared = FindHarnessFinding(SlugOf(errored.kind))->blame;
  return declared == Blame::kImage && in_driver ? Blame::kRunner : declared;
}

Finding FindingOfOutcome(const CaseRecord& record, const Outcome& outcome) {
  Finding finding;
  if (const auto* errored = std::get_if<Errored>(&outcome)) {
    finding = HarnessFinding(SlugOf(errored->kind), errored->detail);
    finding.blame = BlameOf(*errored, record.plan.layer);
  } else if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
    finding = HarnessFinding("skip-not-allowed", std::string("skipped (") + Name(skipped->kind) +
                                                     "): needs " + skipped->need + ", saw " + skipped->seen);
  } else if (const auto* not_run = std::get_if<NotRun>(&outcome)) {
    finding = HarnessFinding("not-run", not_run->reason.empty() ? "the run did not finish" : not_run->reason);
  } else if (std::holds_alternative<Passed>(outcome)) {
    finding = FindingOfPass(record);
  } else {
    finding = HarnessFinding("expectation-failed", FailureText(record));
  }
  const bool errored = std::holds_alternative<Errored>(outcome);
  if (!errored && finding.blame == Blame::kImage && record.plan.layer == Layer::kDriver)
    finding.blame = Blame::kRunner;
  finding.severity = Severity::kError;
  return finding;
}

bool IsGood(const CasePlanned& plan, const Outcome& outcome) {
  if (std::holds_alternative<Passed>(outcome)) return true;
  const auto* skipped = std::get_if<Skipped>(&outcome);
  return skipped &&
         std::find(plan.allow_skip.begin(), plan.allow_skip.end(), skipped->kind) != plan.allow_skip.end();
}

bool IsAllowedSkip(const CaseRecord& record) {
  return std::holds_alternative<Skipped>(record.outcome) && IsGood(record.plan, record.outcome);
}

const Finding* FirstErrorOfLastAttempt(const CaseRecord& record) {
  if (record.attempts.empty()) return nullptr;
  for (const Finding& finding : record.attempts.back().findings)
    if (finding.severity == Severity::kError) return &finding;
  return nullptr;
}

std::vector<Finding> ImpliedFindings(const CaseRecord& record, const Outcome& outcome) {
  if (IsGood(record.plan, outcome) || std::holds_alternative<Blocked>(outcome)) return {};
  // An optional case may skip as it likes.
  if (std::holds_alternative<Skipped>(outcome) && !record.plan.required) return {};
  const auto is_error = [](const Finding& f) { return f.severity == Severity::kError; };
  const bool reported = std::any_of(record.findings.begin(), record.findings.end(), is_error);
  if (std::holds_alternative<Failed>(outcome) && reported) return {};
  return {FindingOfOutcome(record, outcome)};
}

std::vector<Finding> ErrorFindings(const CaseRecord& record) {
  std::vector<Finding> errors;
  if (std::holds_alternative<Blocked>(record.outcome)) return errors;
  const bool passed = std::holds_alternative<Passed>(record.outcome);
  if (passed && record.plan.allow_flaky && HasFlag(record, Flag::kFlaky) && !IsUncleanPass(record))
    return errors;
  for (const Finding& finding : record.findings) {
    if (finding.severity == Severity::kError) errors.push_back(finding);
  }
  const std::string decisive = DecisiveSlug(record);
  if (!decisive.empty()) {
    const auto other = [&](const Finding& f) { return f.slug != decisive; };
    // Only if it was said: a record made by hand may hold the outcome alone.
    if (!std::all_of(errors.begin(), errors.end(), other)) std::erase_if(errors, other);
  }
  if (!errors.empty()) return errors;
  if (passed ? IsUncleanPass(record) : !IsAllowedSkip(record))
    errors.push_back(FindingOfOutcome(record, record.outcome));
  return errors;
}

const CaseRecord* RootBlocker(const Summary& summary, const CaseRecord& record) {
  const CaseRecord* at = &record;
  for (size_t hops = 0; hops <= summary.cases.size(); ++hops) {
    const auto* blocked = std::get_if<Blocked>(&at->outcome);
    if (!blocked) return at;
    const CaseRecord* next = Blocker(summary, blocked->by, at->plan.ref.device);
    if (!next) return nullptr;
    at = next;
  }
  return nullptr;
}

bool NamesCase(const Waiver& waiver, const CaseRef& ref) {
  return GlobMatch(waiver.case_pattern, ref.id) ||
         (!ref.device.empty() && GlobMatch(waiver.case_pattern, IdWithDevice(ref)));
}

bool Covers(const Waiver& waiver, const CaseRecord& record, const Finding& finding) {
  return waiver.slug == finding.slug && (waiver.blame.empty() || waiver.blame == Name(finding.blame)) &&
         NamesCase(waiver, record.plan.ref);
}

std::string FindingName(const Waiver& waiver) {
  return waiver.blame.empty() ? waiver.slug : waiver.blame + "." + waiver.slug;
}

const Waiver* FindWaiver(const Summary& summary, const CaseRecord& record, const Finding& finding,
                         const std::string& today) {
  if (today.size() != 10) return nullptr;  // without a day, no waiver is known to hold
  for (const Waiver& waiver : summary.waivers) {
    if (today <= waiver.expires && Covers(waiver, record, finding)) return &waiver;
  }
  return nullptr;
}

std::string DayOf(const Summary& summary) { return summary.run ? Beginning(summary.run->timestamp, 10) : ""; }

}  // namespace cudnn_ci
