// report.html: one file without network for whoever has to find out. On top, without a script, the stack as a
// chain and the summary; below it, drawn and filtered by the page's own script, a map of the
// cases by parameters, the workers over time, and every case with its findings, steps and output.
#ifndef CUDNN_CI_REPORT_FORMATS_HTML_H_
#define CUDNN_CI_REPORT_FORMATS_HTML_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/formats/run_summary.h"
#include "report/record/reporter.h"

namespace cudnn_ci {

// An attempt of a case in a worker, for the timeline.
struct WorkerSpan {
  int64_t worker = 0;
  int64_t from_ms = 0, to_ms = 0;  // as in Event::t_ms
  std::string id;                  // of the case, as people name it
  std::string outcome;
};

// Writes the report to `path`, by rename. Of output and evidence 16 MiB are kept in all; the whole is in
// report.json.
Status WriteHtmlReport(const Summary& summary, const std::vector<WorkerSpan>& spans,
                       const RunSummaryOptions& screen, const std::string& path);

class HtmlReporter : public Reporter {
 public:
  HtmlReporter(std::string path, RunSummaryOptions screen)
      : path_(std::move(path)), screen_(std::move(screen)) {}
  const char* name() const override { return "html"; }
  Status OnEvent(const Event& event, const Summary&) override {
    Replay(event);
    return {};
  }
  void Replay(const Event& event) override;
  Status Finish(const Summary& summary) override { return WriteHtmlReport(summary, spans_, screen_, path_); }
  void Withdraw() override;

 private:
  std::string path_;
  RunSummaryOptions screen_;
  std::vector<WorkerSpan> spans_;  // at most kMaxSpans: more could not be seen
  std::map<CaseRef, int64_t> since_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_HTML_H_
