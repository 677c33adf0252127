// The summary at the end of a run: what a person reads first. A pure function, so that console, JUnit and a
// rebuilt report say the same.
#ifndef CUDNN_CI_REPORT_FORMATS_RUN_SUMMARY_H_
#define CUDNN_CI_REPORT_FORMATS_RUN_SUMMARY_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/verdict/verdict.h"

namespace cudnn_ci {

class Page;

struct RunSummaryOptions {
  std::vector<std::string> reports;  // where the reports are
  std::string attestation;  // which of them is the statement, which may be missing; empty: none was asked for
  bool color = false;       // SGR sequences around the verdict
  size_t width = 110;       // columns
  // What changed since an earlier run, as labels and lines; empty: there is none to compare with.
  std::function<std::vector<std::pair<std::string, std::string>>(const Summary&)> since = nullptr;
};

// Many lines, each with a line feed; the very last is VerdictLine.
std::string RunSummary(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& options);

// What stands between its first line and its last, on any page.
void PutRunSummary(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& options,
                   Page* page);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_RUN_SUMMARY_H_
