// What changed from one run to another: of two releases of an image, or of one image on two days.
#ifndef CUDNN_CI_REVIEW_COMPARE_H_
#define CUDNN_CI_REVIEW_COMPARE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "review/run_view.h"

namespace cudnn_ci {

// A case that stands otherwise than before, or a measurement of it.
struct CaseChange {
  CaseRef ref;                // empty: an error about the run as a whole
  std::string before, after;  // "passed", "failed: wrong-value: ...", "1.2 ms"
  // Against the new run; not for an optional case, not where it is a waiver's, and not for what is slower
  // without repeated runs.
  bool counts = true;
};

struct LibraryChange {
  std::string label, before, after;
};

struct Comparison {
  std::string not_comparable;  // why; all else is then empty
  std::string verdict_before, verdict_after;
  std::vector<CaseChange> failing;  // failed now, and did not before
  std::vector<CaseChange> skipped;  // passed or failed before, and is not tested now
  std::vector<CaseChange> fixed;    // failed before, and passes now
  std::vector<CaseChange> slower, faster;
  std::string speed;  // how speed was compared, or why not
  std::vector<LibraryChange> libraries;
  std::vector<std::string> notes;  // what makes the two less alike: other matrices, versions
  size_t still_failing = 0, unchanged = 0, added = 0;
  bool worse = false;
};

// The changes from `before` to `after`. `again`: further runs of what `before` is of; by how much they differ
// is noise. Without them it is taken from how all measurements moved together. Slower is a measurement with a
// goal whose unit is one of time, or of work per time, beyond a fifth and the noise; only for the same GPUs
// and driver.
Comparison Compare(const RunView& before, const RunView& after, const std::vector<RunView>& again = {});

// What `now`, whose cases need not have run yet, is held to by the matrix's "max_slowdown_percent".
SpeedBaseline SpeedBaselineOf(const RunView& before, const RunView& now);

// 0: the same or better, 1: worse, 2: not comparable.
int ExitCodeOf(const Comparison& comparison);

// For a terminal, one line each with a line feed; at most `most` cases of a kind.
std::string CompareText(const Comparison& comparison, size_t most);
// For a merge request or a step summary.
std::string CompareMarkdown(const Comparison& comparison, size_t most);
// "cudnn-ci/compare/1" (schemas/compare.schema.json); whole.
std::string CompareJson(const Comparison& comparison);

// For the summary, as (label, value); the first label is "since".
std::vector<std::pair<std::string, std::string>> CompareLines(const Comparison& comparison,
                                                              const RunView& before, size_t most);

// What the summary asks for once the run has ended: CompareLines of it and `before`; null for null.
std::function<std::vector<std::pair<std::string, std::string>>(const Summary&)> ChangesSince(
    std::shared_ptr<const RunView> before);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REVIEW_COMPARE_H_
