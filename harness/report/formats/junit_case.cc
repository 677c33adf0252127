// One <testcase>. A case has no child (passed) or exactly one of failure, error and skipped: two of them are
// read in as many ways as there are dashboards, and a pass with an attribute "not run" is read as a pass.
#include "report/formats/junit_case.h"

#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "model/verdict/attribution.h"
#include "report/text/case_text.h"

namespace cudnn_ci {
namespace {

bool IsErrored(const Outcome& outcome) { return std::holds_alternative<Errored>(outcome); }

// Rather than that it was left out.
bool WentWrong(const CaseRecord& record) {
  return IsErrored(record.outcome) || std::holds_alternative<Failed>(record.outcome) ||
         std::holds_alternative<Passed>(record.outcome);
}

// A try that passed or never finished is none of flaky* and rerun*.
bool IsFailedTry(const AttemptRecord& attempt) {
  return attempt.finished && (std::holds_alternative<Failed>(attempt.outcome) || IsErrored(attempt.outcome));
}

// GitLab and others take a path only if it is relative to the repository's root.
bool IsRepositoryPath(const std::string& path) {
  return !path.empty() && path[0] != '/' && path[0] != '.' && path.find("..") == std::string::npos &&
         path.find('\\') == std::string::npos && path.size() <= 300;
}

const ExpectationFailed* FirstExpectation(const CaseRecord& record) {
  const AttemptRecord* attempt = DecidingAttempt(record);
  return attempt && !attempt->expectations.empty() ? &attempt->expectations.front() : nullptr;
}

void PrintPlace(tinyxml2::XMLPrinter* out, const CaseRecord& record) {
  const ExpectationFailed* first = FirstExpectation(record);
  if (!first || !IsRepositoryPath(first->file)) return;
  out->PushAttribute("file", SingleLine(first->file, 300).c_str());
  if (first->line >= 1) out->PushAttribute("line", first->line);
}

std::string NumberText(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 6).ptr;
  return {buffer, end};
}

void PrintProperties(tinyxml2::XMLPrinter* out, const CaseRecord& record) {
  PropertyList properties(out);
  properties.Add("outcome", Name(record.outcome));
  properties.Add("required", record.plan.required ? "true" : "false");
  if (!record.plan.subject.empty()) properties.Add("subject", record.plan.subject);
  if (!record.plan.ref.device.empty()) properties.Add("device", record.plan.ref.device);
  if (record.attempts.size() > 1) properties.Add("attempts", std::to_string(record.attempts.size()));
  std::vector<std::string> flags;
  for (Flag flag : record.flags) flags.emplace_back(Name(flag));
  if (!flags.empty()) properties.Add("flags", Join(flags, ","));
  if (!record.waived_by.empty()) properties.Add("waived", record.waived_by);
  constexpr size_t kMost = 64;
  for (size_t i = 0; i < record.measurements.size() && i < kMost; ++i) {
    const Measured& m = record.measurements[i];
    properties.Add("measure." + m.name, NumberText(m.value) + (m.unit.empty() ? "" : " " + m.unit));
  }
}

// Tries before (or after) the one the result tells of: Surefire's elements, which keep one <testcase> per
// case.
void PrintOtherTries(tinyxml2::XMLPrinter* out, const CaseRecord& record, bool passed) {
  const AttemptRecord* told = passed ? nullptr : DecidingAttempt(record);
  constexpr int kMost = 16;
  int printed = 0;
  for (const AttemptRecord& attempt : record.attempts) {
    if (&attempt == told || !IsFailedTry(attempt) || IsDiscarded(record, attempt) || printed++ >= kMost)
      continue;
    const bool error = IsErrored(attempt.outcome);
    CaseRecord alone;  // the try as if it had been the only one
    alone.plan = record.plan;
    alone.outcome = attempt.outcome;
    alone.findings = attempt.findings;
    alone.attempts = {attempt};
    const std::vector<Finding> errors = ErrorFindings(alone);
    const std::string reason = ReasonLine({}, alone);
    const std::string message =
        SingleLine("try " + std::to_string(attempt.attempt) + " (" + Name(attempt.mode) + "): " + reason);
    out->OpenElement(passed ? (error ? "flakyError" : "flakyFailure")
                            : (error ? "rerunError" : "rerunFailure"));
    out->PushAttribute("message", message.c_str());
    out->PushAttribute("type", FindingName(errors.front()).c_str());
    out->OpenElement("stackTrace");
    out->PushText(WholeStory(alone).c_str());
    out->CloseElement();
    out->CloseElement();
  }
}

std::string SystemOut(const CaseRecord& record, JunitState state) {
  std::string attachments, text;
  constexpr size_t kMost = 64;
  for (size_t i = 0; i < record.attachments.size() && i < kMost; ++i) {
    const std::string path = SingleLine(record.attachments[i].path, 300);
    if (path.find(']') == std::string::npos) attachments += "[[ATTACHMENT|" + path + "]]\n";
  }
  if (record.attempts.size() > 1) text += std::to_string(record.attempts.size()) + " tries\n";
  for (Flag flag : record.flags) text += std::string("flag: ") + Name(flag) + "\n";
  // Failures tell their findings in the body; the other states have no other place for warnings.
  if (state == JunitState::kPassed || state == JunitState::kSkipped) {
    for (const Finding& finding : record.findings) {
      text += std::string(Name(finding.severity)) + " " + FindingName(finding) + ": " +
              SingleLine(finding.detail, 1000) + "\n";
    }
  }
  for (const AttemptRecord& attempt : record.attempts) {
    if (attempt.output.empty()) continue;
    if (record.attempts.size() > 1) text += "--- output of try " + std::to_string(attempt.attempt) + "\n";
    text += BoundedText(attempt.output) + "\n";
  }
  return attachments + WithoutMarkers(BoundedText(text));
}

}  // namespace

