// Runs of one image on several types of GPU, as one. See merge.h.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/merge/merge.h"
#include "model/merge/merge_parts.h"
#include "model/plan/plan.h"

namespace cudnn_ci {
namespace {

// The words of a text, in small letters: "NVIDIA A100-SXM4-40GB" is nvidia, a100, sxm4, 40gb.
std::set<std::string> WordsOf(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
  return words;
}

const RunStarted* StartOf(const RecordedRun& recorded) {
  for (const Event& event : recorded.events)
    if (const auto* run = std::get_if<RunStarted>(&event.body)) return run;
  return nullptr;
}

// The one type that all GPUs of the run are of; "" when it had none.
Result<std::string> TypeOf(const RecordedRun& recorded, const std::vector<std::string>& types) {
  const RunStarted* run = StartOf(recorded);
  if (!run) return Error{recorded.name + ": does not name its run; nothing was planned"};
  if (run->merged_by == "gpus") return Error{recorded.name + ": is already a merge of several GPU types"};
  std::set<std::string> found;
  for (const DeviceInfo& device : run->devices) {
    size_t meant = 0;
    for (const std::string& type : types)
      if (IsGpuType(type, device.model)) found.insert(type), ++meant;
    if (meant == 0)
      return Error{recorded.name + ": ran on " + device.model + ", which --require does not name"};
  }
  // One model by two names, or a run that used two models.
  if (found.size() > 1)
    return Error{recorded.name + ": ran on GPUs that match both " +
                 Join({found.begin(), found.end()}, " and ") + " of --require; a run has one type"};
  return found.empty() ? std::string() : *found.begin();
}

// A run for each type; shards of a type are one run.
using RunsByType = std::vector<std::pair<std::string, RecordedRun>>;

// The runs by type, in the order of the types; those without a GPU last, under names of their own.
Result<RunsByType> ByType(const std::vector<RecordedRun>& runs, const std::vector<std::string>& types) {
  std::map<std::string, std::vector<RecordedRun>> groups;
  for (const RecordedRun& recorded : runs) {
    const Result<std::string> type = TypeOf(recorded, types);
    if (!type.ok()) return Error{type.error()};
    groups[*type].push_back(recorded);
  }
  RunsByType by_type;
  std::vector<std::string> order = types;
  order.emplace_back("");
  for (const std::string& type : order) {
    std::vector<RecordedRun>& group = groups[type];
    const auto is_shard = [](const RecordedRun& r) { return StartOf(r)->shard_count > 1; };
    const std::string name = type.empty() ? "no-gpu" : type;
    if (std::any_of(group.begin(), group.end(), is_shard)) {
      Result<std::vector<Event>> merged = MergeShards(group);
      if (!merged.ok()) return Error{merged.error()};
      by_type.emplace_back(name, RecordedRun{"the shards on " + name, "", std::move(*merged)});
    } else if (type.empty()) {
      for (size_t i = 0; i < group.size(); ++i)
        by_type.emplace_back(i == 0 ? name : name + "-" + std::to_string(i + 1), std::move(group[i]));
    } else if (group.size() > 1) {
      return Error{group[0].name + " and " + group[1].name + " both ran on " + type +
                   "; name the one that counts"};
    } else if (group.size() == 1) {
      by_type.emplace_back(name, std::move(group[0]));
    }
  }
  return by_type;
}

Status CheckWholeRuns(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (!part.run().partial.empty())
      return Error{part.name() + ": is partial (" + PartialText(part.run().partial) +
                   "), and --require is for whole runs"};
    if (Status same = CheckSameImage(parts[0], part); !same) return same;
  }
  return {};
}

// What blocks a case, in the merged run.
CaseRef BlockerOnType(const Summary& summary, const CaseRef& by, const CaseRef& blocked,
                      const std::string& type) {
  if (!by.device.empty()) return {by.id, DeviceOnType(by.device, type)};
  // Named without a device, it is that of the same one, or of none.
  const bool same = summary.Find({by.id, blocked.device}) != nullptr;
  return {by.id, DeviceOnType(same ? blocked.device : "", type)};
}

EventBody OnType(const Part& part, EventBody body, const std::string& type, int64_t worker_offset) {
  const CaseRef ref = *RefOf(body);
  const CaseRef there{ref.id, DeviceOnType(ref.device, type)};
  const auto rename = [&](Outcome* outcome) {
    if (auto* blocked = std::get_if<Blocked>(outcome))
      blocked->by = BlockerOnType(part.summary, blocked->by, ref, type);
  };
  if (auto* finished = std::get_if<CaseFinished>(&body)) rename(&finished->outcome);
  if (auto* attempt = std::get_if<AttemptFinished>(&body)) rename(&attempt->outcome);
  return Moved(std::move(body), there, worker_offset, part.recorded->attachments);
}

// Cases of all parts in a row, and the end of the plan if it is known of all.
void AddPlan(const std::vector<Part>& parts, const RunsByType& by_type, Merged* merged) {
  std::vector<CasePlanned> cases;
  std::vector<const CasePlanned*> pointers;
  PlanEnd end;
  bool all_planned = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const CaseRecord& record : parts[i].summary.cases) {
      cases.push_back(record.plan);
      cases.back().ref.device = DeviceOnType(record.plan.ref.device, by_type[i].first);
      cases.back().place = static_cast<int>(cases.size()) - 1;
    }
    const std::optional<PlanEnd>& of_part = parts[i].summary.plan_end;
    all_planned = all_planned && of_part.has_value();
    if (of_part) end.count += of_part->count;
  }
  pointers.reserve(cases.size());
  for (const CasePlanned& planned : cases) pointers.push_back(&planned);
  end.plan_sha256 = PlanFingerprint(pointers);
  end.whole = end.count;
  for (CasePlanned& planned : cases) merged->Add(0, std::move(planned));
  if (all_planned) merged->Add(0, end);
}

