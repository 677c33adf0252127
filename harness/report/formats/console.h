// The console: what a person sees while the run goes on, and the summary. On a terminal one line that is
// rewritten; in a log one line per finished case in GoogleTest's flavour.
#ifndef CUDNN_CI_REPORT_FORMATS_CONSOLE_H_
#define CUDNN_CI_REPORT_FORMATS_CONSOLE_H_

#include <cstdint>
#include <map>
#include <string>

#include "report/formats/run_summary.h"
#include "report/record/reporter.h"

namespace cudnn_ci {

// Whether the console has colours; kAuto: as the environment and the descriptor say.
enum class Color { kAuto, kAlways, kNever };
// kQuiet: the summary alone. kVerbose: a line for every case, and of what failed all that is kept.
enum class Verbosity { kQuiet, kNormal, kVerbose };

struct ConsoleOptions {
  bool terminal = false;  // one progress line, rewritten in place
  bool color = false;
  size_t width = 110;             // columns of the terminal
  int64_t compact_above = 1000;   // planned cases from which a log leaves out passed ones
  int64_t heartbeat_ms = 15'000;  // silence after which a log says what is running
  Verbosity verbosity = Verbosity::kNormal;
  RunSummaryOptions screen;  // color and width are taken from above
};

// What the descriptor is. Colours, unless `color` says: none when NO_COLOR is set and not empty; else some
// when FORCE_COLOR is set and neither empty nor "0" nor "false"; else on a terminal, unless TERM is "dumb".
ConsoleOptions DetectConsole(int fd, Color color = Color::kAuto);

class ConsoleReporter : public Reporter {
 public:
  // The descriptor stays the caller's. SIGPIPE must be ignored: a closed pipe ends the output, not the run.
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
  // Who runs, how far we are.
  void Track(const AttemptStarted& e, int64_t t_ms) { running_[e.ref] = {t_ms, ""}; }
  void Track(const StepReached& e, int64_t t_ms);
  void Track(const AttemptFinished& e, int64_t) { running_.erase(e.ref); }
  void Track(const CaseFinished& e, int64_t t_ms);
  template <
      OneOf<RunStarted, WaiverDeclared, CasePlanned, PlanEnd, WorkerStarted, WorkerEnded, ExpectationFailed,
            FindingReported, Measured, Attached, CaseSlow, DeviceLost, RunCancelled, RunFinished>
          E>
  void Track(const E&, int64_t) {}

  std::string LinesOf(const Event& event, const Summary& summary);
  // What is printed of an event.
  std::string Lines(const RunStarted& e, const Summary& summary);
  std::string Lines(const PlanEnd& e, const Summary& summary);
  std::string Lines(const FindingReported& e, const Summary& summary);
  std::string Lines(const CaseFinished& e, const Summary& summary);
  std::string Lines(const DeviceLost& e, const Summary& summary);
  std::string Lines(const RunCancelled& e, const Summary& summary);
  // Shown with the case they belong to, in the summary, or in the reports only.
  template <OneOf<WaiverDeclared, CasePlanned, WorkerStarted, WorkerEnded, AttemptStarted, StepReached,
                  ExpectationFailed, Measured, Attached, CaseSlow, AttemptFinished, RunFinished>
                E>
  std::string Lines(const E&, const Summary&) {
    return "";
  }
  bool Gather(const Event& event, const Summary& summary);  // true: a blocked case, kept for TakeBlocked
  std::string TakeBlocked();
  std::string CaseLines(const CaseRecord& record, const Summary& summary);
  std::string ProgressLine(const Summary& summary) const;
  std::string RunningText(int64_t now_ms) const;
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
  bool progress_shown_ = false, closed_ = false;
  CaseRef blocked_by_;
  int64_t blocked_count_ = 0;
  std::map<std::string, int64_t> blocked_checks_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_CONSOLE_H_
