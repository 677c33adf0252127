// Runner: what the result of a case counts for that ran while other processes used its device.
//
// A case of a concurrent check that is not shareable has a process of its own, and would have had the device
// for itself. So a result for which others may be the cause counts for nothing: the case runs again, alone,
// and its findings until then stay as notes. What others cannot cause counts at once.
#include <algorithm>

#include "exec/schedule/runner.h"

namespace cudnn_ci {
namespace {

bool IsOfResult(const Catalog& catalog, const std::string& plugin, const std::string& id) {
  for (const PluginInfo& p : catalog.plugins)
    for (const FindingInfo& f : p.findings)
      if (p.name == plugin && f.slug == id) return f.of_result;
  return false;
}

// Whether others may be the cause, and the case can run again. Of what survived SIGKILL the GPU is lost.
bool IsInconclusive(const Catalog& catalog, const std::string& plugin, const Outcome& outcome,
                    const std::vector<FindingReported>& found) {
  if (const auto* skipped = std::get_if<Skipped>(&outcome)) return skipped->kind == SkipKind::kMemory;
  if (const auto* errored = std::get_if<Errored>(&outcome))
    return errored->kind != ErrorKind::kCancelled && errored->kind != ErrorKind::kDeviceLost &&
           errored->kind != ErrorKind::kAbandoned;
  if (!std::holds_alternative<Failed>(outcome)) return false;
  const auto may_be_theirs = [&](const FindingReported& one) {
    return one.finding.severity == Severity::kError && !IsOfResult(catalog, plugin, one.finding.slug);
  };
  const bool has_error = std::any_of(found.begin(), found.end(), [](const FindingReported& one) {
    return one.finding.severity == Severity::kError;
  });
  return !has_error || std::any_of(found.begin(), found.end(), may_be_theirs);
}

}  // namespace

bool Runner::Keeps(WorkerSlot* slot, EventBody* event) const {
  auto* found = std::get_if<FindingReported>(event);
  if (!found || !slot->IsBesideOthers()) return false;
  slot->kept.push_back(std::move(*found));
  return true;
}

void Runner::EmitKept(WorkerSlot* slot, AttemptResult* result) {
  if (!slot->IsBesideOthers()) return;
  const std::string& plugin = plan_.cases[result->case_index].planned.plugin;
  result->inconclusive = IsInconclusive(catalog_, plugin, result->outcome, slot->kept);
  // Of one that did not come to its end, and does not run again, only what others cannot cause is an error.
  const bool unfinished = std::holds_alternative<Errored>(result->outcome);
  for (FindingReported& found : std::exchange(slot->kept, {})) {
    const bool counts = !unfinished || IsOfResult(catalog_, plugin, found.finding.slug);
    if (result->inconclusive || !counts) found.finding.severity = Severity::kNote;
    Emit(found);
  }
}

// The same code ran as in a case that fails in a shared process, and the same rule holds: it runs again,
// alone, and a pass does not make good what was seen.
void Runner::OnPreparationFailed(PreparationFailed failed) {
  cases_.Suspect(failed.case_index, std::move(failed.how), failed.signal);
  scheduler_.RunAlone(failed.case_index);
}

// The run is over: what was to be looked at again counts as it stands. What others may have caused does not.
Outcome Runner::AsItStands(const AttemptResult& result) {
  if (!result.inconclusive) return result.outcome;
  const auto* errored = std::get_if<Errored>(&result.outcome);
  return Errored{ErrorKind::kCancelled, "the run ended before the case ran alone; beside others: " +
                                            (errored ? errored->detail : std::string(Name(result.outcome)))};
}

}  // namespace cudnn_ci
