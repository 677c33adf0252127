// Rows and columns. See skip_table.h.
#include "report/text/skip_table.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/verdict/attribution.h"
#include "report/text/html_text.h"
#include "report/text/json_text.h"
#include "report/text/text_page.h"

namespace cudnn_ci {
namespace {

// Of a parameter that tells rows apart: sizes, seeds and numbers have more.
constexpr size_t kMaxValues = 16;
constexpr size_t kMaxRows = 40;
constexpr size_t kMaxHtmlRows = 500;
constexpr size_t kMaxReasons = 4;

// The columns, in their order.
constexpr const char* kKinds[] = {"passed", "unsupported", "memory",  "absent",  "version",
                                  "failed", "errored",     "blocked", "not_run", "waived"};

std::string KindOf(const CaseRecord& record) {
  if (!record.waived_by.empty()) return "waived";
  if (const auto* skipped = std::get_if<Skipped>(&record.outcome)) return Name(skipped->kind);
  const bool unclean = std::holds_alternative<Passed>(record.outcome) && !ErrorFindings(record).empty();
  return unclean ? "failed" : Name(record.outcome);
}

bool IsShape(const Params& params, const std::string& name) {
  const auto field = params.lower_bound(name + ".");
  return field != params.end() && field->first.compare(0, name.size() + 1, name + ".") == 0;
}

// What tells the case from others, its shape aside.
std::map<std::string, std::string> AxesOf(const CasePlanned& plan) {
  std::map<std::string, std::string> axes;
  for (const auto& [name, value] : plan.params) {
    if (name.find('.') != std::string::npos || IsShape(plan.params, name)) continue;
    if (std::string text = IdText(value); IsIdText(text)) axes.emplace(name, std::move(text));
  }
  axes["subject"] = plan.subject;
  return axes;
}

using Values = std::map<std::string, std::set<std::string>>;

// Of each check that has skipped cases: the values of all its cases, up to one more than there is room for.
std::map<std::string, Values> ValuesOfChecks(const Summary& summary) {
  std::map<std::string, Values> checks;
  for (const CaseRecord& record : summary.cases)
    if (std::holds_alternative<Skipped>(record.outcome)) checks[record.plan.check];
  for (const CaseRecord& record : summary.cases) {
    const auto check = checks.find(record.plan.check);
    if (check == checks.end()) continue;
    for (auto& [name, value] : AxesOf(record.plan)) {
      std::set<std::string>& values = check->second[name];
      if (values.size() <= kMaxValues) values.insert(value);
    }
  }
  return checks;
}

bool IsSkip(const std::string& kind) {
  SkipKind parsed;
  return Parse(kind, &parsed);
}

int64_t SkippedIn(const SkipRow& row) {
  int64_t count = 0;
  for (const auto& [kind, of] : row.counts) count += IsSkip(kind) ? of : 0;
  return count;
}

void AddCounts(const SkipRow& from, SkipRow* to) {
  for (const auto& [kind, count] : from.counts) to->counts[kind] += count;
}

std::set<std::string> KindsIn(const SkipRow& row) {
  std::set<std::string> kinds;
  for (const auto& [kind, count] : row.counts) kinds.insert(kind);
  return kinds;
}

// "conv.forward[algo=fft,dtype=float64]", as an id.
std::string NameOf(const SkipRow& row) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : row.params) parts.push_back(name + "=" + value);
  return SingleLine(row.check + (parts.empty() ? "" : "[" + Join(parts, ",") + "]"), 300);
}

// The head and the rows, a cell for each kind that occurs and the name last.
std::vector<std::vector<std::string>> Cells(std::vector<SkipRow> rows, size_t most) {
  if (rows.size() > most) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const SkipRow& a, const SkipRow& b) { return SkippedIn(a) > SkippedIn(b); });
    SkipRow rest;
    for (size_t i = most; i < rows.size(); ++i) AddCounts(rows[i], &rest);
    rest.check = "and " + std::to_string(rows.size() - most) + " more rows";
    rows.resize(most);
    rows.push_back(std::move(rest));
  }
  std::vector<std::vector<std::string>> table(rows.size() + 1);
  for (const char* kind : kKinds) {
    const auto has = [kind](const SkipRow& row) { return row.counts.count(kind) > 0; };
    if (std::none_of(rows.begin(), rows.end(), has)) continue;
    table[0].emplace_back(kind);
    for (size_t i = 0; i < rows.size(); ++i)
      table[i + 1].push_back(has(rows[i]) ? std::to_string(rows[i].counts.at(kind)) : "-");
  }
  table[0].emplace_back("cases");
  for (size_t i = 0; i < rows.size(); ++i) table[i + 1].push_back(NameOf(rows[i]));
  return table;
}

}  // namespace

