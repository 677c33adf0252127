// Findings that only the whole run shows: entries without a pass, expired waivers, an empty plan.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "model/json/value.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {
namespace {

// One entry, subject, type and shape.
struct Group {
  std::string check, subject, dtype, shape;
  const Skipped* example = nullptr;    // one of kind unsupported, if there is one
  std::map<SkipKind, int> kinds = {};  // of the skips that left its cases out
  bool all_left_out = true;
};

std::string ParamText(const Params& params, const char* name) {
  const auto place = params.find(name);
  return place == params.end() ? "" : IdText(place->second);
}

// The allowed skip that left the case out: its own, or the one that blocks it. Null: it passed, or is red or
// waived.
const Skipped* LeftOutBy(const Summary& summary, const CaseRecord& record) {
  const bool blocked = std::holds_alternative<Blocked>(record.outcome);
  if (blocked && IsRed(summary, record)) return nullptr;
  const CaseRecord* skipped = blocked ? RootBlocker(summary, record) : &record;
  return skipped && IsAllowedSkip(*skipped) ? &std::get<Skipped>(skipped->outcome) : nullptr;
}

void AddTo(Group* group, const Summary& summary, const CaseRecord& record) {
  const Skipped* skipped = LeftOutBy(summary, record);
  if (!skipped) {
    group->all_left_out = false;
    return;
  }
  ++group->kinds[skipped->kind];
  // Its own: a lack of what it needs is no lack of engines.
  const bool own = std::holds_alternative<Skipped>(record.outcome);
  if (!group->example && own && skipped->kind == SkipKind::kUnsupported) group->example = skipped;
}

Finding NoEngine(const Group& group) {
  std::string what = group.check;
  if (!group.subject.empty()) what += " subject=" + group.subject;
  if (!group.dtype.empty()) what += " dtype=" + group.dtype;
  if (!group.shape.empty()) what += " shape=" + group.shape;
  std::string kinds;
  for (const auto& [kind, count] : group.kinds)
    kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + Name(kind);
  if (group.kinds.size() == 1) kinds = Name(SkipKind::kUnsupported);
  Finding finding =
      HarnessFinding("no-engine", what + ": every case was skipped, none passed (" + kinds + ": needs " +
                                      group.example->need + ", saw " + group.example->seen + ")");
  // Where memory ran short, a machine with more of it might have run what is left.
  if (group.kinds.count(SkipKind::kMemory) > 0) finding.blame = Blame::kUndetermined;
  return finding;
}

void AddNoEngine(const Summary& summary, std::vector<Finding>* out) {
  // Of a part it cannot be said that nothing passed.
  if (summary.run && !summary.run->partial.empty()) return;
  struct EntryState {
    bool finished = true, required = false;
  };
  std::map<int, EntryState> entries;
  std::map<std::tuple<int, std::string, std::string, std::string>, Group> groups;
  const bool one_subject = !summary.run || summary.run->subjects.size() < 2;  // not worth a word
  for (const CaseRecord& record : summary.cases) {
    const int entry = record.plan.entry;
    if (entry < 0) continue;
    EntryState& state = entries[entry];
    state.required |= record.plan.required;
    state.finished &= !std::holds_alternative<NotRun>(record.outcome);
    const std::string dtype = ParamText(record.plan.params, "dtype");
    const std::string shape = ParamText(record.plan.params, "shape");
    const std::string& subject = record.plan.subject;
    Group& group = groups[{entry, subject, dtype, shape}];
    if (group.check.empty()) group = {record.plan.check, one_subject ? "" : subject, dtype, shape};
    AddTo(&group, summary, record);
  }
  for (const auto& [key, group] : groups) {
    const EntryState& state = entries[std::get<0>(key)];
    // Without one that is unsupported it is no lack of engines: too little memory, an absent part or another
    // version, as the matrix allows.
    if (state.finished && state.required && group.all_left_out && group.example)
      out->push_back(NoEngine(group));
  }
}

void AddExpiredWaivers(const Summary& summary, std::vector<Finding>* out) {
  const std::string today = DayOf(summary);
  std::vector<const Waiver*> expired;
  for (const Waiver& waiver : summary.waivers) {
    const auto renewed = [&](const Waiver& other) {
      return other.expires >= today && other.case_pattern == waiver.case_pattern &&
             other.slug == waiver.slug && (other.blame.empty() || other.blame == waiver.blame);
    };
    const std::vector<Waiver>& all = summary.waivers;
    if (waiver.expires < today && std::none_of(all.begin(), all.end(), renewed)) expired.push_back(&waiver);
  }
  if (expired.empty()) return;
  // One finding a waiver, naming the first case it would have covered.
  std::vector<const CaseRecord*> first(expired.size(), nullptr);
  for (const CaseRecord& record : summary.cases) {
    if (!std::holds_alternative<Failed>(record.outcome) && !std::holds_alternative<Errored>(record.outcome))
      continue;
    for (const Finding& finding : ErrorFindings(record)) {
      if (FindWaiver(summary, record, finding, today)) continue;  // a newer waiver took its place
      for (size_t i = 0; i < expired.size(); ++i) {
        if (!first[i] && Covers(*expired[i], record, finding)) first[i] = &record;
      }
    }
  }
  for (size_t i = 0; i < expired.size(); ++i) {
    // Red even where nothing fails any more: what is not maintained does not stay in the contract.
    const std::string now =
        first[i] ? DisplayId(first[i]->plan.ref) + " still fails" : "nothing that it covers fails";
    out->push_back(HarnessFinding(
        "waiver-expired", "the waiver of " + FindingName(*expired[i]) + " in " + expired[i]->case_pattern +
                              " by " + expired[i]->owner + " ended on " + expired[i]->expires + "; " + now));
  }
}

}  // namespace

std::vector<Finding> RunLevelFindings(const Summary& summary) {
  std::vector<Finding> findings;
  if (summary.plan_end && summary.cases.empty() && summary.plan_end->count == 0) {
    findings.push_back(HarnessFinding("nothing-selected", "the plan has no case"));
  }
  AddNoEngine(summary, &findings);
  AddExpiredWaivers(summary, &findings);
  return findings;
}

}  // namespace cudnn_ci
