// One page of many images. See page.h.
#include "review/page.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>

#include "base/file.h"
#include "base/text.h"
#include "report/assets/assets.h"
#include "report/formats/html.h"
#include "report/record/own_reports.h"
#include "report/text/html_text.h"

namespace cudnn_ci {
namespace {

constexpr char kMark[] = "cudnn-ci page";

// "2026-01-31T10:00:00Z" as seconds since 1970; -1 when it is no such text.
int64_t SecondsOf(const std::string& timestamp) {
  if (timestamp.size() != 20 || timestamp[10] != 'T' || timestamp[19] != 'Z') return -1;
  const auto number = [&](size_t at, size_t length) { return atoi(timestamp.substr(at, length).c_str()); };
  tm t{};
  t.tm_year = number(0, 4) - 1900;
  t.tm_mon = number(5, 2) - 1;
  t.tm_mday = number(8, 2);
  t.tm_hour = number(11, 2);
  t.tm_min = number(14, 2);
  t.tm_sec = number(17, 2);
  return static_cast<int64_t>(timegm(&t));
}

std::string AgeText(const std::string& timestamp, int64_t now_s) {
  const int64_t then = SecondsOf(timestamp);
  if (then < 0) return "unknown";
  const int64_t age = now_s - then;
  if (age < 0) return "in the future";
  if (age < 3600) return std::to_string(age / 60) + " min";
  if (age < 48 * 3600) return std::to_string(age / 3600) + " h";
  return std::to_string(age / 86400) + " days";
}

// By which ages are sorted, the youngest first: seconds. What is not known comes last.
std::string AgeKey(const std::string& timestamp, int64_t now_s) {
  const int64_t then = SecondsOf(timestamp);
  return then < 0 ? std::string("~") : std::to_string(std::max<int64_t>(0, now_s - then));
}

// A path as an address: each part of it encoded, so that none is taken for a scheme or a query.
std::string PathOf(const std::string& path) {
  std::string address;
  for (size_t from = 0; from <= path.size();) {
    const size_t slash = std::min(path.find('/', from), path.size());
    address += (from == 0 ? "" : "/") + FragmentOf(std::string_view(path).substr(from, slash - from));
    from = slash + 1;
  }
  return address;
}

// Whether the row may be shown as good: a whole run that came to its end, was to gate, and passed.
bool IsGood(const PageRow& row) {
  const RunView& v = row.view;
  return row.problem.empty() && v.verdict == "passed" && v.exit_code == 0 && v.complete &&
         v.partial.empty() && !v.report_only;
}

std::string VerdictText(const PageRow& row) {
  if (!row.problem.empty()) return row.view.verdict.empty() ? "unreadable" : row.view.verdict;
  std::string text = row.view.verdict;
  if (!row.view.blame.empty()) text += " (" + row.view.blame + ")";
  if (!row.view.complete) text += ", incomplete";
  if (!row.view.partial.empty()) text += ", partial: " + row.view.partial;
  if (row.view.report_only) text += ", not gating";
  if (const size_t warnings = row.view.warnings.size(); warnings > 0)
    text += ", " + std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings");
  return text;
}

// Of a verdict that is none of ours the class is not taken from the file.
std::string ClassOf(const PageRow& row) {
  if (IsGood(row)) return "passed";
  return row.problem.empty() && row.view.verdict != "failed" ? "warn" : "failed";
}

std::string CudnnText(const RunView& view) {
  std::vector<std::string> texts;
  for (const auto& [label, value] : view.libraries) {
    constexpr std::string_view kOf = "cuDNN of ", kFrom = " from";
    const bool path = label.size() > kFrom.size() && label.substr(label.size() - kFrom.size()) == kFrom;
    if (label.compare(0, kOf.size(), kOf) != 0 || path) continue;
    const std::string subject = label.substr(kOf.size());
    texts.push_back(subject == "system" ? value : subject + ": " + value);
  }
  return texts.empty() ? "-" : Join(texts, ", ");
}

// A cell; on a narrow screen, where it stands below the others, it has its label beside it. `html` is HTML.
std::string Cell(const char* label, const std::string& html, const std::string& attributes = "") {
  return std::string("<td data-label=\"") + label + "\"" + attributes + "><div>" +
         (html.empty() ? "-" : html) + "</div></td>";
}

// What it is sorted by.
std::string Value(const std::string& value) { return " data-value=\"" + HtmlLine(value) + "\""; }

std::string RowHtml(const PageRow& row, int64_t now_s) {
  const RunView& v = row.view;
  std::string cause = row.problem.empty() ? v.headline_cause : row.problem;
  if (!v.root_case.empty()) cause += " in " + SingleLine(DisplayId(v.root_case), 400);
  std::string gpus = v.gpus.empty() ? "none" : v.gpus[0];
  if (v.gpus.size() > 1) gpus += " x " + std::to_string(v.gpus.size());
  std::string name = HtmlLine(v.image.empty() || v.image == "unidentified" ? row.source : v.image);
  if (!row.report.empty())
    name = "<a href=\"" + PathOf(row.report) + "\" rel=\"noreferrer\">" + name + "</a>";
  return "<tr>" +
         Cell("verdict", "<strong>" + HtmlLine(VerdictText(row)) + "</strong>",
              " class=\"" + ClassOf(row) + "\"") +
         Cell("image", name + "<br><span class=\"soft mono\">" + HtmlLine(row.source) + "</span>",
              " class=\"text\"") +
         Cell("root cause", HtmlLine(cause), " class=\"text\"") + Cell("cuDNN", HtmlLine(CudnnText(v))) +
         Cell("GPU", HtmlLine(gpus)) + Cell("driver", HtmlLine(v.driver)) +
         Cell("matrix", HtmlLine(v.matrix)) +
         Cell(
             "age", HtmlLine(AgeText(v.timestamp, now_s)),
             " class=\"short\" title=\"" + HtmlLine(v.timestamp) + "\"" + Value(AgeKey(v.timestamp, now_s))) +
         "</tr>\n";
}

}  // namespace

std::string ReportBeside(const std::string& folder, const std::string& from) {
  const std::string path = folder + "/report.html";
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) ||
      FormatOfHead(ReadSmallFile(path, 200)) != "html")
    return "";
  std::error_code error;
  const std::filesystem::path relative = std::filesystem::relative(path, from, error);
  return error ? "" : relative.string();
}

