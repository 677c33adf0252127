// What a reader without scripts sees. See html_top.h.
#include "report/formats/html_top.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "model/verdict/attribution.h"
#include "report/formats/html_chain.h"
#include "report/text/case_text.h"
#include "report/text/finding_lists.h"
#include "report/text/html_text.h"
#include "report/text/reproduction.h"
#include "report/text/run_text.h"
#include "report/text/skip_table.h"
#include "report/text/suspects.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxFindings = 100;  // names that are explained
constexpr double kLeastShare = 0.8;   // percent of the bar: a single failure among thousands stays visible

struct Shown {
  const char* outcome;
  const char* label;
};
// In the order of the bar.
constexpr std::array<Shown, 7> kShown = {{{"passed", "passed"},
                                          {"waived", "waived"},
                                          {"skipped", "skipped"},
                                          {"not_run", "not run"},
                                          {"blocked", "blocked"},
                                          {"errored", "errored"},
                                          {"failed", "failed"}}};

struct Share {
  Shown shown;
  int64_t count = 0;
  double percent = 0;
};

// The outcomes that there are, with widths that add up to 100.
std::vector<Share> Shares(const Summary& summary) {
  std::map<std::string, int64_t> counts;
  for (const CaseRecord& record : summary.cases) ++counts[ShownOutcome(record)];
  std::vector<Share> shares;
  double sum = 0;
  for (const Shown& shown : kShown) {
    const int64_t count = counts[shown.outcome];
    if (count == 0) continue;
    const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(summary.cases.size());
    shares.push_back({shown, count, std::max(percent, kLeastShare)});
    sum += shares.back().percent;
  }
  for (Share& share : shares) share.percent *= 100 / sum;
  return shares;
}

// Hundredths of a percent, for an attribute.
std::string Percent(double value) {
  const auto hundredths = static_cast<int64_t>(std::lround(value * 100));
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (rest.size() < 2 ? "0" : "") + rest + "%";
}

// The pattern of what did not run because something else failed: no colour alone tells it from a pass.
// Defined once, for every picture of the page.
constexpr char kPatterns[] =
    "<defs><pattern id=\"stripes\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\" class=\"stripe-a\"/>"
    "<rect width=\"4\" height=\"8\" class=\"stripe-b\"/></pattern></defs>";

// The bar; its numbers stand below it as text.
std::string CountsHtml(const Summary& summary) {
  const std::vector<Share> shares = Shares(summary);
  std::string said = std::to_string(summary.cases.size()) + " cases", bar, list;
  double x = 0;
  for (const Share& share : shares) {
    const std::string text = std::to_string(share.count) + " " + share.shown.label;
    said += (x == 0 ? ": " : ", ") + text;
    bar += "<rect x=\"" + Percent(x) + "\" width=\"" + Percent(share.percent) +
           "\" height=\"18\" class=\"part f-" + share.shown.outcome + "\"/>";
    list +=
        "<li><svg width=\"14\" height=\"14\" aria-hidden=\"true\"><rect width=\"14\" height=\"14\" rx=\"3\" "
        "class=\"f-" +
        std::string(share.shown.outcome) + "\"/></svg> <strong>" + std::to_string(share.count) +
        "</strong> " + share.shown.label + "</li>\n";
    x += share.percent;
  }
  return "<svg class=\"counts\" width=\"100%\" height=\"18\" role=\"img\" aria-label=\"" + HtmlLine(said) +
         "\">" + kPatterns + bar + "</svg>\n<ul class=\"counts\">\n" + list + "<li class=\"soft\">" +
         std::to_string(summary.cases.size()) + " in all</li>\n</ul>\n";
}

// "2026-01-31T10:00:00Z" as "2026-01-31 10:00:00 UTC"; another text as it is.
std::string DateText(std::string timestamp) {
  if (timestamp.size() != 20 || timestamp[10] != 'T' || timestamp[19] != 'Z') return timestamp;
  timestamp[10] = ' ';
  return Beginning(timestamp, 19) + " UTC";
}

