// Which warnings a verdict shows: few, each of another cause, those with the most to do first.
#ifndef CUDNN_CI_MODEL_VERDICT_WARNINGS_H_
#define CUDNN_CI_MODEL_VERDICT_WARNINGS_H_

#include <cstddef>
#include <vector>

#include "model/verdict/summary.h"

namespace cudnn_ci {

inline constexpr size_t kMostWarnings = 3;  // of a verdict, findings and notices together

// The warnings of one cause: findings of one name with one suggested command, or with none.
struct WarningCause {
  const Finding* finding = nullptr;     // the first
  const CaseRecord* record = nullptr;   // whose it is; null: it is about the run
  std::vector<const Finding*> further;  // in the order of the plan
};

// The causes of the summary's findings of severity warning, the most useful first: those that accuse the
// runner, as they may explain all else; those with a command to type; the rest. A second cause of one name
// comes after the first of every other. Among equals those of the lowest layer come first, then the order of
// the plan; those about the run are last. The pointers are into the summary.
std::vector<WarningCause> RankedWarnings(const Summary& summary);

// The first notice of each kind among the warnings of discovery and planning, as many as a verdict shows:
// they leave a place for a finding if there is one.
Notices ShownNotices(const Summary& summary);

// How many causes a verdict shows beside ShownNotices.
size_t PlacesForFindings(const Summary& summary);

// Makes notes of the findings of severity warning that the verdict does not show. The fold does it when the
// run has ended, so that every report says the same; the journal keeps what was reported.
void KeepMostUsefulWarnings(Summary* summary);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_VERDICT_WARNINGS_H_
