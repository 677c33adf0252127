// What a run says of itself in a line or two: verdict, what was tested, a fact. Every report uses these
// words.
#ifndef CUDNN_CI_REPORT_TEXT_RUN_TEXT_H_
#define CUDNN_CI_REPORT_TEXT_RUN_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "model/verdict/verdict.h"

namespace cudnn_ci {

// "FAILED: the image is at fault"; of a pass what it stands on: "PASSED: every required case passed" only
// when every one did.
std::string Headline(const Summary& summary, const Verdict& verdict);

// "verdict: failed (exit 1)", with ", partial: ..." and ", NOT GATING (...)" where they hold.
std::string VerdictLine(const Summary& summary, const Verdict& verdict);

// Who has to act on the root cause: "the owner of the image". A verdict that passed has no such text.
const char* OwnerOf(const Verdict& verdict);

// What the verdict is about, as (label, value): image, subjects, toolkit, gpu, driver, matrix.
std::vector<std::pair<std::string, std::string>> Judged(const Summary& summary);

// The fact of that key of a subject, or (`subject` empty) of the first that has it, by name. "" when there is
// none.
std::string FindFact(const Summary& summary, const std::string& subject, const std::string& key);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_RUN_TEXT_H_
