// report.html. See html.h; what it draws and filters is in assets/report.js.
#include "report/formats/html.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/file.h"
#include "base/text.h"
#include "model/verdict/attribution.h"
#include "model/verdict/verdict.h"
#include "report/assets/assets.h"
#include "report/formats/html_top.h"
#include "report/record/own_reports.h"
#include "report/text/case_text.h"
#include "report/text/html_text.h"
#include "report/text/json_text.h"
#include "report/text/reproduction.h"
#include "report/text/run_text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr size_t kMaxSpans = 20'000;
constexpr size_t kMaxOutput = 16 << 10;             // of one case
constexpr size_t kMaxAllOutput = size_t{16} << 20;  // of all
constexpr size_t kMaxCells = 100'000;               // of all tables
// Where the script draws.
constexpr char kApp[] =
    "<noscript><p>Pictures and the table of cases need this page's script; report.json holds the "
    "same.</p></noscript>\n<div id=\"app\"></div>\n";

void Put(JsonText* out, const char* key, const std::string& text) {
  if (!text.empty()) out->Key(key).String(text);
}

void PutFindings(JsonText* out, const CaseRecord& record) {
  if (record.findings.empty()) return;
  out->Key("findings").BeginArray();
  for (const Finding& finding : record.findings) {
    out->BeginCompactObject();
    Put(out, "severity", Name(finding.severity));
    Put(out, "name", FindingName(finding));
    Put(out, "detail", BoundedText(finding.detail));
    Put(out, "remedy", finding.remedy);
    if (!finding.command.empty()) {
      Put(out, "place", PlaceOf(finding.where));
      Put(out, "command", finding.command);
    }
    out->EndObject();
  }
  out->EndArray();
}

// What the deciding attempt left, as far as there is room for it.
void PutAttempt(JsonText* out, const CaseRecord& record, size_t* room) {
  const AttemptRecord* attempt = DecidingAttempt(record);
  if (!attempt) return;
  std::vector<std::string> lines = ExpectationLines(*attempt);
  if (lines.size() > 50) lines.resize(50);
  if (!lines.empty()) out->Key("expectations").Strings(lines);
  for (const auto& [key, text] :
       {std::pair{"evidence", &attempt->evidence}, std::pair{"output", &attempt->output}}) {
    const std::string kept = HeadAndTail(*text, kMaxOutput / 4, kMaxOutput - kMaxOutput / 4);
    if (kept.empty()) continue;
    Put(out, key, kept.size() <= *room ? kept : "(left out here; report.json has it)");
    *room -= std::min(*room, kept.size());
  }
}

// What the case attached as tables: a cell without a state is its text alone. As far as there is room for it.
void PutTables(JsonText* out, const CaseRecord& record, size_t* cells) {
  bool open = false;
  for (const Attached& attached : record.attachments) {
    const AttachedTable& table = attached.table;
    const size_t wanted = table.rows.size() * table.columns.size();
    if (table.empty() || wanted > *cells) continue;
    *cells -= wanted;
    if (!std::exchange(open, true)) out->Key("tables").BeginArray();
    out->BeginCompactObject();
    Put(out, "title", table.title.empty() ? attached.name : table.title);
    out->Key("columns").Strings(table.columns).Key("rows").BeginArray();
    for (const TableRow& row : table.rows) {
      out->BeginArray();
      for (const TableCell& cell : row.cells) {
        out->BeginCompactObject().Key("text").String(cell.text);
        Put(out, "state", Name(cell.state));
        out->EndObject();
      }
      out->EndArray();
    }
    out->EndArray().Key("left_out").Int(table.left_out).EndObject();
  }
  if (open) out->EndArray();
}

