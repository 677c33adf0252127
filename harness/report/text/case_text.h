// What reports say about one case, in words: one line and the whole story. Shared by console and JUnit, so
// that both name the same reason. Knows no markup; all text comes out cleaned.
#ifndef CUDNN_CI_REPORT_TEXT_CASE_TEXT_H_
#define CUDNN_CI_REPORT_TEXT_CASE_TEXT_H_

#include <string>
#include <vector>

#include "model/verdict/verdict.h"

namespace cudnn_ci {

// One line: why the case did not pass ("wrong-value: 3 of 1204 elements differ"), or "" for a clean pass.
std::string ReasonLine(const Summary& summary, const CaseRecord& record);

// The reason of a NotRun from such a line of it.
std::string WithoutNotRun(const std::string& reason_line);

// The same for machines: the finding id of its first error; "blocked", "not-run", the kind of an allowed
// skip, "skip-not-allowed". "" for a clean pass.
std::string ReasonCode(const CaseRecord& record);

// What was found, else what the finding is about; never empty.
std::string DetailOf(const Finding& finding);

// "image.wrong-value": what reports call it.
std::string FindingName(const Finding& finding);

// The attempt that decided: of those that count the last that did not pass, else the last; null when none
// finished.
const AttemptRecord* DecidingAttempt(const CaseRecord& record);

// "path:line: what" of the failed expectations of an attempt, one each.
std::vector<std::string> ExpectationLines(const AttemptRecord& attempt);

// Failed expectations, findings with detail and remedy, evidence; many lines, bounded.
std::string WholeStory(const CaseRecord& record);

// Cleaned, and if need be cut in the middle: what a report keeps of captured output (8 KiB and 56 KiB).
std::string BoundedText(const std::string& text);

// "a" or "a, b and 3 more": the first `most` of a list.
std::string ListText(const std::vector<std::string>& items, size_t most);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_CASE_TEXT_H_
