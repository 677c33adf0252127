// What a merged run was made of, in words. See parts_text.h.
#include "report/text/parts_text.h"

#include <algorithm>
#include <map>
#include <variant>

#include "base/text.h"
#include "model/merge/merge.h"
#include "model/verdict/verdict.h"
#include "report/text/case_text.h"
#include "report/text/text_page.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxNamed = 8;

std::vector<std::string> Once(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::erase_if(texts, [](const std::string& text) { return text.empty(); });
  return texts;
}

// "passed 3, missing 1 (2/4)": what passed is counted, all else named too.
std::string ShardsText(const RunStarted& run) {
  std::map<std::string, std::vector<std::string>> by_verdict;
  std::vector<std::string> hosts;
  for (const RunPart& part : run.parts) {
    by_verdict[part.verdict].push_back(part.name);
    hosts.push_back(SingleLine(part.hostname, 100));
  }
  std::string text = std::to_string(run.parts.size()) + ":";
  for (const auto& [verdict, names] : by_verdict) {
    text += " " + SingleLine(verdict, 20) + " " + std::to_string(names.size());
    if (verdict != "passed") text += " (" + ListText(names, kMaxNamed) + ")";
    text += ",";
  }
  text.back() = ';';
  return text + " on " + ListText(Once(std::move(hosts)), kMaxNamed);
}

std::string TypeText(const RunPart& part) {
  std::string text = SingleLine(part.verdict, 20);
  if (part.verdict == "missing") return text;
  const std::vector<std::string> models = Once(part.gpus);
  text += ": " + (models.empty() ? std::string("no GPU") : SingleLine(Join(models, ", "), 200));
  if (part.gpus.size() > 1) text += " x " + std::to_string(part.gpus.size());
  text += " on " + SingleLine(part.hostname, 100);
  return text + (part.driver.empty() ? ", no driver" : ", driver " + SingleLine(part.driver, 60));
}

// A case on all types.
struct Row {
  std::string name;
  std::map<std::string, std::string> by_type;
  bool all_passed = true;
};

std::vector<Row> Rows(const Summary& summary) {
  std::vector<Row> rows;
  std::map<CaseRef, size_t> places;
  for (const CaseRecord& record : summary.cases) {
    CaseRef there;
    const RunPart* part = PartOfCase(*summary.run, record.plan.ref, &there);
    if (!part) continue;
    const auto [place, added] = places.emplace(there, rows.size());
    if (added) rows.push_back({DisplayId(there), {}, true});
    Row& row = rows[place->second];
    const bool passed = std::holds_alternative<Passed>(record.outcome) && !IsRed(summary, record);
    row.by_type[part->name] = record.waived_by.empty() ? Name(record.outcome) : "waived";
    row.all_passed = row.all_passed && passed;
  }
  // A case that is not planned on one of the types did not pass there.
  const auto types =
      static_cast<size_t>(std::count_if(summary.run->parts.begin(), summary.run->parts.end(),
                                        [](const RunPart& p) { return p.verdict != "missing"; }));
  for (Row& row : rows) row.all_passed = row.all_passed && row.by_type.size() == types;
  return rows;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> PartsTested(const RunStarted& run) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (run.merged_by == "gpus")
    for (const RunPart& part : run.parts)
      lines.emplace_back("on " + SingleLine(part.name, 40), TypeText(part));
  if (run.merged_by == "shards" || run.merged_by == "nodes")
    lines.emplace_back(run.merged_by, ShardsText(run));
  return lines;
}

std::string DriversOfParts(const RunStarted& run) {
  std::vector<std::string> drivers;
  for (const RunPart& part : run.parts) drivers.push_back(SingleLine(part.driver, 60));
  return Join(Once(std::move(drivers)), ", ");
}

std::vector<std::string> PartsTable(const Summary& summary, size_t most) {
  std::vector<std::string> lines;
  if (!summary.run || summary.run->merged_by != "gpus") return lines;
  std::vector<std::string> heads;
  std::vector<size_t> widths;
  for (const RunPart& part : summary.run->parts) {
    heads.push_back(SingleLine(part.name, 20));
    widths.push_back(std::max<size_t>(heads.back().size(), 7));  // "skipped", "blocked", "not_run"
  }
  size_t left_out = 0;
  for (const Row& row : Rows(summary)) {
    if (row.all_passed) continue;
    if (lines.size() == most) {
      ++left_out;
      continue;
    }
    std::vector<std::string> cells;
    for (const RunPart& part : summary.run->parts) {
      const auto outcome = row.by_type.find(part.name);
      cells.push_back(outcome == row.by_type.end() ? "-" : outcome->second);
    }
    cells.push_back(SingleLine(row.name, 300));
    lines.push_back(InColumns(cells, widths));
  }
  if (lines.empty()) return lines;
  heads.emplace_back("case");
  lines.insert(lines.begin(), InColumns(heads, widths));
  if (left_out > 0) lines.push_back("and " + std::to_string(left_out) + " more cases");
  return lines;
}

}  // namespace cudnn_ci
