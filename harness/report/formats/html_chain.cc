#include "report/formats/html_chain.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "report/text/html_text.h"
#include "report/text/stack_chain.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostLanes = 64, kMostOpen = 8;  // subjects in all, and before those that are folded
constexpr size_t kMostChecks = 16, kMostTypes = 12;
constexpr size_t kBroad = 4;           // types of data from which on a table takes all the room
constexpr size_t kMostSideBySide = 3;  // subjects with all that was proven
constexpr size_t kMostEvidence = 300, kLeastEvidence = 160;  // bytes: of the root cause, of another

const char* NameOf(LinkKind kind) {
  switch (kind) {
    case LinkKind::kDriver:
      return "Host driver";
    case LinkKind::kDriverFiles:
      return "Driver in the container";
    case LinkKind::kToolkit:
      return "CUDA toolkit";
    case LinkKind::kCudnn:
      return "cuDNN and its parts";
    case LinkKind::kEnvironment:
      return "Environment and frameworks";
    case LinkKind::kOperations:
      break;
  }
  return "Operations";
}

// The class of the style, the mark that is read without colours, and the word.
struct Look {
  const char *style, *mark, *word;
};
Look LookOf(LinkState state) {
  switch (state) {
    case LinkState::kBroken:
      return {"broken", "\u2717", "broken"};
    case LinkState::kBlocked:
      return {"blocked", "\u2016", "blocked"};
    case LinkState::kNotRun:
      return {"idle", "\u2013", "not run"};
    case LinkState::kExcused:
      return {"excused", "!", "failed, waived or optional"};
    case LinkState::kProven:
      return {"proven", "\u2713", "proven"};
    case LinkState::kSkipped:
      return {"idle", "\u2013", "skipped"};
    case LinkState::kNoCase:
      break;
  }
  return {"idle", "\u2013", "no check"};
}

LinkState StateOf(const LinkCounts& counts) {
  ChainLink link;
  link.counts = counts;
  return link.state();
}

// "2 of 33": the cases that are what the state says, of all.
std::string CountText(const LinkCounts& counts) {
  const LinkState state = StateOf(counts);
  const int64_t some = state == LinkState::kBroken    ? counts.red
                       : state == LinkState::kBlocked ? counts.blocked
                       : state == LinkState::kNotRun  ? counts.not_run
                       : state == LinkState::kExcused ? counts.excused
                       : state == LinkState::kProven  ? counts.passed
                                                      : counts.all();
  return std::to_string(some) + (some < counts.all() ? " of " + std::to_string(counts.all()) : "");
}

// "31 passed, 2 failed".
std::string Tally(const LinkCounts& counts) {
  std::string text;
  const auto add = [&](int64_t count, const char* word) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  };
  add(counts.red, "red");
  add(counts.passed, "passed");
  add(counts.blocked, "blocked");
  add(counts.skipped, "skipped");
  add(counts.not_run, "not run");
  add(counts.excused, "failed without closing the gate");
  return text;
}

// What the search of the cases finds it by.
std::string Find(const std::string& words) { return " data-find=\"" + HtmlLine(words) + "\""; }

// Of the plugin that a link is about the name goes without saying: "init" of "cudnn.init".
std::string ShortName(const std::string& check, LinkKind kind) {
  if (kind == LinkKind::kOperations) return check;
  for (const std::string_view own : {"driver.", "toolkit.", "cudnn.", "framework.", "image."})
    if (check.starts_with(own)) return check.substr(own.size());
  return check;
}

LinkCounts Sum(const std::map<std::string, LinkCounts>& types) {
  LinkCounts sum;
  for (const auto& [type, counts] : types) sum.Add(counts);
  return sum;
}

