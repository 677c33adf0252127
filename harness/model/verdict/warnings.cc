#include "model/verdict/warnings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace cudnn_ci {
namespace {

class Causes {
 public:
  // `record`: whose it is; null: it is about the run.
  void Add(const Finding& finding, const CaseRecord* record) {
    if (finding.severity != Severity::kWarning) return;
    const auto [at, fresh] =
        places_.emplace(std::make_tuple(finding.blame, finding.slug, finding.command), causes_.size());
    if (fresh) {
      const int of_name = names_[{finding.blame, finding.slug}]++;
      causes_.push_back({{&finding, record, {}}, of_name});
    } else {
      causes_[at->second].cause.further.push_back(&finding);
    }
  }

  std::vector<WarningCause> Take() {
    std::stable_sort(causes_.begin(), causes_.end(),
                     [](const Ranked& a, const Ranked& b) { return RankOf(a) < RankOf(b); });
    std::vector<WarningCause> causes;
    for (Ranked& ranked : causes_) causes.push_back(std::move(ranked.cause));
    return causes;
  }

 private:
  struct Ranked {
    WarningCause cause;
    int of_name = 0;  // how many of its name come before it
  };

  static std::tuple<bool, bool, bool, Layer> RankOf(const Ranked& ranked) {
    const Finding& finding = *ranked.cause.finding;
    const CaseRecord* record = ranked.cause.record;
    return {finding.blame != Blame::kRunner, ranked.of_name > 0, finding.command.empty(),
            record ? record->plan.layer : Layer::kOther};
  }

  std::map<std::tuple<Blame, std::string, std::string>, size_t> places_;  // by name and command
  std::map<std::pair<Blame, std::string>, int> names_;
  std::vector<Ranked> causes_;
};

Notices KindsOf(const Summary& summary) {
  Notices kinds;
  std::set<std::string> known;
  if (summary.run)
    for (const Notice& notice : summary.run->warnings)
      if (known.insert(Name(notice.code)).second) kinds.push_back(notice);
  return kinds;
}

}  // namespace

std::vector<WarningCause> RankedWarnings(const Summary& summary) {
  Causes causes;
  for (const CaseRecord& record : summary.cases)
    for (const Finding& finding : record.findings) causes.Add(finding, &record);
  for (const Finding& finding : summary.run_findings) causes.Add(finding, nullptr);
  return causes.Take();
}

Notices ShownNotices(const Summary& summary) {
  Notices shown = KindsOf(summary);
  const size_t places = kMostWarnings - (RankedWarnings(summary).empty() ? 0 : 1);
  if (shown.size() > places) shown.resize(places);
  return shown;
}

size_t PlacesForFindings(const Summary& summary) { return kMostWarnings - ShownNotices(summary).size(); }

void KeepMostUsefulWarnings(Summary* summary) {
  const std::vector<WarningCause> causes = RankedWarnings(*summary);
  const size_t places = PlacesForFindings(*summary);
  std::set<const Finding*> notes;
  for (size_t i = 0; i < causes.size(); ++i) {
    if (i >= places) notes.insert(causes[i].finding);
    notes.insert(causes[i].further.begin(), causes[i].further.end());
  }
  const auto make_notes = [&](std::vector<Finding>* findings) {
    for (Finding& finding : *findings)
      if (notes.count(&finding) > 0) finding.severity = Severity::kNote;
  };
  for (CaseRecord& record : summary->cases) make_notes(&record.findings);
  make_notes(&summary->run_findings);
}

}  // namespace cudnn_ci
