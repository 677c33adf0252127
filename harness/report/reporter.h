// A reporter turns the record of a run into something people or machines read. It sees events and the
// fold over them, never processes.
#ifndef CUDNN_CI_REPORT_REPORTER_H_
#define CUDNN_CI_REPORT_REPORTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/summary.h"

namespace cudnn_ci {

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual const char* name() const = 0;  // "junit", for messages
  // Called for each event in order; `summary` already holds it.
  virtual Status OnEvent(const Event& event, const Summary& summary) = 0;
  // Called when time passes without an event, at least once a second. now_ms as in Event::t_ms.
  virtual Status OnTick(int64_t now_ms, const Summary& summary) {
    (void)now_ms;
    (void)summary;
    return {};
  }
  // After the last event. The verdict is final but for reports that fail from here on.
  virtual Status Finish(const Summary& summary) = 0;
};

// Hands each event to every reporter. One that fails is told no more and does not silence the others; its
// error is kept.
class Fanout {
 public:
  void Add(std::unique_ptr<Reporter> reporter);
  void OnEvent(const Event& event);
  void OnTick(int64_t now_ms);
  void Finish();
  const Summary& summary() const { return fold_.summary(); }
  // "junit: cannot write ...: No space left on device", one per reporter that failed.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Slot {
    std::unique_ptr<Reporter> reporter;
    bool failed = false;
  };
  void Note(Slot* slot, const Status& status);
  Fold fold_;
  std::vector<Slot> slots_;
  std::vector<std::string> failures_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_REPORTER_H_
