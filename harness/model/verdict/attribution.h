// Why a case did not pass: the findings that count against it, and what blocks it. Shared by the verdict
// and by every reporter, so that all of them name the same reason. Knows nothing of formats.
#ifndef CUDNN_CI_MODEL_VERDICT_ATTRIBUTION_H_
#define CUDNN_CI_MODEL_VERDICT_ATTRIBUTION_H_

#include <string>
#include <vector>

#include "model/verdict/summary.h"

namespace cudnn_ci {

// The id of the harness's finding for an error kind: "timed-out".
const char* SlugOf(ErrorKind kind);

// The findings of severity error; when the case did not pass and has none, the one the outcome stands
// for (crashed, skip-not-allowed, not-run, ...). Empty for a clean pass, an allowed skip and a blocked case.
std::vector<Finding> ErrorFindings(const CaseRecord& record);

// Whether a finding id is one of those that, where it decides a case, stands for all its errors.
bool IsDecisiveSlug(const std::string& slug);

// Whom an error accuses in a layer. What is the image's fault is the runner's in the driver's layer, below
// which there is nothing of the image. A crash is the fault of whoever owns the code it was in
// (model/record/crash.h); in the host's driver it is the runner's in the driver's layer, and undetermined
// above: arguments of the image's may have led there, and the device still computes, or it would be lost.
// If the owner of the code is unknown, it is undetermined above the driver's layer.
Blame BlameOf(const Errored& errored, Layer layer);

// The finding an outcome stands for by itself, with blame as above.
Finding FindingOfOutcome(const CaseRecord& record, const Outcome& outcome);

// The findings that the harness adds to a case that is about to end so, beside what was reported already:
// every case that did not pass carries one. The case's attempts must be in the record.
std::vector<Finding> ImpliedFindings(const CaseRecord& record, const Outcome& outcome);

// The first finding of severity error that the last attempt reported; null: none did.
const Finding* FirstErrorOfLastAttempt(const CaseRecord& record);

// A pass, or a skip the matrix allows for this case.
bool IsGood(const CasePlanned& plan, const Outcome& outcome);
// Whether the skip is of a kind the matrix entry allows.
bool IsAllowedSkip(const CaseRecord& record);

// Follows `by` from a blocked case to the first case that is not blocked itself; null when that case is not
// part of the plan (or the chain is a circle).
const CaseRecord* RootBlocker(const Summary& summary, const CaseRecord& record);

// The waiver that covers this finding of this case and has not expired on `today` ("2026-01-31"), or null.
const Waiver* FindWaiver(const Summary& summary, const CaseRecord& record, const Finding& finding,
                         const std::string& today);

// Whether the waiver's pattern names the case: by its id, or by the id with its device, "conv.*@gpu0", which
// is a waiver for that device alone.
bool NamesCase(const Waiver& waiver, const CaseRef& ref);

// Whether the waiver speaks of this finding of this case, expired or not.
bool Covers(const Waiver& waiver, const CaseRecord& record, const Finding& finding);

// What it accepts, as a matrix names it: "crashed", or "image.crashed" where it holds for that blame alone.
std::string FindingName(const Waiver& waiver);

// The day of the run in UTC, "2026-01-31": what waivers are measured against.
std::string DayOf(const Summary& summary);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_VERDICT_ATTRIBUTION_H_
