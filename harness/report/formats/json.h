// report.json ("schema": "cudnn-ci/report/1"): verdict, what was tested, every case. For machines: keys are
// ordered, additions break no reader, `exit_code` is the verdict's own (before --report-only).
#ifndef CUDNN_CI_REPORT_FORMATS_JSON_H_
#define CUDNN_CI_REPORT_FORMATS_JSON_H_

#include <string>

#include "report/record/reporter.h"

namespace cudnn_ci {

class JsonText;

// The cases by outcome, as the object "KEY".
void PutTotals(JsonText* out, const char* key, const Totals& totals);

// Writes the report to `path`, by rename. Memory: about 1 MiB however many cases there are.
Status WriteJsonReport(const Summary& summary, const std::string& path);

class JsonReporter : public Reporter {
 public:
  explicit JsonReporter(std::string path) : path_(std::move(path)) {}
  const char* name() const override { return "json"; }
  Status OnEvent(const Event&, const Summary&) override { return {}; }
  Status Finish(const Summary& summary) override { return WriteJsonReport(summary, path_); }
  void Withdraw() override;

 private:
  std::string path_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_JSON_H_