std::string ChecksHtml(const ChainLink& link) {
  std::string html;
  size_t shown = 0;
  for (const auto& [check, types] : link.checks) {
    if (++shown > kMostChecks) continue;
    const LinkCounts counts = Sum(types);
    const Look look = LookOf(StateOf(counts));
    html += std::string("<li class=\"") + look.style + "\" title=\"" +
            HtmlLine(check + ": " + Tally(counts)) + "\"" + Find(check) + "><span>" + look.mark + "</span> " +
            HtmlLine(ShortName(check, link.kind), 60) +
            (counts.all() > 1 ? " <b>" + CountText(counts) + "</b>" : "") + "</li>";
  }
  if (shown > kMostChecks) html += "<li>and " + std::to_string(shown - kMostChecks) + " more</li>";
  return html.empty() ? "" : "<ul class=\"checks\">" + html + "</ul>";
}

std::string CellHtml(const std::string& check, const std::string& type, const LinkCounts& counts) {
  const Look look = LookOf(StateOf(counts));
  return std::string("<td class=\"") + look.style + "\" title=\"" + HtmlLine(Tally(counts)) + "\"" +
         Find(type.empty() ? check : check + " dtype=" + type) + "><span>" + look.mark + "</span> " +
         CountText(counts) + "</td>";
}

// What computes has a row, and each type of data a column, the widest first.
std::string OperationsHtml(const ChainLink& link) {
  static const std::vector<std::string> kWidestFirst = {"float64",  "complex64", "float32",
                                                        "tfloat32", "bfloat16",  "float16"};
  std::set<std::string> all;
  for (const auto& [check, types] : link.checks)
    for (const auto& [type, counts] : types) all.insert(type);
  if (all.empty() || (all.size() == 1 && all.count("") == 1)) return ChecksHtml(link);
  std::vector<std::string> columns;
  for (const std::string& type : kWidestFirst)
    if (all.erase(type) > 0) columns.push_back(type);
  const bool untyped = all.erase("") > 0;
  columns.insert(columns.end(), all.begin(), all.end());
  const size_t left_out = columns.size() > kMostTypes ? columns.size() - kMostTypes : 0;
  columns.resize(columns.size() - left_out);
  if (untyped) columns.emplace_back();
  std::string html =
      std::string(
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"operations by type of data\"><table class=\"proof") +
      (columns.size() >= kBroad ? " broad" : "") + "\"><thead><tr><th></th>";
  for (const std::string& type : columns)
    html += "<th>" + HtmlLine(type.empty() ? "any" : type, 40) + "</th>";
  html += "</tr></thead><tbody>";
  size_t shown = 0;
  for (const auto& [check, types] : link.checks) {
    if (++shown > kMostChecks) continue;
    html += "<tr><th>" + HtmlLine(check, 60) + "</th>";
    for (const std::string& type : columns) {
      const auto cell = types.find(type);
      html += cell == types.end() ? "<td></td>" : CellHtml(check, type, cell->second);
    }
    html += "</tr>";
  }
  html += "</tbody></table></div>";
  if (shown > kMostChecks || left_out > 0)
    html += "<p class=\"soft\">" + std::to_string(shown - std::min(shown, kMostChecks)) + " more checks, " +
            std::to_string(left_out) + " more types of data</p>";
  return html;
}

std::string BrokenHtml(const ChainLink& link) {
  std::string html;
  for (const BrokenBy& by : link.broken_by)
    html += "<p class=\"evidence\"><a href=\"#case=" + FragmentOf(by.case_id) + "\">" + HtmlLine(by.finding) +
            "</a> " +
            HtmlLine(by.detail, link.root && &by == &link.broken_by[0] ? kMostEvidence : kLeastEvidence) +
            "</p>";
  if (link.blocks > 0)
    html += "<p class=\"blocks\">blocks " + std::to_string(link.blocks) +
            (link.blocks == 1 ? " case" : " cases") + " behind it</p>";
  return html;
}

// A path or a version, which may break behind each slash and point.
std::string BreakableHtml(const std::string& text) {
  std::string html;
  for (const char c : HtmlLine(text, 200)) {
    html += c;
    if (c == '/' || c == '.') html += "<wbr>";
  }
  return html;
}

enum class Detail { kLine, kChecks, kTypes };