RunStarted MakeRunStarted(const std::vector<Part>& parts, const RunsByType& by_type,
                          const std::vector<std::string>& types) {
  RunStarted run = CommonRunStarted(parts);
  run.merged_by = "gpus";
  run.devices.clear();
  for (size_t i = 0; i < parts.size(); ++i) {
    run.parts.push_back(DescribePart(parts[i], by_type[i].first));
    for (DeviceInfo device : parts[i].run().devices) {
      device.name = DeviceOnType(device.name, by_type[i].first);
      run.devices.push_back(std::move(device));
    }
  }
  for (const std::string& type : types) {
    const auto is_of = [&](const auto& one) { return one.first == type; };
    if (std::none_of(by_type.begin(), by_type.end(), is_of)) run.parts.push_back(MissingPart(type));
  }
  return run;
}

}  // namespace

bool IsGpuType(const std::string& type, const std::string& model) {
  const std::set<std::string> wanted = WordsOf(type), known = WordsOf(model);
  return !wanted.empty() && std::includes(known.begin(), known.end(), wanted.begin(), wanted.end());
}

const RunPart* PartOfCase(const RunStarted& run, const CaseRef& ref, CaseRef* there) {
  if (run.merged_by != "gpus" || ref.device.empty()) return nullptr;
  const size_t dot = ref.device.find(".gpu");
  for (const RunPart& part : run.parts) {
    if (part.name != ref.device.substr(0, dot)) continue;
    *there = {ref.id, dot == std::string::npos ? "" : ref.device.substr(dot + 1)};
    return &part;
  }
  return nullptr;
}

Result<std::vector<Event>> MergeGpus(const std::vector<RecordedRun>& runs,
                                     const std::vector<std::string>& types) {
  Result<RunsByType> by_type = ByType(runs, types);
  if (!by_type.ok()) return Error{by_type.error()};
  std::vector<RecordedRun> recorded;
  for (auto& [type, run] : *by_type) recorded.push_back(std::move(run));
  Result<std::vector<Part>> folded = FoldParts(recorded);
  if (!folded.ok()) return Error{folded.error()};
  const std::vector<Part>& parts = *folded;
  if (const Status same = CheckWholeRuns(parts); !same) return Error{same.error()};
  if (const Status same = CheckSameDay(runs); !same) return Error{same.error()};

  Merged merged;
  const RunStarted run = MakeRunStarted(parts, *by_type, types);
  merged.Add(0, run);
  for (const Waiver& waiver : FirstPlanned(parts).summary.waivers) merged.Add(0, WaiverDeclared{waiver});
  bool all_there = true;
  for (const RunPart& part : run.parts) {
    if (part.verdict != "missing") continue;
    all_there = false;
    merged.Add(0,
               FindingReported{
                   {}, HarnessFinding("part-missing", "no run on " + part.name + ", which --require names")});
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].summary.finished || !parts[i].planned())
      merged.Add(0,
                 FindingReported{{},
                                 HarnessFinding("part-missing", "the run on " + (*by_type)[i].first + " (" +
                                                                    parts[i].name() + ") did not finish")});
    merged.AddAboutRun(parts[i], (*by_type)[i].first);
  }
  AddPlan(parts, *by_type, &merged);
  for (size_t i = 0; i < parts.size(); ++i) {
    merged.AddWorkers(parts[i]);
    for (const Event& event : parts[i].recorded->events) {
      if (IsOfCase(parts[i], event))
        merged.Add(event.t_ms, OnType(parts[i], event.body, (*by_type)[i].first, merged.worker_offset()));
    }
  }
  merged.Finish(parts, all_there);
  return merged.Take();
}

}  // namespace cudnn_ci
