// The JUnit reporter: when and where documents are written. A valid file lies at the path from the first
// moment on, red until the run has ended.
#ifndef CUDNN_CI_REPORT_FORMATS_JUNIT_H_
#define CUDNN_CI_REPORT_FORMATS_JUNIT_H_

#include <string>

#include "report/formats/junit_document.h"
#include "report/record/reporter.h"

namespace cudnn_ci {

class JunitReporter : public Reporter {
 public:
  // `path` is the first file; the second of "junit.xml" is "junit-2.xml".
  JunitReporter(std::string path, JunitOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  const char* name() const override { return "junit"; }
  // One red case, and no further files of an earlier run.
  Status Open() override;
  // Rewrites at RunStarted and PlanEnd, then at most every 5 s and never for more than a tenth of the time.
  Status OnEvent(const Event& event, const Summary& summary) override;
  Status OnTick(int64_t now_ms, const Summary& summary) override;
  Status Finish(const Summary& summary) override;
  void Withdraw() override;

 private:
  Status Write(const Summary& summary, bool final);
  Status WriteIfDue(int64_t now_ms, const Summary& summary);
  Status RemoveFrom(size_t number);

  std::string path_;
  JunitOptions options_;
  int64_t next_write_ms_ = 0;
  size_t begun_ = 0;  // files of the last writing, the one that failed included
  bool dirty_ = false;
};

// "out/junit.xml", 3 -> "out/junit-3.xml"; the path itself for 1.
std::string JunitPath(const std::string& path, size_t number);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_JUNIT_H_