// "not found" is worth a word only of what cases asked for.
std::string ValueHtml(const ChainLink& link) {
  const bool has_version =
      link.kind == LinkKind::kDriver || link.kind == LinkKind::kToolkit || link.kind == LinkKind::kCudnn;
  const std::string value = link.value.empty() && has_version ? "not found" : link.value;
  std::string html = value.empty() ? "" : "<strong>" + BreakableHtml(value) + "</strong>";
  for (const std::string& line : link.lines)
    html += "<span class=\"line\">" + BreakableHtml(line) + "</span>";
  return html;
}

std::string LinkHtmlOf(const ChainLink& link, Detail detail) {
  const Look look = LookOf(link.state());
  std::string html = std::string("<li class=\"link ") + look.style + (link.root ? " root" : "") +
                     (link.kind == LinkKind::kOperations ? " operations" : "") +
                     "\">\n<div class=\"title\"><span>" + NameOf(link.kind) + "</span><em><i>" + look.mark +
                     "</i><b> " + (link.root ? "root cause" : look.word) + "</b></em></div>" +
                     ValueHtml(link) + BrokenHtml(link);
  if (detail != Detail::kLine)
    html +=
        link.kind == LinkKind::kOperations && detail == Detail::kTypes && link.state() != LinkState::kBlocked
            ? OperationsHtml(link)
            : ChecksHtml(link);
  const std::string tally = Tally(link.counts);
  return html + (tally.empty() ? "" : "<span class=\"tally\">" + tally + "</span>") + "</li>\n";
}

std::string LaneHtml(const ChainLane& lane, Detail detail) {
  std::string html =
      std::string("<div class=\"lane") + (detail == Detail::kLine ? " slim" : "") +
      "\"><p class=\"lane\"><strong>" + HtmlLine(lane.name.empty() ? "no subject" : lane.name, 100) +
      "</strong> <span class=\"soft\">" + HtmlLine(lane.spec, 200) + "</span></p>\n<ol class=\"links\">";
  for (ChainLink link : lane.links) {
    if (link.kind == LinkKind::kEnvironment) {  // the lane's own name says it
      link.value.clear();
      link.lines.clear();
    }
    html += LinkHtmlOf(link, detail);
  }
  return html + "</ol></div>\n";
}

}  // namespace

std::string ChainHtml(const Summary& summary, const Verdict& verdict) {
  const StackChain chain = MakeStackChain(summary, verdict);
  if (summary.cases.empty()) return "";
  const bool is_one = chain.lanes.size() == 1;
  std::string html =
      std::string("<section class=\"chain\" aria-label=\"the stack, link by link\">\n<ol class=\"links") +
      (is_one ? "" : " machine") + "\">";
  for (const ChainLink& link : chain.machine) html += LinkHtmlOf(link, Detail::kChecks);
  for (size_t i = 0; is_one && i < chain.lanes[0].links.size(); ++i) {
    const ChainLink& link = chain.lanes[0].links[i];
    if (link.kind == LinkKind::kOperations) html += "</ol>\n<ol class=\"links under\">";
    html += LinkHtmlOf(link, Detail::kTypes);
  }
  html += "</ol>\n";
  const Detail detail = chain.lanes.size() > kMostSideBySide ? Detail::kLine : Detail::kTypes;
  std::string folded;
  for (size_t i = 0; chain.lanes.size() > 1 && i < std::min(chain.lanes.size(), kMostLanes); ++i)
    (i < kMostOpen ? html : folded) += LaneHtml(chain.lanes[i], detail);
  if (!folded.empty()) {
    const size_t count = chain.lanes.size() - kMostOpen;
    html += "<details><summary>and " + std::to_string(count) + " more subjects" +
            (chain.lanes[kMostOpen].broken() ? "" : ", none of them broken") + "</summary>" + folded +
            (chain.lanes.size() > kMostLanes
                 ? "<p class=\"soft\">" + std::to_string(chain.lanes.size() - kMostLanes) +
                       " are not drawn; the table of cases has them</p>"
                 : "") +
            "</details>\n";
  }
  for (const std::string& copy : chain.unused_cudnn)
    html += "<p class=\"soft unused\">no subject uses cuDNN " + HtmlLine(copy) + "</p>\n";
  return html + "</section>\n";
}

}  // namespace cudnn_ci
