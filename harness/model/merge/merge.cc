// Shards of one run, as one. See merge.h.
#include "model/merge/merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/merge/merge_parts.h"
#include "model/plan/plan.h"
#include "model/record/notice_list.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostNamed = 16;  // of the shards that are missing

// A case of the whole plan, and what each shard that has it says of it.
struct Copies {
  CasePlanned planned;
  std::vector<std::pair<const Part*, const CaseRecord*>> of;  // in order of the shards
};
using MergedPlan = std::map<int, Copies>;  // by place

// "shard 2/4", or "node 2/4", of the runs that this one is of.
std::string ShardText(const RunStarted& run, int index) {
  return (IsNode(run) ? "node " : "shard ") + std::to_string(index) + "/" + std::to_string(run.shard_count);
}
std::string ShardText(const RunStarted& run) { return ShardText(run, run.shard_index); }

// A machine that was two nodes has left another one out.
Status CheckOwnGpus(const Part& a, const Part& b) {
  if (!IsNode(a.run())) return {};
  for (const DeviceInfo& one : a.run().devices)
    for (const DeviceInfo& other : b.run().devices)
      if (!one.uuid.empty() && one.uuid == other.uuid)
        return Error{a.name() + " and " + b.name() + " are " + ShardText(a.run()) + " and " +
                     ShardText(b.run()) + " and have both tested " + one.uuid +
                     ": start one task per node, with different GPUs for each task"};
  return {};
}

Status CheckShards(const std::vector<Part>& parts) {
  std::map<int, const Part*> by_index;
  for (const Part& part : parts) {
    const RunStarted& run = part.run();
    if (run.shard_count < 1 || run.shard_index < 1 || run.shard_index > run.shard_count)
      return Error{
          part.name() +
          ": is neither a shard (--shard I/N) nor a node (--nodes I/N) of a run; only these can be merged"};
    if (run.shard_count > kMostShards)
      return Error{part.name() + ": is of " + std::to_string(run.shard_count) + " shards, more than " +
                   std::to_string(kMostShards)};
    const RunStarted& first = parts[0].run();
    if (run.shard_count != first.shard_count || IsNode(run) != IsNode(first))
      return Error{parts[0].name() + " and " + part.name() + " are of different runs: " + ShardText(first) +
                   " and " + ShardText(run)};
    if (Status same = CheckSameRun(parts[0], part); !same) return same;
    const auto [place, added] = by_index.emplace(run.shard_index, &part);
    if (!added)
      return Error{place->second->name() + " and " + part.name() + " are both " + ShardText(run) +
                   "; name the one that counts"};
  }
  // The first need not be the one that differs from another only where it tells nothing itself.
  for (size_t i = 1; i < parts.size(); ++i)
    if (Status same = CheckSameRun(parts[i - 1], parts[i]); !same) return same;
  for (const Part& part : parts)
    if (Status same = CheckSameRun(FirstPlanned(parts), part); !same) return same;
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (Status own = CheckOwnGpus(parts[j], parts[i]); !own) return own;
  return {};
}

// The cases of all shards by their place. An error when they cannot be of one plan.
Result<MergedPlan> Gather(const std::vector<Part>& parts) {
  MergedPlan plan;
  for (const Part& part : parts) {
    for (const CaseRecord& record : part.summary.cases) {
      const CasePlanned& planned = record.plan;
      if (planned.place < 0)
        return Error{part.name() + ": its cases have no positions in the plan, so it cannot be merged"};
      Copies& copies = plan[planned.place];
      if (copies.of.empty()) {
        copies.planned = planned;
      } else if (copies.planned.ref != planned.ref || copies.planned.params != planned.params) {
        return Error{copies.of[0].first->name() + " and " + part.name() + " are of different plans: case " +
                     std::to_string(planned.place) + " is " + DisplayId(copies.planned.ref) + " and " +
                     DisplayId(planned.ref)};
      }
      // Only if no shard asked for it, it is a prerequisite.
      copies.planned.prerequisite = copies.planned.prerequisite && planned.prerequisite;
      copies.of.emplace_back(&part, &record);
    }
  }
  return plan;
}