std::string DurationText(double seconds) {
  if (!(seconds >= 60)) return FixedSeconds(seconds) + " s";
  const auto whole = static_cast<int64_t>(std::min(seconds, 1e12));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

// When, how long, where: a list in one line.
std::string RunHtml(const Summary& summary) {
  const RunStarted run = summary.run.value_or(RunStarted{});
  const std::pair<const char*, std::string> parts[] = {
      {"date", DateText(run.timestamp)},
      {"duration", summary.finished ? DurationText(summary.finished->seconds) : "the run did not finish"},
      {"host", run.hostname},
      {"cudnn-ci", run.version}};
  std::string html = "<dl class=\"run\">\n";
  for (const auto& [label, value] : parts)
    if (!value.empty())
      html += std::string("<div><dt>") + label + "</dt><dd>" + HtmlLine(value, 200) + "</dd></div>\n";
  return html + "</dl>\n";
}

// One row of a definition list, of HTML; "" if there is nothing to say.
std::string Row(const std::string& label, const std::string& html) {
  return html.empty() ? "" : "<dt>" + HtmlLine(label) + "</dt><dd>" + html + "</dd>\n";
}

std::string TextRow(const std::string& label, const std::string& text) {
  return Row(label, HtmlLine(text, 4000));
}

// What one pastes: the page's script puts a button beside it.
std::string CommandRow(const std::string& label, const std::string& command) {
  return command.empty() ? "" : Row(label, "<code class=\"command\">" + HtmlLine(command, 4000) + "</code>");
}

std::string List(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string html = "<dl>\n";
  for (const auto& [label, value] : items) html += TextRow(label, value);
  return html + "</dl>\n";
}

std::string WarningsHtml(const Summary& summary) {
  std::string rows;
  for (const WarningLine& line : WarningLines(summary))
    rows += TextRow("warning", line.text) + CommandRow(line.place, line.command);
  rows += TextRow("notes", NotesLine(summary));
  return rows.empty() ? "" : "<dl>\n" + rows + "</dl>\n";
}

std::string AnchorOf(const std::string& finding_name) { return "finding-" + AnchorName(finding_name); }

std::string RootCauseHtml(const Summary& summary, const Verdict& verdict) {
  const auto& [finding, ref] = *verdict.root_cause;
  const std::string id = DisplayId(ref);
  const std::string name = FindingName(finding);
  std::string html = "<dl>\n" + Row("root cause", "<a href=\"#" + AnchorOf(name) + "\">" + HtmlLine(name) +
                                                      "</a>" + HtmlLine(": " + finding.summary, 4000));
  if (!id.empty())
    html +=
        Row("in", "<a class=\"mono\" href=\"#case=" + FragmentOf(id) + "\">" + HtmlLine(id, 4000) + "</a>");
  return html + TextRow("evidence", finding.detail) + TextRow("excluded", ExcludedSuspect(summary, verdict)) +
         TextRow("who acts", OwnerOf(verdict)) + TextRow("what to do", finding.remedy) +
         CommandRow(PlaceOf(finding.where), finding.command) + Row("see", LinkHtml(finding.link)) +
         TextRow("retry", RetryText(summary, verdict)) + CommandRow("reproduce", Reproduction(summary, ref)) +
         CommandRow("with docker", ContainerReproduction(summary, ref)) + "</dl>\n";
}

}  // namespace

std::string ShownOutcome(const CaseRecord& record) {
  if (!record.waived_by.empty()) return "waived";
  const bool unclean = std::holds_alternative<Passed>(record.outcome) && !ErrorFindings(record).empty();
  return unclean ? "failed" : Name(record.outcome);
}

std::string HtmlTop(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& screen) {
  std::string html = std::string("<main>\n<section class=\"verdict ") + Name(verdict.kind) + "\">\n<h1>" +
                     HtmlLine(Headline(summary, verdict)) + "</h1>\n<p class=\"soft\">" +
                     HtmlLine(VerdictLine(summary, verdict)) + "</p>\n" + RunHtml(summary) +
                     CountsHtml(summary) + ChainHtml(summary, verdict);
  if (verdict.root_cause) html += RootCauseHtml(summary, verdict);
  html += WarningsHtml(summary);
  html += "</section>\n<h2>Tested</h2>\n" + List(Judged(summary)) + SkipTableHtml(summary) +
          "<details><summary>The summary as text</summary><pre>";
  RunSummaryOptions plain = screen;
  plain.color = false;
  return html + HtmlText(RunSummary(summary, verdict, plain), size_t{64} << 10) + "</pre></details>\n";
}

std::string FindingsHtml(const Summary& summary) {
  std::map<std::string, std::pair<const Finding*, int64_t>> names;
  size_t left_out = 0;
  const auto add = [&](const Finding& finding) {
    const std::string name = FindingName(finding);
    const auto place = names.find(name);
    if (place != names.end())
      ++place->second.second;
    else if (names.size() < kMaxFindings)
      names.emplace(name, std::pair{&finding, 1});
    else
      ++left_out;
  };
  for (const Finding& finding : summary.run_findings) add(finding);
  for (const CaseRecord& record : summary.cases)
    for (const Finding& finding : record.findings) add(finding);
  if (names.empty()) return "";
  std::string html = "<section id=\"findings\">\n<h2>What the findings mean</h2>\n";
  for (const auto& [name, counted] : names) {
    const auto& [finding, count] = counted;
    html +=
        "<h3 id=\"" + AnchorOf(name) + "\">" + HtmlLine(name) + "</h3>\n<dl>\n" +
        TextRow("reported", count == 1 ? "once" : std::to_string(count) + " times") +
        TextRow("meaning", finding->summary) + TextRow("what to do", finding->remedy) +
        CommandRow(PlaceOf(finding->where), finding->command) + Row("see", LinkHtml(finding->link)) +
        CommandRow("more",
                   finding->slug.empty() ? "" : "cudnn-ci explain " + ShellQuote(SingleLine(finding->slug))) +
        "</dl>\n";
  }
  if (left_out > 0)
    html += "<p class=\"soft\">and " + std::to_string(left_out) +
            " findings of other names; report.json has them</p>\n";
  return html + "</section>\n";
}

}  // namespace cudnn_ci
