// A reporter turns the record of a run into something people or machines read. It sees events and the
// fold over them, never processes.
#ifndef CUDNN_CI_REPORT_RECORD_REPORTER_H_
#define CUDNN_CI_REPORT_RECORD_REPORTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/record/event.h"
#include "model/verdict/summary.h"

namespace cudnn_ci {

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual const char* name() const = 0;  // "junit", for messages
  // Before the first event of a run that begins, not of one that is rebuilt: what lies at the path until the
  // end.
  virtual Status Open() { return {}; }
  // Called for each event in order; `summary` already holds it.
  virtual Status OnEvent(const Event& event, const Summary& summary) = 0;
  // An event of a record that is gone through again, in order; Finish follows.
  virtual void Replay(const Event& event) { (void)event; }
  // Called when time passes without an event, at least once a second. now_ms as in Event::t_ms.
  virtual Status OnTick(int64_t now_ms, const Summary& summary) {
    (void)now_ms;
    (void)summary;
    return {};
  }
  // After the last event: publishes the verdict. Called again when another report fails afterwards, which the
  // summary then says. The verdict is final but for that.
  virtual Status Finish(const Summary& summary) = 0;
  // What Finish has published is not true any more and could not be written again: removes it, or makes it
  // red.
  virtual void Withdraw() {}
};

// Hands each event to every reporter. One that fails is told no more and does not silence the others; its
// failure becomes an event (`report-not-written`), so that the record holds it and no report is green beside
// it.
class Fanout {
 public:
  Fanout() = default;
  // Continues an existing record, whose last event is given: for Finish alone.
  explicit Fanout(Fold fold, int64_t seq = 0, int64_t t_ms = 0)
      : fold_(std::move(fold)), seq_(seq), t_ms_(t_ms) {}
  void Add(std::unique_ptr<Reporter> reporter);
  // Numbers the event. t_ms as in Event.
  void Emit(int64_t t_ms, EventBody body);
  void OnTick(int64_t now_ms);
  // Hands an event of the record it goes on from to every reporter.
  void Replay(const Event& event);
  // Finishes every reporter, and again those that had finished before one failed.
  void Finish();
  const Summary& summary() const { return fold_.summary(); }
  // "junit: cannot write ...: No space left on device", one per reporter that failed.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Slot {
    std::unique_ptr<Reporter> reporter;
    bool failed = false;
    bool finished = false;
    size_t failures_known = 0;  // when it finished
  };
  void Deliver(EventBody body);
  void RecordFailures();
  void Note(Slot* slot, const Status& status);
  Fold fold_;
  std::vector<Slot> slots_;
  std::vector<std::string> failures_;
  size_t recorded_ = 0;  // of failures_
  int64_t seq_ = 0, t_ms_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_REPORTER_H_