bool IsOwnPage(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  const std::string head = std::string("<!DOCTYPE html>\n<!--") + kMark;
  return st.st_size == 0 || ReadSmallFile(path, head.size()) == head;
}

std::string RenderPage(std::vector<PageRow> rows, int64_t now_s) {
  std::stable_sort(rows.begin(), rows.end(), [](const PageRow& a, const PageRow& b) {
    const auto key = [](const PageRow& row) {
      return std::make_tuple(IsGood(row), row.view.image, row.source);
    };
    return key(a) < key(b);
  });
  const auto good = std::count_if(rows.begin(), rows.end(), IsGood);
  const std::string counts = std::to_string(good) + " of " + std::to_string(rows.size()) + " passed";
  std::string page = HtmlHead(kMark, "cudnn-ci: " + counts, kPageStyle, kPageScript);
  page +=
      "<main>\n"
      "<h1>Images</h1>\n<p class=\"" +
      std::string(good == static_cast<int64_t>(rows.size()) ? "passed" : "failed") + "\"><strong>" + counts +
      "</strong></p>\n<div class=\"scroll\"><table "
      "class=\"images\">\n<thead><tr><th>verdict</th><th>image</th>"
      "<th>root cause</th><th>cuDNN</th><th>GPU</th><th>driver</th><th>matrix</th><th>age</th></tr></thead>\n"
      "<tbody>\n";
  for (const PageRow& row : rows) page += RowHtml(row, now_s);
  return page + "</tbody>\n</table></div>\n</main>\n<script>" + kPageScript + "</script>\n</body>\n</html>\n";
}

}  // namespace cudnn_ci
