// What reports say about one case. See case_text.h.
#include "report/text/case_text.h"

#include <algorithm>

#include "base/text.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {
namespace {

constexpr char kNotRun[] = "not run: ";
constexpr size_t kMaxExpectations = 50;  // in a body; the rest is counted
constexpr size_t kMaxFindings = 50;

// Finding ids come from plugins: they must not bring separators into a type.
std::string SafeSlug(const std::string& slug) {
  std::string safe;
  for (char c : SingleLine(slug.substr(0, 80))) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    safe += fine ? c : '-';
  }
  return safe.empty() ? "unnamed" : safe;
}

void AppendFinding(const Finding& finding, std::string* story) {
  *story += std::string(Name(finding.severity)) + " " + FindingName(finding) + ": " +
            HeadAndTail(DetailOf(finding), 4096, 4096) + "\n";
  if (!finding.summary.empty() && finding.summary != finding.detail) {
    *story += "  what: " + SingleLine(finding.summary, 500) + "\n";
  }
  if (!finding.remedy.empty()) *story += "  remedy: " + SingleLine(finding.remedy, 1000) + "\n";
  if (!finding.command.empty())
    *story += std::string("  ") + PlaceOf(finding.where) + ": " + SingleLine(finding.command, 1000) + "\n";
  if (!finding.link.empty()) *story += "  see: " + SingleLine(finding.link, 300) + "\n";
}

}  // namespace

std::string DetailOf(const Finding& finding) {
  const std::string& text = finding.detail.empty() ? finding.summary : finding.detail;
  return text.empty() ? "no detail" : text;
}

std::string FindingName(const Finding& finding) {
  return std::string(Name(finding.blame)) + "." + SafeSlug(finding.slug);
}

std::string ReasonLine(const Summary& summary, const CaseRecord& record) {
  if (const auto* blocked = std::get_if<Blocked>(&record.outcome)) {
    return std::string("blocked by ").append(SingleLine(DisplayId(blocked->by), 230));
  }
  if (const auto* not_run = std::get_if<NotRun>(&record.outcome)) {
    std::string reason = not_run->reason;
    if (reason.empty() && summary.finished && summary.cancelled) reason = TextOf(*summary.cancelled);
    return kNotRun + SingleLine(reason.empty() ? "the run did not finish" : reason, 230);
  }
  if (const auto* skipped = std::get_if<Skipped>(&record.outcome)) {
    const std::string text = std::string(Name(skipped->kind)) + ": needs " + SingleLine(skipped->need, 110) +
                             ", saw " + SingleLine(skipped->seen, 110);
    const bool closes = record.plan.required && !IsAllowedSkip(record);
    return std::string(closes ? "not allowed: " : "") + text;
  }
  const std::vector<Finding> errors = ErrorFindings(record);
  if (errors.empty()) return "";
  std::string line = SingleLine(errors[0].slug, 60) + ": " + DetailOf(errors[0]);
  if (errors.size() > 1) line += " (and " + std::to_string(errors.size() - 1) + " more)";
  return SingleLine(line);
}

std::string WithoutNotRun(const std::string& reason_line) {
  return reason_line.starts_with(kNotRun) ? reason_line.substr(sizeof kNotRun - 1) : reason_line;
}

std::string ReasonCode(const CaseRecord& record) {
  if (std::holds_alternative<Blocked>(record.outcome)) return "blocked";
  if (std::holds_alternative<NotRun>(record.outcome)) return "not-run";
  if (const auto* skipped = std::get_if<Skipped>(&record.outcome))
    return record.plan.required && !IsAllowedSkip(record) ? "skip-not-allowed" : Name(skipped->kind);
  const std::vector<Finding> errors = ErrorFindings(record);
  return errors.empty() ? "" : SafeSlug(errors[0].slug);
}

const AttemptRecord* DecidingAttempt(const CaseRecord& record) {
  const AttemptRecord* last = nullptr;
  for (auto attempt = record.attempts.rbegin(); attempt != record.attempts.rend(); ++attempt) {
    // One on another GPU tells whose fault the failure was, not what it was.
    if (!attempt->finished || attempt->mode == AttemptMode::kCrossDevice || IsDiscarded(record, *attempt))
      continue;
    if (!std::holds_alternative<Passed>(attempt->outcome)) return &*attempt;
    if (!last) last = &*attempt;
  }
  return last;
}

std::vector<std::string> ExpectationLines(const AttemptRecord& attempt) {
  std::vector<std::string> lines;
  for (const ExpectationFailed& e : attempt.expectations) {
    if (lines.size() == kMaxExpectations) {
      lines.push_back("and " + std::to_string(attempt.expectations.size() - kMaxExpectations) +
                      " more failed expectations");
      break;
    }
    std::string place;
    if (!e.file.empty()) place = SingleLine(e.file, 300) + ":" + std::to_string(e.line) + ": ";
    lines.push_back(place + HeadAndTail(e.what, 2048, 2048));
  }
  return lines;
}

std::string WholeStory(const CaseRecord& record) {
  std::string story;
  const AttemptRecord* attempt = DecidingAttempt(record);
  if (attempt) {
    for (const std::string& line : ExpectationLines(*attempt)) story += line + "\n";
  }
  std::vector<Finding> findings = record.findings;
  const auto is_error = [](const Finding& f) { return f.severity == Severity::kError; };
  if (std::none_of(findings.begin(), findings.end(), is_error)) {
    const std::vector<Finding> errors = ErrorFindings(record);
    findings.insert(findings.begin(), errors.begin(), errors.end());
  }
  std::stable_partition(findings.begin(), findings.end(), is_error);
  for (size_t i = 0; i < findings.size() && i < kMaxFindings; ++i) AppendFinding(findings[i], &story);
  if (findings.size() > kMaxFindings) {
    story += "and " + std::to_string(findings.size() - kMaxFindings) + " more findings\n";
  }
  if (const auto* errored = std::get_if<Errored>(&record.outcome)) {
    story += std::string(Name(errored->kind)) + ": " + HeadAndTail(errored->detail, 2048, 2048) + "\n";
  }
  if (attempt && !attempt->evidence.empty()) {
    story += "evidence:\n" + HeadAndTail(attempt->evidence, 8192, 8192) + "\n";
  }
  if (!record.steps.empty()) story += "last step: " + SingleLine(record.steps.back()) + "\n";
  return HeadAndTail(story, 8 << 10, 56 << 10);
}

std::string BoundedText(const std::string& text) {
  constexpr size_t kHead = 8 << 10, kTail = 56 << 10;
  return HeadAndTail(text, kHead, kTail);
}

std::string ListText(const std::vector<std::string>& items, size_t most) {
  const size_t shown = std::min(items.size(), most);
  std::string text = Join({items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  if (items.size() > shown) text += " and " + std::to_string(items.size() - shown) + " more";
  return text;
}

}  // namespace cudnn_ci
