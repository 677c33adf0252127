// The console. See console.h. Text from outside is cleaned and indented: it can neither steer the terminal
// nor give a command to the pipeline.
#include "report/formats/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "model/verdict/attribution.h"
#include "report/text/case_text.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci {
namespace {

constexpr char kIndent[] = "           ";
constexpr int64_t kProgressMs = 100;     // a terminal's line changes at most ten times a second
constexpr int64_t kMilestones = 20;      // progress lines of a compact log
constexpr int64_t kMaxLinesPerTag = 50;  // of a compact log
constexpr char kGreen[] = "\x1b[32m", kRed[] = "\x1b[31m", kYellow[] = "\x1b[33m";

std::string CaseName(const CaseRef& ref) {
  std::string name = SingleLine(ref.id, 400);
  return ref.device.empty() ? name : name + " (" + SingleLine(ref.device, 20) + ")";
}

struct Tag {
  const char* text;
  const char* color;
  bool detailed;  // failed in a way the reader wants to see at once
};

Tag TagOf(const CaseRecord& record) {
  if (!record.waived_by.empty()) return {"[ WAIVED ]", kYellow, false};
  switch (record.outcome.index()) {
    case 1:
      return ErrorFindings(record).empty() ? Tag{"[ PASSED ]", kGreen, false} : Tag{"[ FAILED ]", kRed, true};
    case 2:
      return {"[ FAILED ]", kRed, true};
    case 3:
      return {"[SKIPPED ]", kYellow, false};
    case 4:
      return {"[BLOCKED ]", kYellow, false};
    case 5:
      return {"[ERRORED ]", kRed, true};
    default:
      return {"[NOT RUN ]", kYellow, false};
  }
}

// The first `head` or the last `-head` lines of a text, each indented.
std::string SomeLines(const std::string& text, int head, const char* prefix) {
  std::vector<std::string> lines = Split(text, '\n');
  while (!lines.empty() && Trim(lines.back()).empty()) lines.pop_back();
  const size_t most = static_cast<size_t>(std::abs(head));
  if (lines.size() > most && head < 0)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  std::string out;
  for (size_t i = 0; i < lines.size() && i < most; ++i)
    out += kIndent + (prefix + SingleLine(lines[i], 200)) + "\n";
  return out;
}

// How many lines of each kind a case may have.
struct DetailLimits {
  size_t expectations = 5;
  int expectation_lines = 4, evidence_lines = 6, output_lines = 8;
};
constexpr DetailLimits kWhole = {1000, 1000, 1000, 10'000};  // what a report keeps is bounded already

// Why the case failed: enough to begin with, the whole is in the reports.
std::string Details(const CaseRecord& record, const DetailLimits& limits) {
  std::string out;
  for (const Finding& finding : ErrorFindings(record)) {
    out +=
        kIndent +
        SingleLine(FindingName(finding) + ": " + (finding.detail.empty() ? finding.summary : finding.detail),
                   400) +
        "\n";
  }
  const AttemptRecord* attempt = DecidingAttempt(record);
  if (!attempt) return out;
  const std::vector<std::string> expectations = ExpectationLines(*attempt);
  for (size_t i = 0; i < expectations.size() && i < limits.expectations; ++i)
    out += SomeLines(expectations[i], limits.expectation_lines, "");
  if (expectations.size() > limits.expectations) {
    out += kIndent + ("and " + std::to_string(attempt->expectations.size() - limits.expectations)) +
           " more failed expectations\n";
  }
  const std::string step = record.steps.empty() ? "" : "step " + SingleLine(record.steps.back(), 200);
  if (!step.empty() && out.find(step) == std::string::npos) out += kIndent + ("in " + step) + "\n";
  out += SomeLines(attempt->evidence, limits.evidence_lines, "");
  return out + SomeLines(attempt->output, -limits.output_lines, "| ");
}

// Warnings and notes, a line each.
std::string OtherFindings(const CaseRecord& record) {
  std::string out;
  for (const Finding& finding : record.findings)
    if (finding.severity != Severity::kError)
      out +=
          kIndent +
          SingleLine(std::string(Name(finding.severity)) + ": " + finding.slug + ": " + finding.detail, 400) +
          "\n";
  return out;
}

// A variable that is set and not empty.
bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool IsColored(Color color, bool terminal) {
  if (color != Color::kAuto) return color == Color::kAlways;
  if (IsSet("NO_COLOR")) return false;
  const char* force = std::getenv("FORCE_COLOR");
  const bool forced =
      IsSet("FORCE_COLOR") && std::strcmp(force, "0") != 0 && std::strcmp(force, "false") != 0;
  return forced || terminal;
}

}  // namespace

ConsoleOptions DetectConsole(int fd, Color color) {
  ConsoleOptions options;
  const char* term = std::getenv("TERM");
  const bool dumb = !term || !*term || std::strcmp(term, "dumb") == 0;
  options.terminal = isatty(fd) == 1 && !dumb;
  options.color = IsColored(color, options.terminal);
  winsize size{};
  if (options.terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.width = size.ws_col;
  return options;
}

ConsoleReporter::ConsoleReporter(int fd, ConsoleOptions options) : fd_(fd), options_(std::move(options)) {
  options_.screen.color = options_.color;
  options_.screen.width = std::min<size_t>(options_.terminal ? options_.width : 110, 110);
}

std::string ConsoleReporter::Paint(const char* tag, const char* color) const {
  return options_.color ? std::string(color) + tag + "\x1b[0m" : tag;
}

bool ConsoleReporter::Compact(const Summary& summary) const {
  return !options_.terminal && options_.verbosity != Verbosity::kVerbose &&
         static_cast<int64_t>(summary.cases.size()) > options_.compact_above;
}

void ConsoleReporter::Track(const StepReached& e, int64_t) {
  const auto place = running_.find(e.ref);
  if (place != running_.end()) place->second.step = e.name;
}

void ConsoleReporter::Track(const CaseFinished& e, int64_t) {
  running_.erase(e.ref);
  ++done_;
}

std::string ConsoleReporter::Lines(const RunStarted& run, const Summary&) {
  std::string text =
      "cudnn-ci " + SingleLine(run.version, 40) + ", matrix " + SingleLine(run.matrix_name, 80);
  for (const DeviceInfo& device : run.devices)
    text += ", " + device.name + " " + SingleLine(device.model, 60);
  if (run.devices.empty()) text += ", no GPU";
  text = SingleLine(text, 400) + "\n";
  for (const std::string& warning : SentencesOf(run.warnings))
    text += "warning: " + SingleLine(warning, 400) + "\n";
  return text;
}

std::string ConsoleReporter::Lines(const PlanEnd& plan, const Summary&) {
  return "plan: " + std::to_string(plan.count) + (plan.count == 1 ? " case\n" : " cases\n");
}

std::string ConsoleReporter::Lines(const FindingReported& reported, const Summary&) {
  if (!reported.ref.id.empty()) return "";
  const Finding& finding = reported.finding;
  return SingleLine(std::string(Name(finding.severity)) + ": " + FindingName(finding) + ": " + finding.detail,
                    600) +
         "\n";
}

std::string ConsoleReporter::Lines(const CaseFinished& finished, const Summary& summary) {
  const CaseRecord* record = summary.Find(finished.ref);
  return record ? CaseLines(*record, summary) + Milestone(summary) : "";
}

std::string ConsoleReporter::Lines(const DeviceLost& lost, const Summary&) {
  return SingleLine("error: " + lost.device + " is lost: " + lost.reason, 600) + "\n";
}

std::string ConsoleReporter::Lines(const RunCancelled& cancelled, const Summary&) {
  return "the run is being ended: " + TextOf(cancelled) + "\n";
}

std::string ConsoleReporter::CaseLines(const CaseRecord& record, const Summary& summary) {
  const Tag tag = TagOf(record);
  const bool verbose = options_.verbosity == Verbosity::kVerbose;
  const bool passed = std::strcmp(tag.text, "[ PASSED ]") == 0;
  if (tag.detailed) ++bad_;
  if (passed && !verbose && (options_.terminal || Compact(summary))) return "";
  std::string line = Paint(tag.text, tag.color) + " " + CaseName(record.plan.ref);
  if (passed || tag.detailed) line += " " + FixedSeconds(record.seconds) + " s";
  if (!record.plan.required && tag.detailed) line += ", optional";
  for (Flag flag : record.flags) line += std::string(", ") + Name(flag);
  if (Compact(summary)) {
    const int64_t count = ++printed_[tag.text];
    if (count == kMaxLinesPerTag + 1)
      return std::string(tag.text) + " further ones are in the reports only\n";
    if (count > kMaxLinesPerTag) return "";
  }
  const std::string others = verbose ? OtherFindings(record) : "";
  if (tag.detailed) return line + "\n" + Details(record, verbose ? kWhole : DetailLimits()) + others;
  if (!passed) line += ": " + ReasonLine(summary, record);
  if (!record.waived_by.empty()) line += "; accepted by " + SingleLine(record.waived_by, 200);
  return line + "\n" + others;
}

// Every twentieth of a compact log.
std::string ConsoleReporter::Milestone(const Summary& summary) {
  const auto planned = static_cast<int64_t>(summary.cases.size());
  const int64_t milestone = done_ * kMilestones / std::max<int64_t>(planned, 1);
  if (!Compact(summary) || milestone == last_milestone_) return "";
  last_milestone_ = milestone;
  return ProgressLine(summary) + "\n";
}

std::string ConsoleReporter::ProgressLine(const Summary& summary) const {
  std::string line =
      std::string("[") + std::to_string(done_) + "/" + std::to_string(summary.cases.size()) + "]";
  if (bad_ > 0) line += " " + std::to_string(bad_) + " failed";
  if (options_.terminal && !running_.empty()) {
    const auto& [ref, state] = *running_.begin();
    line += "  " + CaseName(ref) + (state.step.empty() ? "" : " " + state.step);
    if (running_.size() > 1) line += " and " + std::to_string(running_.size() - 1) + " more";
  }
  return SingleLine(line, std::max<size_t>(options_.width, 20) - 1);
}

std::string ConsoleReporter::RunningText(int64_t now_ms) const {
  std::string text;
  size_t named = 0;
  for (const auto& [ref, state] : running_) {
    if (named++ == 3) {
      text += ", and " + std::to_string(running_.size() - 3) + " more";
      break;
    }
    text += (named == 1 ? " " : ", ") + CaseName(ref) + " for " +
            std::to_string((now_ms - state.since_ms) / 1000) + " s";
    if (!state.step.empty()) text += " in step " + SingleLine(state.step, 80);
  }
  return text.empty() ? " nothing" : text;
}

// One broken driver is one red line, not three hundred: what it blocks shares a line.
bool ConsoleReporter::Gather(const Event& event, const Summary& summary) {
  const auto* finished = std::get_if<CaseFinished>(&event.body);
  const auto* blocked = finished ? std::get_if<Blocked>(&finished->outcome) : nullptr;
  if (!blocked || (blocked_count_ > 0 && blocked->by != blocked_by_)) return false;
  const CaseRecord* record = summary.Find(finished->ref);
  blocked_by_ = blocked->by;
  ++blocked_count_;
  ++blocked_checks_[record ? record->plan.check : finished->ref.id];
  return true;
}

std::string ConsoleReporter::TakeBlocked() {
  if (blocked_count_ == 0) return "";
  std::string checks;
  size_t named = 0;
  for (const auto& [check, count] : blocked_checks_) {
    if (named++ == 6) {
      checks += ", and " + std::to_string(blocked_checks_.size() - 6) + " more checks";
      break;
    }
    checks += (checks.empty() ? "" : ", ") + SingleLine(check, 80) +
              (count > 1 ? " x " + std::to_string(count) : "");
  }
  const std::string what =
      blocked_count_ == 1 ? checks : std::to_string(blocked_count_) + " cases (" + checks + ")";
  std::string line = Paint("[BLOCKED ]", kYellow) + " " + what + ": blocked by " +
                     SingleLine(DisplayId(blocked_by_), 300) + "\n";
  blocked_count_ = 0;
  blocked_checks_.clear();
  return line;
}

std::string ConsoleReporter::LinesOf(const Event& event, const Summary& summary) {
  if (Gather(event, summary)) return "";
  std::string gathered = TakeBlocked();
  if (Gather(event, summary)) return gathered;  // blocked by something else
  return gathered + std::visit([&](const auto& e) { return Lines(e, summary); }, event.body);
}

Status ConsoleReporter::Print(const std::string& lines, const std::string& progress) {
  std::string text = progress_shown_ ? "\r\x1b[K" : "";
  text += WithoutPipelineCommands(lines + progress);
  progress_shown_ = !progress.empty();
  if (closed_) return {};
  Status status = WriteAll(fd_, text, "the console");
  if (status.ok()) return status;
  // Who reads has seen enough (`| head`): no report is lost with it.
  pollfd reader{fd_, POLLOUT, 0};
  closed_ = poll(&reader, 1, 0) == 1 && (reader.revents & (POLLERR | POLLHUP)) != 0;
  return closed_ ? Status() : status;
}

Status ConsoleReporter::OnEvent(const Event& event, const Summary& summary) {
  std::visit([&](const auto& e) { Track(e, event.t_ms); }, event.body);
  if (options_.verbosity == Verbosity::kQuiet) return {};
  const std::string lines = LinesOf(event, summary);
  std::string progress;
  if (options_.terminal && !summary.cases.empty()) {
    if (lines.empty() && event.t_ms - last_progress_ms_ < kProgressMs) return {};
    progress = ProgressLine(summary);
    last_progress_ms_ = event.t_ms;
  }
  if (lines.empty() && progress.empty()) return {};
  if (!lines.empty()) last_print_ms_ = event.t_ms;
  return Print(lines, progress);
}

Status ConsoleReporter::OnTick(int64_t now_ms, const Summary& summary) {
  if (options_.verbosity == Verbosity::kQuiet) return {};
  if (options_.terminal) {
    if (summary.cases.empty() || now_ms - last_progress_ms_ < kProgressMs) return {};
    last_progress_ms_ = now_ms;
    return Print("", ProgressLine(summary));
  }
  if (now_ms - last_print_ms_ < options_.heartbeat_ms) return {};
  last_print_ms_ = now_ms;
  return Print(ProgressLine(summary) + " running:" + RunningText(now_ms) + "\n", "");
}

Status ConsoleReporter::Finish(const Summary& summary) {
  return Print(TakeBlocked() + RunSummary(summary, Judge(summary), options_.screen), "");
}

}  // namespace cudnn_ci