// The plan of a run whose shards are all there is known as a whole: it must be the one they say.
Status CheckSamePlan(const MergedPlan& plan, const PlanEnd& end) {
  std::vector<const CasePlanned*> whole;
  for (const auto& [place, copies] : plan)
    if (place < end.whole) whole.push_back(&copies.planned);
  if (static_cast<int64_t>(whole.size()) == end.whole && PlanFingerprint(whole) == end.plan_sha256) return {};
  return Error{"the shards hold " + std::to_string(whole.size()) + " cases of a plan of " +
               std::to_string(end.whole) + ", but not the cases that its sha256 stands for"};
}

// How severe the outcome of a record is: of several records of a case the most severe one counts. One that
// did not run counts least.
int SeverityRank(const Summary& summary, const CaseRecord& record) {
  if (std::holds_alternative<NotRun>(record.outcome)) return 0;
  if (std::holds_alternative<Blocked>(record.outcome)) return 3;
  if (!ErrorFindings(record).empty()) return IsRed(summary, record) ? 5 : 4;
  return std::holds_alternative<Passed>(record.outcome) ? 1 : 2;
}

const Part* WorstOf(const Copies& copies) {
  const Part* worst = nullptr;
  int most = -1;
  for (const auto& [part, record] : copies.of) {
    const int rank = SeverityRank(part->summary, *record);
    if (rank > most) worst = part, most = rank;
  }
  return worst;
}

// The shards by number, with those that are missing.
std::vector<RunPart> DescribeShards(const std::vector<Part>& parts) {
  const int count = parts[0].run().shard_count;
  std::vector<RunPart> described;
  for (int i = 1; i <= count; ++i) {
    const std::string name = std::to_string(i) + "/" + std::to_string(count);
    const auto part =
        std::find_if(parts.begin(), parts.end(), [i](const Part& p) { return p.run().shard_index == i; });
    described.push_back(part == parts.end() ? MissingPart(name) : DescribePart(*part, name));
  }
  return described;
}

// Shards that are not there: the first ones by number, of the others how many.
std::vector<Finding> AbsentShards(const std::vector<Part>& parts) {
  std::vector<Finding> findings;
  std::set<int> there;
  for (const Part& part : parts) there.insert(part.run().shard_index);
  const int count = parts[0].run().shard_count;
  const std::string of = " missing: of " + std::to_string(count) +
                         (IsNode(parts[0].run()) ? " nodes there " : " shards there ") +
                         (there.size() == 1 ? "is " : "are ") + std::to_string(there.size());
  int rest = 0;
  for (int i = 1; i <= count; ++i) {
    if (there.count(i) > 0) continue;
    if (findings.size() == kMostNamed) {
      ++rest;
    } else {
      findings.push_back(HarnessFinding("part-missing", ShardText(parts[0].run(), i) + " is" + of));
    }
  }
  if (rest > 0)
    findings.push_back(
        HarnessFinding("part-missing", std::to_string(rest) + " more " + (rest == 1 ? "is" : "are") + of));
  return findings;
}

// Why the shards may not be the whole run: a finding for each that is missing or incomplete.
std::vector<Finding> MissingShards(const std::vector<Part>& parts) {
  std::vector<Finding> findings = AbsentShards(parts);
  for (const Part& part : parts) {
    if (!part.planned()) {
      const std::optional<RunCancelled>& cancelled = part.summary.cancelled;
      findings.push_back(HarnessFinding(
          "part-missing", ShardText(part.run()) + " (" + part.name() + ", on " + part.run().hostname +
                              ") ended before it had a plan" + (cancelled ? ": " + TextOf(*cancelled) : "")));
      continue;
    }
    if (part.summary.finished) continue;
    int64_t open = 0;
    for (const CaseRecord& record : part.summary.cases) open += record.finished ? 0 : 1;
    const bool planned = part.summary.plan_end.has_value();
    findings.push_back(HarnessFinding(
        "part-missing",
        ShardText(part.run()) + " (" + part.name() + ", on " + part.run().hostname + ") did not finish: " +
            (planned ? std::to_string(open) + " of its " + std::to_string(part.summary.cases.size()) +
                           " cases have no outcome"
                     : "its plan is not known whole")));
  }
  return findings;
}

