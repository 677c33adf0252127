// What a reader of report.html sees without scripts: verdict, when and where, a bar of counts, the stack as a
// chain, the root cause with its commands, what was tested, and what each finding of the run means.
#ifndef CUDNN_CI_REPORT_FORMATS_HTML_TOP_H_
#define CUDNN_CI_REPORT_FORMATS_HTML_TOP_H_

#include <string>

#include "report/formats/run_summary.h"

namespace cudnn_ci {

// The outcome as the page shows it: "waived", "failed" for a pass with an error, else its name.
std::string ShownOutcome(const CaseRecord& record);

// From the verdict to the summary.
std::string HtmlTop(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& screen);

// What the findings of the run mean, each name once: an anchor for the names elsewhere in the page. "" when
// nothing was found.
std::string FindingsHtml(const Summary& summary);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_HTML_TOP_H_
