// The fan-out: one fold, every reporter, and no failure of one that silences another.
#include <utility>

#include "report/reporter.h"

namespace cudnn_ci {

void Fanout::Add(std::unique_ptr<Reporter> reporter) { slots_.push_back({std::move(reporter), false}); }

void Fanout::Note(Slot* slot, const Status& status) {
  if (status.ok()) return;
  slot->failed = true;
  failures_.push_back(std::string(slot->reporter->name()) + ": " + status.error());
  // Reporters that finish later tell of the failure, and the exit code counts it.
  std::string& failure = fold_.mutable_summary()->report_failure;
  if (failure.empty()) failure = failures_.back();
}

void Fanout::OnEvent(const Event& event) {
  fold_.Apply(event);
  for (Slot& slot : slots_) {
    if (!slot.failed) Note(&slot, slot.reporter->OnEvent(event, fold_.summary()));
  }
}

void Fanout::OnTick(int64_t now_ms) {
  for (Slot& slot : slots_) {
    if (!slot.failed) Note(&slot, slot.reporter->OnTick(now_ms, fold_.summary()));
  }
}

void Fanout::Finish() {
  for (Slot& slot : slots_) {
    if (!slot.failed) Note(&slot, slot.reporter->Finish(fold_.summary()));
  }
}

}  // namespace cudnn_ci