// Drivers that differ are no reason to refuse; but whoever reads the verdict has to know.
void WarnOfDrivers(RunStarted* run) {
  std::map<std::string, std::vector<std::string>> shards;
  for (const RunPart& part : run->parts)
    if (!part.driver.empty()) shards[part.driver].push_back(part.name);
  if (shards.size() < 2) return;
  std::vector<std::string> texts;
  for (const auto& [driver, names] : shards) texts.push_back(driver + " (" + Join(names, ", ") + ")");
  run->warnings.push_back({NoticeCode::kDriversDiffer, {{"drivers", std::move(texts)}}});
}

RunStarted MakeRunStarted(const std::vector<Part>& parts) {
  RunStarted run = CommonRunStarted(parts);
  run.merged_by = IsNode(parts[0].run()) ? "nodes" : "shards";
  run.parts = DescribeShards(parts);
  const auto with_devices =
      std::find_if(parts.begin(), parts.end(), [](const Part& p) { return !p.run().devices.empty(); });
  if (with_devices != parts.end()) run.devices = with_devices->run().devices;
  WarnOfDrivers(&run);
  return run;
}

// What each shard's worst record of a case tells, then what the other records of it found.
void AddCases(const std::vector<Part>& parts, const MergedPlan& plan, Merged* merged) {
  std::map<CaseRef, const Part*> chosen;
  for (const auto& [place, copies] : plan) chosen[copies.planned.ref] = WorstOf(copies);
  std::vector<FindingReported> others;
  for (const Part& part : parts) {
    merged->AddWorkers(part);
    for (const Event& event : part.recorded->events) {
      if (!IsOfCase(part, event)) continue;
      const CaseRef* const ref = RefOf(event.body);
      if (chosen[*ref] == &part) {
        merged->Add(event.t_ms, Moved(event.body, *ref, merged->worker_offset(), part.recorded->attachments));
      } else if (const auto* reported = std::get_if<FindingReported>(&event.body)) {
        others.push_back(*reported);
      }
    }
  }
  // Behind the end of the case, so that they are of no attempt.
  for (const FindingReported& reported : others) merged->Add(0, reported);
}

}  // namespace

Result<std::vector<Event>> MergeShards(const std::vector<RecordedRun>& shards) {
  Result<std::vector<Part>> folded = FoldParts(shards);
  if (!folded.ok()) return Error{folded.error()};
  std::vector<Part>& parts = *folded;
  if (const Status same = CheckShards(parts); !same) return Error{same.error()};
  if (const Status same = CheckSameDay(shards); !same) return Error{same.error()};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.run().shard_index < b.run().shard_index; });
  const Result<MergedPlan> plan = Gather(parts);
  if (!plan.ok()) return Error{plan.error()};
  const auto planned =
      std::find_if(parts.begin(), parts.end(), [](const Part& p) { return p.summary.plan_end.has_value(); });
  const bool all_there = static_cast<int>(parts.size()) == parts[0].run().shard_count;
  const bool all_planned =
      std::all_of(parts.begin(), parts.end(), [](const Part& p) { return p.summary.plan_end.has_value(); });
  if (all_there && all_planned)
    if (const Status same = CheckSamePlan(*plan, *planned->summary.plan_end); !same)
      return Error{same.error()};

  Merged merged;
  merged.Add(0, MakeRunStarted(parts));
  for (const Waiver& waiver : FirstPlanned(parts).summary.waivers) merged.Add(0, WaiverDeclared{waiver});
  for (const Finding& finding : MissingShards(parts)) merged.Add(0, FindingReported{{}, finding});
  for (const Part& part : parts) merged.AddAboutRun(part, "");
  for (const auto& [place, copies] : *plan) merged.Add(0, copies.planned);
  if (planned != parts.end()) {
    PlanEnd end = *planned->summary.plan_end;
    // Counted by the plan's own word, so that missing cases are noticed.
    end.count = end.whole;
    for (const auto& [place, copies] : *plan) end.count += place >= end.whole ? 1 : 0;
    merged.Add(0, end);
  }
  AddCases(parts, *plan, &merged);
  merged.Finish(parts, all_there);
  return merged.Take();
}

}  // namespace cudnn_ci
