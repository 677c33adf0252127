// Findings by name, for a list of a few lines: the errors beside the root cause, and what is worth knowing
// and closes no gate.
#ifndef CUDNN_CI_REPORT_TEXT_FINDING_LISTS_H_
#define CUDNN_CI_REPORT_TEXT_FINDING_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/verdict/verdict.h"

namespace cudnn_ci {

inline constexpr size_t kMaxListed = 8;  // lines of one kind on the summary

// Findings of one name.
struct FindingGroup {
  std::string name;  // "image.known-regression"
  Blame blame = Blame::kUndetermined;
  Layer layer = Layer::kOther;  // the first of its cases'; kOther where it is about the run alone
  int64_t count = 0;            // cases that have it, and findings about the run
  std::string detail;           // of the first one
};

// The errors that count beside the root cause, in layer order, those about the run last.
std::vector<FindingGroup> OtherErrors(const Summary& summary, const RootCause& root);

// The findings of severity warning, of cases however they ended, in the same order. What was waived is none:
// it is an error.
std::vector<FindingGroup> Warnings(const Summary& summary);

// "2 x image.crashed", a line for each, and how many were left out. One that accuses the runner is never left
// out: it may explain all else.
std::vector<std::string> OtherErrorLines(const Summary& summary, const RootCause& root);

// The same of the warnings, with the first one's detail; behind them what discovery and planning warned of.
std::vector<std::string> WarningLines(const Summary& summary);

// The first kMaxListed, then "and 3 MORE" for the rest, `more` being its words.
std::vector<std::string> Shortened(std::vector<std::string> lines, const std::string& more);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_FINDING_LISTS_H_
