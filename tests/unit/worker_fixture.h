// A case worker whose process is made of the test's own words.
#ifndef CUDNN_CI_TESTS_WORKER_FIXTURE_H_
#define CUDNN_CI_TESTS_WORKER_FIXTURE_H_

#include <gmock/gmock.h>
#include <signal.h>

#include "exec/workers/case_worker.h"

namespace cudnn_ci {

inline constexpr int64_t kSecond = 1'000'000'000;

class WorkerTest : public testing::Test {
 protected:
  void Start(bool shared) {
    WorkerLimits limits;
    limits.grace_s = 2;
    limits.abandon_s = 10;
    limits.exit_s = 10;
    limits.output_bytes = 1000;
    Start(shared, limits);
  }
  void Start(bool shared, const WorkerLimits& limits) {
    worker_.emplace(shared, limits, [this](const std::string& slug) {
      return slug == declared_.slug ? &declared_ : nullptr;
    });
    worker_->OnStarted(
        1, [] { return std::string("evidence"); }, 0);
    effects_.clear();
  }
  void Assign(size_t index, double timeout_s = 60) {
    Assignment a;
    a.case_index = index;
    a.ref.id = "case" + std::to_string(index);
    a.run.serial = static_cast<int64_t>(index) + 1;
    a.timeout_s = timeout_s;
    a.mode = worker_->shared() ? AttemptMode::kShared : AttemptMode::kAlone;
    worker_->Assign(a, 0, &effects_);
  }
  void Say(const wire::FromWorker& m, int64_t now = 0) { worker_->OnPacket(wire::Encode(m), now, &effects_); }
  void Pass(int64_t serial, int64_t now = 0) {
    Say(wire::CaseStarted{serial}, now);
    wire::CaseFinished f;
    f.serial = serial;
    f.evaluated = 1;
    Say(f, now);
  }
  void Tick(int64_t now) { worker_->OnTick(now, &effects_); }
  void Exit(bool signaled, int code, int64_t now = 0) {
    worker_->OnExit({signaled, code, false}, false, now, &effects_);
  }
  template <class T>
  std::vector<T> All() const {
    std::vector<T> out;
    for (const Effect& e : effects_)
      if (const T* t = std::get_if<T>(&e)) out.push_back(*t);
    return out;
  }
  // The serials of the runs that were sent.
  std::vector<int64_t> Runs() const {
    std::vector<int64_t> out;
    for (const SendPacket& sent : All<SendPacket>()) {
      const Result<wire::ToWorker> message = wire::DecodeToWorker(sent.packet);
      if (message.ok())
        if (const auto* run = std::get_if<wire::Run>(&*message)) out.push_back(run->serial);
    }
    return out;
  }
  AttemptResult Only() const {
    const auto ended = All<AttemptEnded>();
    EXPECT_EQ(ended.size(), 1u);
    return ended.empty() ? AttemptResult{} : ended[0].result;
  }
  Errored Error() const {
    const auto* e = std::get_if<Errored>(&static_cast<const Outcome&>(outcome_ = Only().outcome));
    EXPECT_NE(e, nullptr);
    return e ? *e : Errored{};
  }
  std::vector<int> Signals() const {
    std::vector<int> out;
    for (const SendSignal& s : All<SendSignal>()) out.push_back(s.signal);
    return out;
  }
  std::vector<Finding> Findings() const {
    std::vector<Finding> out;
    for (const EmitEvent& e : All<EmitEvent>())
      if (const auto* f = std::get_if<FindingReported>(&e.body)) out.push_back(f->finding);
    return out;
  }
  template <class E>
  size_t Events() const {
    size_t n = 0;
    for (const EmitEvent& e : All<EmitEvent>()) n += std::holds_alternative<E>(e.body) ? 1 : 0;
    return n;
  }
  FindingInfo declared_{"declared", Severity::kError, Blame::kImage, "s", "r", "", "p"};
  std::optional<CaseWorker> worker_;
  std::vector<Effect> effects_;
  mutable Outcome outcome_;
};

}  // namespace cudnn_ci

#endif
