// The fan-out: one fold, every reporter, and no failure of one that silences another.
#include <algorithm>
#include <utility>

#include "report/record/mask.h"
#include "report/record/reporter.h"

namespace cudnn_ci {

void Fanout::Add(std::unique_ptr<Reporter> reporter) {
  slots_.emplace_back();
  slots_.back().reporter = std::move(reporter);
}

void Fanout::Note(Slot* slot, const Status& status) {
  if (status.ok()) return;
  slot->failed = true;
  if (slot->finished) slot->reporter->Withdraw();
  failures_.push_back(std::string(slot->reporter->name()) + ": " + status.error());
}

void Fanout::Deliver(EventBody body) {
  Event event(++seq_, t_ms_, std::move(body));
  // Before any reporter gets it: reports are public. Of clean text, in which nothing hides between letters.
  MaskSecrets(Secrets::OfThisProcess(), &event.body);
  fold_.Apply(event);
  for (Slot& slot : slots_) {
    if (!slot.failed) Note(&slot, slot.reporter->OnEvent(event, fold_.summary()));
  }
}

void Fanout::Replay(const Event& event) {
  for (Slot& slot : slots_) slot.reporter->Replay(event);
}

// Ends: every round but the last loses a reporter.
void Fanout::RecordFailures() {
  while (recorded_ < failures_.size()) {
    Deliver(FindingReported{{}, HarnessFinding("report-not-written", failures_[recorded_++])});
  }
}

void Fanout::Emit(int64_t t_ms, EventBody body) {
  t_ms_ = t_ms;
  Deliver(std::move(body));
  RecordFailures();
}

void Fanout::OnTick(int64_t now_ms) {
  for (Slot& slot : slots_) {
    if (!slot.failed) Note(&slot, slot.reporter->OnTick(now_ms, fold_.summary()));
  }
  t_ms_ = std::max(t_ms_, now_ms);
  RecordFailures();
}

void Fanout::Finish() {
  const auto is_due = [this](const Slot& slot) {
    return !slot.failed && (!slot.finished || slot.failures_known < failures_.size());
  };
  for (auto slot = slots_.begin(); slot != slots_.end();) {
    if (!is_due(*slot)) {
      ++slot;
      continue;
    }
    const size_t known = failures_.size();
    Note(&*slot, slot->reporter->Finish(fold_.summary()));
    slot->finished = true;
    slot->failures_known = known;
    RecordFailures();
    // From the start: what was green a moment ago may stand beside a failure now.
    slot = slots_.begin();
  }
}

}  // namespace cudnn_ci