void PutCase(JsonText* out, const Summary& summary, const CaseRecord& record, size_t* room, size_t* tables) {
  out->BeginCompactObject();
  Put(out, "id", DisplayId(record.plan.ref));
  Put(out, "plugin", record.plan.plugin);
  Put(out, "check", record.plan.check);
  Put(out, "layer", Name(record.plan.layer));
  Put(out, "subject", record.plan.subject);
  Put(out, "device", record.plan.ref.device);
  Put(out, "outcome", ShownOutcome(record));
  out->Key("red").Bool(IsRed(summary, record)).Key("required").Bool(record.plan.required);
  out->Key("seconds").Double(record.seconds);
  Put(out, "reason", ReasonLine(summary, record));
  Put(out, "waived", record.waived_by);
  out->Key("params").BeginCompactObject();
  for (const auto& [name, value] : record.plan.params)
    // The fields of a shape have their name to stand for them.
    if (name.find('.') == std::string::npos) Put(out, name.c_str(), SingleLine(IdText(value), 200));
  out->EndObject();
  std::vector<std::string> flags;
  for (const Flag flag : record.flags) flags.emplace_back(Name(flag));
  if (!flags.empty()) out->Key("flags").Strings(flags);
  if (!record.steps.empty()) out->Key("steps").Strings(record.steps);
  PutFindings(out, record);
  if (!std::holds_alternative<Passed>(record.outcome) || record.attempts.size() > 1)
    PutAttempt(out, record, room);
  std::vector<std::string> attachments;
  for (const Attached& attached : record.attachments) attachments.push_back(attached.path);
  if (!attachments.empty()) out->Key("attachments").Strings(attachments);
  PutTables(out, record, tables);
  Put(out, "reproduce", Reproduction(summary, record.plan.ref));
  out->EndObject();
}

void PutSpans(JsonText* out, const std::vector<WorkerSpan>& spans) {
  out->Key("spans").BeginArray();
  for (const WorkerSpan& span : spans) {
    out->BeginCompactObject();
    out->Key("worker").Int(span.worker).Key("from").Int(span.from_ms).Key("to").Int(span.to_ms);
    out->Key("id").String(span.id).Key("outcome").String(span.outcome).EndObject();
  }
  out->EndArray();
}

}  // namespace

void HtmlReporter::Replay(const Event& event) {
  if (const auto* started = std::get_if<AttemptStarted>(&event.body)) since_[started->ref] = event.t_ms;
  const auto* ended = std::get_if<AttemptFinished>(&event.body);
  if (!ended) return;
  const auto since = since_.find(ended->ref);
  if (since == since_.end()) return;
  if (spans_.size() < kMaxSpans && ended->worker > 0)
    spans_.push_back({ended->worker, since->second, std::max(since->second, event.t_ms),
                      SingleLine(DisplayId(ended->ref), 400), Name(ended->outcome)});
  since_.erase(since);
}

void HtmlReporter::Withdraw() {
  if (IsOwnReport(path_)) unlink(path_.c_str());
}

Status WriteHtmlReport(const Summary& summary, const std::vector<WorkerSpan>& spans,
                       const RunSummaryOptions& screen, const std::string& path) {
  AtomicFile file(path, IsOwnReport);
  const Verdict verdict = Judge(summary);
  const std::string title = "cudnn-ci: " + Headline(summary, verdict);
  Status status =
      file.Append(HtmlHead(kHtmlMark, title, kPageStyle, kReportScript) + HtmlTop(summary, verdict, screen) +
                  kApp + FindingsHtml(summary) + "</main>\n<script type=\"application/json\" id=\"data\">");
  JsonText out(0, size_t{64} << 10);
  out.BeginObject();
  PutSpans(&out, spans);
  out.Key("cases").BeginArray();
  size_t room = kMaxAllOutput, cells = kMaxCells;
  for (const CaseRecord& record : summary.cases) {
    PutCase(&out, summary, record, &room, &cells);
    if (status.ok() && out.text().size() >= kChunk) status = file.Append(JsonInHtml(out.Take()));
  }
  out.EndArray().EndObject();
  if (status.ok()) status = file.Append(JsonInHtml(out.Take()));
  if (status.ok())
    status =
        file.Append(std::string("</script>\n<script>") + kReportScript + "</script>\n</body>\n</html>\n");
  return status.ok() ? file.Commit() : status;
}

}  // namespace cudnn_ci
