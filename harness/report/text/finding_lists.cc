// Findings by name. See finding_lists.h.
#include "report/text/finding_lists.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "model/record/case_ref.h"
#include "model/verdict/attribution.h"
#include "model/verdict/warnings.h"
#include "report/text/case_text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostOfWarning = 400;

class Groups {
 public:
  // `record`: whose it is; null: it is about the run.
  void Add(const Finding& finding, const CaseRecord* record) {
    const auto [place, is_new] = places_.emplace(FindingName(finding), groups_.size());
    if (is_new) {
      groups_.push_back({place->first, finding.blame, Layer::kOther, 0});
      last_.push_back(nullptr);
    }
    FindingGroup& group = groups_[place->second];
    // A case that has it twice, of two GPUs, is one.
    if (record == nullptr || last_[place->second] != record) ++group.count;
    if (record != nullptr) group.layer = std::min(group.layer, record->plan.layer);
    last_[place->second] = record;
  }
  std::vector<FindingGroup> Take() {
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const FindingGroup& a, const FindingGroup& b) { return a.layer < b.layer; });
    return std::move(groups_);
  }

 private:
  std::map<std::string, size_t> places_;  // by name
  std::vector<FindingGroup> groups_;
  std::vector<const CaseRecord*> last_;  // that was counted, of each group
};

std::string MoreText(size_t count, const std::string& more) {
  return "and " + std::to_string(count) + " " + more;
}

std::vector<std::string> GroupLines(const std::vector<FindingGroup>& groups, const char* more) {
  std::vector<std::string> lines;
  size_t left_out = 0;
  for (const FindingGroup& group : groups) {
    if (lines.size() >= kMaxListed && group.blame != Blame::kRunner) {
      ++left_out;
      continue;
    }
    lines.push_back(std::to_string(group.count) + " x " + group.name);
  }
  if (left_out > 0) lines.push_back(MoreText(left_out, more));
  return lines;
}

}  // namespace

std::vector<FindingGroup> OtherErrors(const Summary& summary, const RootCause& root) {
  Groups groups;
  for (const CaseRecord& record : summary.cases) {
    if (!IsRed(summary, record) || std::holds_alternative<NotRun>(record.outcome)) continue;
    for (const Finding& finding : ErrorFindings(record)) {
      if (record.plan.ref != root.ref || finding != root.finding) groups.Add(finding, &record);
    }
  }
  for (const Finding& finding : summary.run_findings) {
    const bool is_root = root.ref.empty() && finding == root.finding;
    if (finding.severity == Severity::kError && !is_root) groups.Add(finding, nullptr);
  }
  return groups.Take();
}

std::vector<std::string> OtherErrorLines(const Summary& summary, const RootCause& root) {
  return GroupLines(OtherErrors(summary, root), "more reasons");
}

std::vector<WarningLine> WarningLines(const Summary& summary) {
  std::vector<WarningLine> lines;
  const size_t places = PlacesForFindings(summary);
  for (const WarningCause& cause : RankedWarnings(summary)) {
    if (lines.size() >= places) break;
    const Finding& finding = *cause.finding;
    const std::string place = finding.command.empty() ? "" : PlaceOf(finding.where);
    lines.push_back({FindingName(finding) + ": " + SingleLine(DetailOf(finding), kMostOfWarning), place,
                     SingleLine(finding.command, kMostCommand)});
  }
  for (const Notice& notice : ShownNotices(summary)) {
    const auto& all = summary.run->warnings;
    const auto more = std::count_if(all.begin(), all.end(),
                                    [&](const Notice& other) { return other.code == notice.code; }) -
                      1;
    lines.push_back({SingleLine(SentenceOf(notice), kMostOfWarning) +
                         (more > 0 ? ", and " + std::to_string(more) + " more of this kind" : ""),
                     "", ""});
  }
  return lines;
}

std::string NotesLine(const Summary& summary) {
  int64_t notes = 0;
  const auto count = [&](const std::vector<Finding>& findings) {
    notes += std::count_if(findings.begin(), findings.end(),
                           [](const Finding& finding) { return finding.severity == Severity::kNote; });
  };
  for (const CaseRecord& record : summary.cases) count(record.findings);
  count(summary.run_findings);
  return notes == 0 ? "" : std::to_string(notes) + "; --verbose prints them, and the reports have them";
}

std::vector<std::string> Shortened(std::vector<std::string> lines, const std::string& more) {
  if (lines.size() <= kMaxListed) return lines;
  const size_t left_out = lines.size() - kMaxListed;
  lines.resize(kMaxListed);
  lines.push_back(MoreText(left_out, more));
  return lines;
}

}  // namespace cudnn_ci
