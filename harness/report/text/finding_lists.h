// Findings for a list of a few lines: the errors beside the root cause, by name, and what is worth knowing
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
};

// The errors that count beside the root cause, in layer order, those about the run last.
std::vector<FindingGroup> OtherErrors(const Summary& summary, const RootCause& root);

// "2 x image.crashed", a line for each, and how many were left out. One that accuses the runner is never left
// out: it may explain all else.
std::vector<std::string> OtherErrorLines(const Summary& summary, const RootCause& root);

// What the verdict shows of the warnings (model/verdict/warnings.h); behind them what discovery and planning
// warned of.
struct WarningLine {
  std::string text;
  std::string place, command;  // the suggested command and where it is typed (PlaceOf); empty: there is none
};
std::vector<WarningLine> WarningLines(const Summary& summary);

// How many notes there are beside, and where they are; empty: none. What the warnings' bound leaves out is
// among them.
std::string NotesLine(const Summary& summary);

// The first kMaxListed, then "and 3 MORE" for the rest, `more` being its words.
std::vector<std::string> Shortened(std::vector<std::string> lines, const std::string& more);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_FINDING_LISTS_H_