std::string WithoutMarkers(std::string text) {
  static constexpr char kMarker[] = "[[ATTACHMENT";
  for (size_t at = 0; (at = text.find(kMarker, at)) != std::string::npos; at += sizeof kMarker)
    text.insert(at + 1, 1, ' ');
  return text;
}

JunitState JunitStateOf(const CaseRecord& record) {
  if (std::holds_alternative<Passed>(record.outcome) && ErrorFindings(record).empty() &&
      record.waived_by.empty())
    return JunitState::kPassed;
  // A waived failure does not close the gate, nor does an optional one, so they must not turn a dashboard red
  // either; they stay visible as skipped, with the failure and the name of who accepted it.
  if (!record.waived_by.empty() || !record.plan.required) return JunitState::kSkipped;
  if (IsErrored(record.outcome)) return JunitState::kError;
  return WentWrong(record) ? JunitState::kFailure : JunitState::kSkipped;
}

void PrintResult(tinyxml2::XMLPrinter* out, const char* element, const std::string& message,
                 const std::string& type, const std::string& body) {
  const std::string line = message.empty() ? "no reason was given" : message;
  out->OpenElement(element);
  out->PushAttribute("message", line.c_str());
  if (!type.empty()) out->PushAttribute("type", type.c_str());
  out->PushText((body.empty() ? line : line + "\n" + body).c_str());
  out->CloseElement();
}

PropertyList::PropertyList(tinyxml2::XMLPrinter* out) : out_(out) { out_->OpenElement("properties"); }

PropertyList::~PropertyList() { out_->CloseElement(); }

void PropertyList::Add(const std::string& name, const std::string& value) {
  const std::string clean = SingleLine(name, 200);
  std::string once = clean;
  for (int n = 2; !names_.insert(once).second; ++n) once = clean + "." + std::to_string(n);
  out_->OpenElement("property");
  out_->PushAttribute("name", once.c_str());
  out_->PushAttribute("value", SingleLine(value, 2000).c_str());
  out_->CloseElement();
}

void PrintCase(tinyxml2::XMLPrinter* out, const Summary& summary, const CaseRecord& record,
               const std::string& classname, const std::string& name, bool strict) {
  const JunitState state = JunitStateOf(record);
  out->OpenElement("testcase");
  out->PushAttribute("classname", classname.c_str());
  out->PushAttribute("name", name.c_str());
  out->PushAttribute("time", FixedSeconds(record.seconds).c_str());
  if (!strict) {
    PrintPlace(out, record);
    PrintProperties(out, record);
  }
  const std::string reason = ReasonLine(summary, record);
  if (state == JunitState::kSkipped) {
    std::string text = reason;
    if (!record.waived_by.empty()) {
      text = SingleLine("waived by " + record.waived_by + ": " + reason, 500);
    } else if (WentWrong(record)) {
      text = SingleLine("optional: " + reason, 500);
    }
    PrintResult(out, "skipped", text, "", text == reason ? "" : WholeStory(record));
  } else if (state == JunitState::kPassed) {
    PrintOtherTries(out, record, true);
  } else {
    PrintResult(out, state == JunitState::kError ? "error" : "failure", reason,
                FindingName(ErrorFindings(record).front()), WholeStory(record));
    PrintOtherTries(out, record, false);
  }
  const std::string output = SystemOut(record, state);
  if (!output.empty()) {
    out->OpenElement("system-out");
    out->PushText(output.c_str());
    out->CloseElement();
  }
  out->CloseElement();
}

}  // namespace cudnn_ci