std::vector<SkipRow> SkipTable(const Summary& summary) {
  const std::map<std::string, Values> checks = ValuesOfChecks(summary);
  std::map<std::pair<std::string, std::map<std::string, std::string>>, std::map<std::string, int64_t>> rows;
  for (const CaseRecord& record : summary.cases) {
    const auto check = checks.find(record.plan.check);
    if (check == checks.end()) continue;
    std::map<std::string, std::string> params = AxesOf(record.plan);
    std::erase_if(params, [&](const auto& param) {
      const size_t values = check->second.at(param.first).size();
      return values < 2 || values > kMaxValues;
    });
    ++rows[{record.plan.check, std::move(params)}][KindOf(record)];
  }
  std::vector<SkipRow> list;
  for (auto& [key, counts] : rows) {
    SkipRow row = {key.first, key.second, std::move(counts)};
    if (SkippedIn(row) > 0) list.push_back(std::move(row));
  }
  return list;
}

std::vector<SkipRow> Merged(std::vector<SkipRow> rows) {
  std::set<std::string> names;
  for (const SkipRow& row : rows)
    for (const auto& [name, value] : row.params) names.insert(name);
  for (const std::string& name : names) {
    using Rest = std::tuple<std::string, std::map<std::string, std::string>, std::set<std::string>>;
    std::map<Rest, size_t> places;
    std::vector<SkipRow> fewer;
    for (SkipRow& row : rows) {
      std::map<std::string, std::string> rest = row.params;
      const bool there = rest.erase(name) > 0;
      const auto [place, added] = places.emplace(Rest{row.check, rest, KindsIn(row)}, fewer.size());
      if (!added && there && fewer[place->second].params.count(name) > 0) {
        SkipRow& into = fewer[place->second];
        into.params[name] += "|" + row.params[name];
        AddCounts(row, &into);
      } else {
        place->second = fewer.size();
        fewer.push_back(std::move(row));
      }
    }
    rows = std::move(fewer);
  }
  return rows;
}

std::vector<std::string> SkipTableLines(const std::vector<SkipRow>& rows, size_t most) {
  std::vector<std::string> lines;
  const std::vector<std::vector<std::string>> table = Cells(rows, most);
  std::vector<size_t> widths(table[0].size(), 0);
  for (const std::vector<std::string>& cells : table)
    for (size_t i = 0; i + 1 < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  for (const std::vector<std::string>& cells : table) lines.push_back(InColumns(cells, widths));
  return lines;
}

void PutSkipTable(const Summary& summary, Page* page) {
  std::map<std::string, int64_t> reasons;
  int64_t skipped = 0;
  for (const CaseRecord& record : summary.cases) {
    const auto* skip = std::get_if<Skipped>(&record.outcome);
    if (!skip) continue;
    ++skipped;
    ++reasons[std::string(Name(skip->kind)) + ": saw " + SingleLine(skip->seen, 160)];
  }
  page->Item("skipped", std::to_string(skipped) + " cases, by what they have in common");
  for (const std::string& line : SkipTableLines(Merged(SkipTable(summary)), kMaxRows))
    page->Line("  " + line);
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [reason, count] : reasons) order.emplace_back(-count, reason);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size() && i < kMaxReasons; ++i)
    page->Item(i == 0 ? "because" : "", std::to_string(-order[i].first) + " x " + order[i].second);
  if (order.size() > kMaxReasons)
    page->Item("", "and " + std::to_string(order.size() - kMaxReasons) + " more reasons");
}

std::string SkipTableHtml(const Summary& summary) {
  const std::vector<SkipRow> rows = Merged(SkipTable(summary));
  if (rows.empty()) return "";
  std::string html = "<h2>Skipped</h2>\n<div class=\"scroll\"><table>\n";
  const std::vector<std::vector<std::string>> table = Cells(rows, kMaxHtmlRows);
  for (size_t i = 0; i < table.size(); ++i) {
    html += i == 0 ? "<thead><tr>" : "<tr>";
    for (size_t j = 0; j < table[i].size(); ++j) {
      const bool name = i > 0 && j + 1 == table[i].size();
      const std::string tag = i == 0 ? "th" : "td";
      html += "<" + tag + (name ? " class=\"text mono\">" : ">") + HtmlLine(table[i][j]) + "</" + tag + ">";
    }
    html += i == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

void PutSkipTable(const Summary& summary, JsonText* out) {
  out->Key("skip_table").BeginArray();
  for (const SkipRow& row : SkipTable(summary)) {
    out->BeginCompactObject();
    out->Key("check").String(row.check).Key("params").BeginCompactObject();
    for (const auto& [name, value] : row.params) out->Key(SingleLine(name)).String(value);
    out->EndObject().Key("counts").BeginCompactObject();
    for (const auto& [kind, count] : row.counts) out->Key(kind).Int(count);
    out->EndObject().EndObject();
  }
  out->EndArray();
}

}  // namespace cudnn_ci
