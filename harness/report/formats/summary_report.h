// The summary of a run in Markdown, for a merge request or the summary of a pipeline's step.
#ifndef CUDNN_CI_REPORT_FORMATS_SUMMARY_REPORT_H_
#define CUDNN_CI_REPORT_FORMATS_SUMMARY_REPORT_H_

#include <string>
#include <string_view>
#include <utility>

#include "report/formats/run_summary.h"
#include "report/record/reporter.h"

namespace cudnn_ci {

// The summary of a run as a list. Texts of a run stand as code, where they can neither link nor
// mention. Bounded as run_summary.h is.
std::string SummaryMarkdown(const Summary& summary, const Verdict& verdict, const RunSummaryOptions& options);

// Written once, at the end.
class SummaryReporter : public Reporter {
 public:
  SummaryReporter(std::string path, RunSummaryOptions screen)
      : path_(std::move(path)), screen_(std::move(screen)) {}
  const char* name() const override { return "summary"; }
  Status OnEvent(const Event&, const Summary&) override { return {}; }
  Status Finish(const Summary& summary) override;
  void Withdraw() override;

 private:
  const std::string path_;
  const RunSummaryOptions screen_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_SUMMARY_REPORT_H_
