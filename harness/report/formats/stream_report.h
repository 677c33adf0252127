// A report that goes to a descriptor instead of a file: `--junit -`.
#ifndef CUDNN_CI_REPORT_FORMATS_STREAM_REPORT_H_
#define CUDNN_CI_REPORT_FORMATS_STREAM_REPORT_H_

#include <memory>
#include <string>

#include "report/record/reporter.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci {

// Copies what `inner` has published in `file` to `fd` once, when the run has ended: what was handed out
// cannot be taken back. Nothing in it is a command to the pipeline whose log this may be: such text is
// spelled as the format can (pipeline_commands.h). It belongs behind every other
// reporter, so that what it prints knows of their failures. The descriptor stays the caller's; one that
// cannot take everything is a report that could not be written, and -1, a closed one, is known before.
class StreamReporter : public Reporter {
 public:
  StreamReporter(std::unique_ptr<Reporter> inner, std::string file, const CommandSpelling& spelling, int fd);
  const char* name() const override { return inner_->name(); }
  Status OnEvent(const Event& event, const Summary& summary) override;
  void Replay(const Event& event) override { inner_->Replay(event); }
  Status Finish(const Summary& summary) override;

 private:
  Status Copy();
  const std::unique_ptr<Reporter> inner_;
  const std::string file_;
  const CommandSpelling spelling_;
  const int fd_;
  bool written_ = false;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_STREAM_REPORT_H_
