// The console: what a person sees while the run goes on, and the last screen. On a terminal one line that is
// rewritten; in a log one line per finished case in GoogleTest's flavour.
#ifndef CUDNN_CI_REPORT_CONSOLE_H_
#define CUDNN_CI_REPORT_CONSOLE_H_

#include <cstdint>
#include <map>
#include <string>

#include "report/last_screen.h"
#include "report/reporter.h"

namespace cudnn_ci {

struct ConsoleOptions {
  bool terminal = false;  // one progress line, rewritten in place
  bool color = false;
  size_t width = 110;             // columns of the terminal
  int64_t compact_above = 1000;   // planned cases from which a log leaves out passed ones
  int64_t heartbeat_ms = 15'000;  // silence after which a log says what is running
  LastScreenOptions screen;       // color and width are taken from above
};

// What the descriptor is; no colour when NO_COLOR is set and not empty, or TERM is "dumb".
ConsoleOptions DetectConsole(int fd);

class ConsoleReporter : public Reporter {
 public:
  // The descriptor stays the caller's. SIGPIPE must be ignored: a closed pipe is an error, not a death.
  ConsoleReporter(int fd, ConsoleOptions options);
  const char* name() const override { return "console"; }
  Status OnEvent(const Event& event, const Summary& summary) override;
  Status OnTick(int64_t now_ms, const Summary& summary) override;
  Status Finish(const Summary& summary) override;

 private:
  struct Running {
    int64_t since_ms = 0;
    std::string step;
  };
  void Note(const Event& event);  // who runs, how far we are
  std::string LinesOf(const Event& event, const Summary& summary);
  std::string OwnLinesOf(const Event& event, const Summary& summary);
  bool Gather(const Event& event, const Summary& summary);  // true: a blocked case, kept for TakeBlocked
  std::string TakeBlocked();
  std::string CaseLines(const CaseRecord& record, const Summary& summary);
  std::string ProgressLine(const Summary& summary) const;
  std::string RunningText(int64_t now_ms) const;
  std::string Heading(const Summary& summary) const;
  std::string Milestone(const Summary& summary);
  bool Compact(const Summary& summary) const;
  std::string Paint(const char* tag, const char* color) const;
  Status Print(const std::string& lines, const std::string& progress);

  int fd_;
  ConsoleOptions options_;
  std::map<CaseRef, Running> running_;
  std::map<std::string, int64_t> printed_;  // lines by tag, in a compact log
  int64_t done_ = 0, bad_ = 0;
  int64_t last_print_ms_ = 0, last_progress_ms_ = -1'000, last_milestone_ = 0;
  bool progress_shown_ = false;
  std::string blocked_by_;
  int64_t blocked_count_ = 0;
  std::map<std::string, int64_t> blocked_checks_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_CONSOLE_H_
