#include "report/text/stack_chain.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.h"
#include "model/json/value.h"
#include "model/record/fact_keys.h"
#include "model/verdict/attribution.h"
#include "report/text/case_text.h"
#include "report/text/parts_text.h"
#include "report/text/run_text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostCopies = 32;
constexpr size_t kMostModels = 4;  // of GPUs
constexpr std::array<LinkKind, 4> kOfLane = {LinkKind::kToolkit, LinkKind::kCudnn, LinkKind::kEnvironment,
                                             LinkKind::kOperations};

// Checks whose layer, which says what they rest on, is not the link that they are about.
struct Place {
  std::string_view check;
  LinkKind kind;
};
constexpr std::array<Place, 5> kPlaces = {{{"driver.load", LinkKind::kDriverFiles},
                                           {"image.", LinkKind::kEnvironment},
                                           {"nccl.load", LinkKind::kToolkit},
                                           {"nccl.init", LinkKind::kToolkit},
                                           {"nccl.", LinkKind::kOperations}}};

LinkKind KindOf(const CasePlanned& plan) {
  for (const Place& place : kPlaces)
    if (plan.check.starts_with(place.check)) return place.kind;
  switch (plan.layer) {
    case Layer::kDriver:
      return LinkKind::kDriver;
    case Layer::kToolkit:
      return LinkKind::kToolkit;
    case Layer::kCudnn:
    case Layer::kInit:
      return LinkKind::kCudnn;
    case Layer::kFramework:
      return LinkKind::kEnvironment;
    case Layer::kConvolution:
    case Layer::kOther:
      break;
  }
  return LinkKind::kOperations;
}

bool OfMachine(LinkKind kind) { return kind == LinkKind::kDriver || kind == LinkKind::kDriverFiles; }

// Whether it waits for something that is wrong, or is red because it waits. Else what it waits for is as the
// matrix allows.
bool IsBlocked(const Summary& summary, const CaseRecord& record) {
  if (!std::holds_alternative<Blocked>(record.outcome)) return false;
  const CaseRecord* const root = RootBlocker(summary, record);
  return (root && !IsGood(root->plan, root->outcome)) || IsRed(summary, record);
}

LinkCounts CountsOf(const Summary& summary, const CaseRecord& record) {
  LinkCounts counts;
  if (std::holds_alternative<Blocked>(record.outcome))
    (IsBlocked(summary, record) ? counts.blocked : counts.skipped) = 1;
  else if (IsRed(summary, record))
    (std::holds_alternative<NotRun>(record.outcome) ? counts.not_run : counts.red) = 1;
  else if (std::holds_alternative<Passed>(record.outcome) && ErrorFindings(record).empty())
    counts.passed = 1;
  else if (std::holds_alternative<Skipped>(record.outcome))
    counts.skipped = 1;
  else
    (std::holds_alternative<NotRun>(record.outcome) ? counts.not_run : counts.excused) = 1;
  return counts;
}

// The type of data that a case computes with, "" where it has none.
std::string TypeOf(const CasePlanned& plan) {
  const auto type = plan.params.find("dtype");
  return type == plan.params.end() ? "" : SingleLine(IdText(type->second), 40);
}

// "9.1.0 in /opt/x (Python package ...)".
std::string CopyText(const Summary& summary, const std::string& key) {
  const std::string version = FindFact(summary, "", key + ".version");
  const std::string origin = FindFact(summary, "", key + ".origin");
  return (version.empty() ? "?" : version) + " in " + FindFact(summary, "", key + ".path") +
         (origin.empty() ? "" : " (" + origin + ")");
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::vector<std::string> UnusedCudnn(const Summary& summary, const RunStarted& run) {
  std::set<std::string> used;
  for (const SubjectInfo& subject : run.subjects)
    used.insert(FolderOf(FindFact(summary, subject.name, kCudnnPathFact)));
  std::vector<std::string> unused;
  for (size_t i = 0; i < kMostCopies; ++i) {
    const std::string key = "cudnn.copy." + std::to_string(i);
    const std::string path = FindFact(summary, "", key + ".path");
    if (path.empty()) break;
    if (used.count(FolderOf(path)) == 0) unused.push_back(CopyText(summary, key));
  }
  return unused;
}

// "2 x NVIDIA H200, 9.0".
std::vector<std::string> Models(const RunStarted& run) {
  std::vector<std::pair<std::string, int>> models;
  for (const DeviceInfo& device : run.devices) {
    const std::string model = device.model + ", " + device.compute_capability;
    const auto found =
        std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.first == model; });
    if (found == models.end())
      models.emplace_back(model, 1);
    else
      ++found->second;
  }
  std::vector<std::string> lines;
  for (const auto& [model, count] : models)
    lines.push_back((count > 1 ? std::to_string(count) + " x " : "") + model);
  if (lines.size() > kMostModels) {
    const size_t more = lines.size() - kMostModels;
    lines.resize(kMostModels);
    lines.push_back("and " + std::to_string(more) + " more models");
  }
  if (lines.empty()) lines.emplace_back("no GPU");
  return lines;
}

std::vector<ChainLink> Machine(const Summary& summary, const RunStarted& run) {
  ChainLink driver, files;
  files.kind = LinkKind::kDriverFiles;
  driver.value = DriversOfParts(run);
  if (driver.value.empty()) driver.value = FindFact(summary, "", kDriverVersionFact);
  driver.lines = Models(run);
  const std::string library = FindFact(summary, "", kDriverLibraryFact);
  files.value = library.substr(library.rfind('/') + 1);
  if (!library.empty()) files.lines = {FolderOf(library)};
  return {std::move(driver), std::move(files)};
}

