// Findings that only the whole run shows: entries of which nothing passed, expired waivers, an empty plan.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "model/reasons.h"
#include "model/value.h"
#include "model/verdict.h"

namespace cudnn_ci {
namespace {

// One entry, type and shape.
struct Group {
  const CaseRecord* example = nullptr;
  std::string dtype, shape;
  bool all_skipped = true;
};

std::string ParamText(const Params& params, const char* name) {
  const auto place = params.find(name);
  return place == params.end() ? "" : IdText(place->second);
}

Finding NoEngine(const Group& group) {
  const Skipped& skipped = std::get<Skipped>(group.example->outcome);
  std::string what = group.example->plan.check;
  if (!group.dtype.empty()) what += " dtype=" + group.dtype;
  if (!group.shape.empty()) what += " shape=" + group.shape;
  return HarnessFinding("no-engine", what + ": every case was skipped, none passed (" + Name(skipped.kind) +
                                         ": needs " + skipped.need + ", saw " + skipped.seen + ")");
}

void AddNoEngine(const Summary& summary, std::vector<Finding>* out) {
  // Of a part it cannot be said that nothing passed.
  if (summary.run && !summary.run->partial.empty()) return;
  struct EntryState {
    bool finished = true, required = false;
  };
  std::map<int, EntryState> entries;
  std::map<std::tuple<int, std::string, std::string>, Group> groups;
  for (const CaseRecord& record : summary.cases) {
    const int entry = record.plan.entry;
    if (entry < 0) continue;
    EntryState& state = entries[entry];
    state.required |= record.plan.required;
    state.finished &= !std::holds_alternative<NotRun>(record.outcome);
    std::string dtype = ParamText(record.plan.params, "dtype");
    std::string shape = ParamText(record.plan.params, "shape");
    Group& group = groups[{entry, dtype, shape}];
    if (!group.example) group = {&record, std::move(dtype), std::move(shape), true};
    // Too little memory, an absent part or another version are no lack of engines.
    const auto* skipped = std::get_if<Skipped>(&record.outcome);
    group.all_skipped &= IsAllowedSkip(record) && skipped->kind == SkipKind::kUnsupported;
  }
  for (const auto& [key, group] : groups) {
    const EntryState& state = entries[std::get<0>(key)];
    if (state.finished && state.required && group.all_skipped) out->push_back(NoEngine(group));
  }
}

void AddExpiredWaivers(const Summary& summary, std::vector<Finding>* out) {
  const std::string today = DayOf(summary);
  std::vector<const Waiver*> expired;
  for (const Waiver& waiver : summary.waivers) {
    const auto renewed = [&](const Waiver& other) {
      return other.expires >= today && other.case_pattern == waiver.case_pattern && other.slug == waiver.slug;
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
    // Red even where nothing fails any more: what nobody looks after does not stay in the contract.
    const std::string now =
        first[i] ? DisplayId(first[i]->plan.ref) + " still fails" : "nothing fails that it covers";
    out->push_back(HarnessFinding(
        "waiver-expired", "the waiver of " + expired[i]->slug + " in " + expired[i]->case_pattern + " by " +
                              expired[i]->owner + " ended on " + expired[i]->expires + "; " + now));
  }
}

}  // namespace

std::vector<Finding> ClosingFindings(const Summary& summary) {
  std::vector<Finding> findings;
  if (summary.plan_end && summary.cases.empty() && summary.plan_end->count == 0) {
    findings.push_back(HarnessFinding("nothing-selected", "the plan holds no case"));
  }
  AddNoEngine(summary, &findings);
  AddExpiredWaivers(summary, &findings);
  return findings;
}

}  // namespace cudnn_ci
