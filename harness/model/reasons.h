// Why a case did not pass: the findings that count against it, and what blocks it. Shared by the verdict
// and by every reporter, so that all of them name the same reason. Knows nothing of formats.
#ifndef CUDNN_CI_MODEL_REASONS_H_
#define CUDNN_CI_MODEL_REASONS_H_

#include <string>
#include <vector>

#include "model/summary.h"

namespace cudnn_ci {

// The slug of the harness's finding for an error kind: "timed-out".
const char* SlugOf(ErrorKind kind);

// The findings of severity error; when the case did not pass and has none, the one the outcome stands
// for (crashed, skip-not-allowed, not-run, ...). Empty for a clean pass, an allowed skip and a blocked case.
std::vector<Finding> ErrorFindings(const CaseRecord& record);

// The finding an outcome stands for by itself, with blame by the layer: a failed expectation, a crash and a
// timeout are the image's fault, in the driver's layer the runner's.
Finding FindingOfOutcome(const CaseRecord& record);

// Whether the skip is of a kind the matrix entry allows.
bool IsAllowedSkip(const CaseRecord& record);

// Follows `by` from a blocked case to the first case that is not blocked itself; null when that case is not
// part of the plan (or the chain is a circle).
const CaseRecord* RootBlocker(const Summary& summary, const CaseRecord& record);

// The waiver that covers this finding of this case and has not expired on `today` ("2026-01-31"), or null.
const Waiver* FindWaiver(const Summary& summary, const CaseRecord& record, const Finding& finding,
                         const std::string& today);

// Whether the waiver speaks of this finding of this case, expired or not.
bool Covers(const Waiver& waiver, const CaseRecord& record, const Finding& finding);

// The day of the run in UTC, "2026-01-31": what waivers are measured against.
std::string DayOf(const Summary& summary);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_REASONS_H_