ChainLane LaneOf(const Summary& summary, const SubjectInfo& subject) {
  ChainLane lane{subject.name, subject.spec, {}};
  for (const LinkKind kind : kOfLane) lane.links.emplace_back().kind = kind;
  const auto fill = [&](size_t at, const char* version, const char* path) {
    lane.links[at].value = FindFact(summary, subject.name, version);
    const std::string where = FindFact(summary, subject.name, path);
    if (!where.empty()) lane.links[at].lines = {where};
  };
  fill(0, kToolkitVersionFact, kToolkitPathFact);
  fill(1, kCudnnVersionFact, kCudnnPathFact);
  lane.links[2].value = subject.name;
  if (!subject.spec.empty()) lane.links[2].lines = {subject.spec};
  return lane;
}

// The links by case: puts each case where it belongs.
class ChainMaker {
 public:
  ChainMaker(const Summary& summary, const Verdict& verdict) : summary_(summary), verdict_(verdict) {
    const RunStarted run = summary.run.value_or(RunStarted{});
    chain_.machine = Machine(summary, run);
    for (const SubjectInfo& subject : run.subjects) {
      lane_of_.emplace(subject.name, chain_.lanes.size());
      chain_.lanes.push_back(LaneOf(summary, subject));
    }
    chain_.unused_cudnn = UnusedCudnn(summary, run);
  }

  StackChain Make() {
    for (const CaseRecord& record : summary_.cases) Put(record);
    for (const CaseRecord& record : summary_.cases)
      if (IsBlocked(summary_, record))
        if (const CaseRecord* root = RootBlocker(summary_, record)) ++LinkOf(root->plan)->blocks;
    std::stable_sort(chain_.lanes.begin(), chain_.lanes.end(),
                     [](const ChainLane& a, const ChainLane& b) { return a.broken() > b.broken(); });
    return std::move(chain_);
  }

 private:
  // The link that a case is about. What names no subject is the only one's, or is in a lane without a name.
  ChainLink* LinkOf(const CasePlanned& plan) {
    const LinkKind kind = KindOf(plan);
    if (OfMachine(kind)) return &chain_.machine[kind == LinkKind::kDriver ? 0 : 1];
    const std::string subject =
        plan.subject.empty() && lane_of_.size() == 1 ? lane_of_.begin()->first : plan.subject;
    auto lane = lane_of_.find(subject);
    if (lane == lane_of_.end()) {
      lane = lane_of_.emplace(subject, chain_.lanes.size()).first;
      chain_.lanes.push_back(LaneOf(summary_, {subject, ""}));
    }
    for (ChainLink& link : chain_.lanes[lane->second].links)
      if (link.kind == kind) return &link;
    return nullptr;
  }

  void Put(const CaseRecord& record) {
    ChainLink* const link = LinkOf(record.plan);
    const LinkCounts counts = CountsOf(summary_, record);
    link->counts.Add(counts);
    link->checks[record.plan.check][TypeOf(record.plan)].Add(counts);
    const bool is_root = verdict_.root_cause && verdict_.root_cause->ref == record.plan.ref;
    if (counts.red > 0 || is_root) PutBroken(record, is_root, link);
  }

  void PutBroken(const CaseRecord& record, bool is_root, ChainLink* link) {
    const std::vector<Finding> errors = ErrorFindings(record);
    if (!is_root && (errors.empty() || link->broken_by.size() >= kMostBroken)) return;
    const Finding& finding = is_root ? verdict_.root_cause->finding : errors.front();
    const std::string name = FindingName(finding);
    const auto same = std::find_if(link->broken_by.begin(), link->broken_by.end(),
                                   [&](const BrokenBy& by) { return by.finding == name; });
    if (same != link->broken_by.end() && !is_root) return;
    if (same != link->broken_by.end()) link->broken_by.erase(same);
    link->broken_by.insert(is_root ? link->broken_by.begin() : link->broken_by.end(),
                           {name, DetailOf(finding), DisplayId(record.plan.ref)});
    if (link->broken_by.size() > kMostBroken) link->broken_by.pop_back();
    link->root = link->root || is_root;
  }

  const Summary& summary_;
  const Verdict& verdict_;
  StackChain chain_;
  std::map<std::string, size_t> lane_of_;  // by subject
};

}  // namespace

void LinkCounts::Add(const LinkCounts& other) {
  passed += other.passed;
  red += other.red;
  blocked += other.blocked;
  skipped += other.skipped;
  not_run += other.not_run;
  excused += other.excused;
}

LinkState ChainLink::state() const {
  if (counts.red > 0) return LinkState::kBroken;
  if (counts.blocked > 0) return LinkState::kBlocked;
  if (counts.not_run > 0) return LinkState::kNotRun;
  if (counts.excused > 0) return LinkState::kExcused;
  if (counts.passed > 0) return LinkState::kProven;
  return counts.all() > 0 ? LinkState::kSkipped : LinkState::kNoCase;
}

bool ChainLane::broken() const {
  return std::any_of(links.begin(), links.end(),
                     [](const ChainLink& link) { return link.root || link.counts.red > 0; });
}

StackChain MakeStackChain(const Summary& summary, const Verdict& verdict) {
  return ChainMaker(summary, verdict).Make();
}

}  // namespace cudnn_ci
