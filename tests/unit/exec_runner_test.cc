// The runner with a real worker and a process that will not die: through the seam that starts processes.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>

#include <filesystem>

#include "exec/process_posix.h"
#include "exec/runner.h"

namespace cudnn_ci {
namespace {

// As the kernel does for a process stuck in a driver: it takes signals and never ends.
class StuckProcesses : public PosixProcessControl {
 public:
  Result<pid_t> Spawn(const SpawnRequest& request) override {
    Result<pid_t> pid = PosixProcessControl::Spawn(request);
    if (pid.ok() && stuck_ == 0) stuck_ = *pid;
    return pid;
  }
  bool HasExited(pid_t pid) override { return pid != stuck_ && PosixProcessControl::HasExited(pid); }
  void Signal(pid_t pid, int signal) override {
    if (pid != stuck_) return PosixProcessControl::Signal(pid, signal);
    signals_.push_back(signal);
  }
  ~StuckProcesses() override {
    if (stuck_ == 0) return;
    PosixProcessControl::Signal(stuck_, SIGKILL);
    Reap(stuck_);
  }
  std::vector<int> signals_;

 private:
  pid_t stuck_ = 0;
};

Case MakeCase(const std::string& check, Params params) {
  Case c;
  c.planned.check = "fixture." + check;
  c.planned.ref.id = c.planned.check;
  c.planned.plugin = "fixture";
  c.planned.params = std::move(params);
  c.planned.timeout_s = 0.2;
  return c;
}

TEST(RunnerTest, AProcessThatSurvivesSigkillIsAbandonedAndTheRunGoesOnWithoutIt) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const Fd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  Plan plan;
  plan.cases = {MakeCase("hang", {{"ignore_term", false}}), MakeCase("pass", {{"i", int64_t{1}}})};
  plan.cases[1].planned.timeout_s = 60;
  Catalog catalog;
  catalog.plugins.emplace_back();
  catalog.plugins[0].name = "fixture";
  catalog.plugins[0].path = FIXTURE_PLUGIN;
  RunnerOptions options;
  options.worker_path = WORKER;
  options.scratch_dir = std::filesystem::temp_directory_path();
  options.limits.grace_s = 0.1;
  options.limits.abandon_s = 0.2;
  std::map<std::string, Outcome> outcomes;
  std::vector<std::string> ends;
  RunnerCallbacks callbacks;
  callbacks.emit = [&](const EventBody& body) {
    if (const auto* f = std::get_if<CaseFinished>(&body)) outcomes[f->ref.id] = f->outcome;
    if (const auto* e = std::get_if<WorkerEnded>(&body)) ends.push_back(e->how);
  };
  callbacks.tick = [] {};
  StuckProcesses control;
  Runner(plan, catalog, options, callbacks, &control).Run(signals.get());
  EXPECT_EQ(control.signals_, std::vector<int>({SIGTERM, SIGKILL}));
  const auto* errored = std::get_if<Errored>(&outcomes["fixture.hang"]);
  ASSERT_NE(errored, nullptr);
  EXPECT_EQ(errored->kind, ErrorKind::kAbandoned);
  EXPECT_THAT(ends, testing::Contains("abandoned"));
  EXPECT_TRUE(std::holds_alternative<Passed>(outcomes["fixture.pass"]));
}

}  // namespace
}  // namespace cudnn_ci
