// The runner with a real worker and a process that will not die: through the seam that starts processes.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <filesystem>

#include "base/memory_room.h"
#include "exec/plugins/discover.h"
#include "exec/schedule/gpu_state.h"
#include "exec/schedule/runner.h"
#include "exec/system/plugin_file.h"
#include "exec/system/process_posix.h"
#include "scratch.h"

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
    signals.push_back(signal);
  }
  ~StuckProcesses() override {
    if (stuck_ == 0) return;
    PosixProcessControl::Signal(stuck_, SIGKILL);
    Reap(stuck_);
  }
  std::vector<int> signals;

 private:
  pid_t stuck_ = 0;
};

// Which processes were started with the driver's cache off.
class Environments : public PosixProcessControl {
 public:
  Result<pid_t> Spawn(const SpawnRequest& request) override {
    cacheless.push_back(std::count(request.env.begin(), request.env.end(), "CUDA_CACHE_DISABLE=1") == 1);
    return PosixProcessControl::Spawn(request);
  }
  std::vector<bool> cacheless;
};

// As when no process, or no descriptor, is left.
class NoProcesses : public PosixProcessControl {
 public:
  Result<pid_t> Spawn(const SpawnRequest&) override { return Error{"Resource temporarily unavailable"}; }
};

Case MakeCase(const std::string& check, Params params, double timeout_s = 60) {
  Case c;
  c.planned.check = "fixture." + check;
  c.planned.ref.id = c.planned.check;
  c.planned.plugin = "fixture";
  c.planned.params = std::move(params);
  c.planned.timeout_s = timeout_s;
  return c;
}

// A catalog of the fixture plugin, a plan, and the record of its run.
class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    UsePlugin(std::filesystem::path(FIXTURE_PLUGIN).parent_path());
    options_.worker_path = WORKER;
    options_.scratch_dir = scratch_.path();
    options_.limits.grace_s = 0.1;
    options_.limits.abandon_s = 0.2;
    options_.co_scheduled_host_bytes = 0;  // whatever this machine has
  }
  void UsePlugin(const std::string& folder) {
    const std::vector<PluginFile> files = FindPluginFiles({folder});
    ASSERT_EQ(files.size(), 1u);
    catalog_.plugins.resize(1);
    catalog_.plugins[0].name = "fixture";
    catalog_.plugins[0].path = files[0].path;
    catalog_.plugins[0].file = files[0].identity;
  }
  void Run(ProcessControl* control) {
    RunnerCallbacks callbacks;
    callbacks.emit = [&](const EventBody& body) {
      fold_.Apply({++seq_, 0, body});
      if (const auto* e = std::get_if<WorkerEnded>(&body)) ends_.push_back(e->how);
      if (const auto* e = std::get_if<WorkerStarted>(&body)) {
        started_.push_back(e->device);
        order_.push_back("start");
        story_ += '+';
      }
      if (std::holds_alternative<WorkerEnded>(body)) story_ += '-';
      if (const auto* e = std::get_if<AttemptFinished>(&body)) order_.push_back(e->ref.id.substr(8));
    };
    callbacks.tick = [] {};
    for (const Case& c : plan_.cases) callbacks.emit(c.planned);
    Runner(plan_, catalog_, options_, fold_.summary(), callbacks, control, signals_.get()).Run();
  }
  const Outcome& OutcomeOf(const std::string& check) const {
    return fold_.summary().Find({"fixture." + check, ""})->outcome;
  }
  ErrorKind ErrorOf(const std::string& check) const { return std::get<Errored>(OutcomeOf(check)).kind; }
  Discovery DiscoverWith(ProcessControl* control) {
    DiscoverOptions d;
    d.worker_path = WORKER;
    d.scratch_dir = scratch_.path();
    d.directories = {std::filesystem::path(FIXTURE_PLUGIN).parent_path()};
    d.subjects = {{"system", "loader"}};
    d.load_timeout_s = 0.2;
    d.limits = options_.limits;
    d.limits.exit_s = 0.3;
    int interrupted = 0;
    return Discover(d, control, signals_.get(), &interrupted);
  }

  Scratch scratch_;
  Fd signals_;
  Plan plan_;
  Catalog catalog_;
  RunnerOptions options_;
  Fold fold_;
  int64_t seq_ = 0;
  std::vector<std::string> ends_, started_;  // how workers ended; on which devices they were started
  std::string story_;                        // '+' for each worker that starts, '-' for each that ends
  std::vector<std::string> order_;           // "start" of a worker, and the names of the checks that ended
};

TEST_F(RunnerTest, AProcessThatSurvivesSigkillIsAbandonedAndTheRunGoesOnWithoutIt) {
  plan_.cases = {MakeCase("hang", {{"ignore_term", false}}, 0.2), MakeCase("pass", {{"i", int64_t{1}}})};
  StuckProcesses control;
  Run(&control);
  EXPECT_EQ(control.signals, std::vector<int>({SIGTERM, SIGKILL}));
  EXPECT_EQ(ErrorOf("hang"), ErrorKind::kAbandoned);
  EXPECT_THAT(ends_, testing::Contains("abandoned"));
  EXPECT_TRUE(std::holds_alternative<Passed>(OutcomeOf("pass")));
}

TEST_F(RunnerTest, AnAbandonedCheckOfAllDevicesLosesThemAllAndTheRunEnds) {
  options_.devices = {{"gpu0", "", "", ""}, {"gpu1", "", "", ""}};
  plan_.cases = {MakeCase("hang", {{"ignore_term", false}}, 0.2), MakeCase("pass", {{"i", int64_t{1}}}),
                 MakeCase("noop", {{"i", int64_t{1}}})};
  plan_.cases[0].devices = Devices::kAll;
  plan_.cases[1].devices = Devices::kAll;
  StuckProcesses control;
  Run(&control);
  EXPECT_EQ(fold_.summary().devices_lost.size(), 2u);
  EXPECT_EQ(ErrorOf("hang"), ErrorKind::kAbandoned);
  EXPECT_EQ(ErrorOf("pass"), ErrorKind::kDeviceLost);
  EXPECT_TRUE(std::holds_alternative<Passed>(OutcomeOf("noop")));
}

TEST_F(RunnerTest, APluginThatIsNotTheFileThatWasDescribedIsNotRun) {
  std::filesystem::create_directory(scratch_.File("plugins"));
  const std::string copy = scratch_.File("plugins/fixture.cci.so");
  std::filesystem::copy_file(FIXTURE_PLUGIN, copy);
  UsePlugin(scratch_.File("plugins"));
  EXPECT_EQ(catalog_.plugins[0].file.sha256.size(), 64u);
  // As an upgrade would, with the same content.
  std::filesystem::copy_file(FIXTURE_PLUGIN, copy + ".new");
  std::filesystem::rename(copy + ".new", copy);
  plan_.cases = {MakeCase("pass", {{"i", int64_t{1}}}), MakeCase("noop", {{"i", int64_t{1}}})};
  plan_.cases[1].shareable = true;
  PosixProcessControl control;
  Run(&control);
  EXPECT_EQ(ErrorOf("pass"), ErrorKind::kPluginLoad);
  EXPECT_EQ(ErrorOf("noop"), ErrorKind::kPluginLoad);
  EXPECT_TRUE(ends_.empty());
}

TEST_F(RunnerTest, WithoutAProcessTheRunEndsAndSaysSo) {
  plan_.cases = {MakeCase("pass", {{"i", int64_t{1}}})};
  NoProcesses control;
  Run(&control);
  ASSERT_EQ(fold_.summary().run_findings.size(), 1u);
  EXPECT_EQ(fold_.summary().run_findings[0].slug, "worker-not-started");
}

TEST_F(RunnerTest, StraysAreSweptWhileTheRunGoesOn) {
  plan_.cases = {MakeCase("leave", {{"what", std::string("daemon")}, {"pass", true}, {"i", int64_t{0}}}),
                 MakeCase("slow", {{"ms", int64_t{300}}, {"i", int64_t{0}}})};
  plan_.cases[1].prerequisites = {0};
  class Watching : public PosixProcessControl {
   public:
    bool SweepStrays(const std::set<pid_t>& keep) override {
      const bool found = PosixProcessControl::SweepStrays(keep);
      if (found && !keep.empty()) ++during;  // while workers live
      return found;
    }
    int during = 0;
  } control;
  Run(&control);
  EXPECT_TRUE(std::holds_alternative<Passed>(OutcomeOf("slow")));
  EXPECT_GT(control.during, 0);
}

TEST_F(RunnerTest, AWarmWorkerIsPrewarmedOnlyWhereThatCannotChangeAVerdict) {
  const auto first_device = [&](FactMap facts) {
    fold_ = {};
    started_.clear();
    if (!facts.empty()) facts["gpu.count"] = "1";
    options_.facts.by_subject["system"] = facts;
    options_.devices = {{"gpu0", "GPU-0", "", ""}};
    options_.jobs = 3;
    plan_.cases = {MakeCase("pass", {{"i", int64_t{1}}}), MakeCase("noop", {{"i", int64_t{1}}})};
    plan_.cases[1].planned.ref.device = "gpu0";
    plan_.cases[1].devices = Devices::kOne;
    plan_.cases[1].shareable = true;
    plan_.cases[1].prerequisites = {0};
    PosixProcessControl control;
    Run(&control);
    EXPECT_EQ(started_.size(), 2u);
    return started_.front();
  };
  EXPECT_EQ(first_device({}), "gpu0");
  EXPECT_EQ(first_device({{"gpu.0.compute_mode", "default"}, {"gpu.0.memory_free_bytes", "9000000000"}}),
            "gpu0");
  EXPECT_EQ(first_device({{"gpu.0.compute_mode", "exclusive_process"}}), "");
  EXPECT_EQ(first_device({{"gpu.0.memory_free_bytes", "4294967296"}}), "gpu0");
  EXPECT_EQ(first_device({{"gpu.0.memory_free_bytes", "4294967295"}}), "");
}

// A case on the GPU. One of the framework layer works in a child of its own.
Case OnGpu(Case c, Layer layer, std::vector<size_t> prerequisites = {}) {
  c.planned.ref.device = "gpu0";
  c.planned.layer = layer;
  c.devices = Devices::kOne;
  c.shareable = true;
  c.prerequisites = std::move(prerequisites);
  return c;
}

// Where the first warm worker has little to do, the next one makes its context meanwhile.
TEST_F(RunnerTest, BehindAShortQueueTheNextWarmWorkerIsPrewarmedToo) {
  const auto story = [&](int64_t cases) {
    story_.clear();
    options_.devices = {{"gpu0", "GPU-0", "", ""}};
    options_.jobs = 4;
    plan_.cases = {MakeCase("slow", {{"ms", int64_t{200}}, {"i", int64_t{0}}})};
    for (int64_t i = 0; i < cases; ++i)
      plan_.cases.push_back(OnGpu(MakeCase("slow", {{"ms", int64_t{100}}, {"i", i}}), Layer::kToolkit, {0}));
    for (size_t i = 1; i < plan_.cases.size(); ++i) plan_.cases[i].planned.ref.id += std::to_string(i);
    Case other = OnGpu(MakeCase("noop", {{"i", int64_t{1}}}), Layer::kConvolution, {1});
    other.planned.subject = "another";  // a stream of its own
    plan_.cases.push_back(other);
    PosixProcessControl control;
    Run(&control);
    return story_;
  };
  // The early one, the first case; then the next early one before the first stream has ended.
  EXPECT_EQ(story(2), "++-+--");
  EXPECT_EQ(story(5), "++--+-");
}

TEST_F(RunnerTest, WhatWorksInAChildRunsBesideAWarmWorkerWhereThereIsRoomForBoth) {
  const auto story = [&](const std::string& free_bytes, Layer layer) {
    story_.clear();
    options_.devices = {{"gpu0", "", "", ""}};
    options_.facts.by_subject["system"] = {{"gpu.count", "1"}, {"gpu.0.memory_free_bytes", free_bytes}};
    if (free_bytes.empty()) options_.facts.by_subject["system"].erase("gpu.0.memory_free_bytes");
    options_.jobs = 3;
    plan_.cases = {OnGpu(MakeCase("slow", {{"ms", int64_t{400}}, {"i", int64_t{0}}}), Layer::kConvolution),
                   OnGpu(MakeCase("noop", {{"i", int64_t{1}}}), layer)};
    plan_.cases[1].planned.subject = "another";
    PosixProcessControl control;
    Run(&control);
    return story_;
  };
  EXPECT_EQ(story("34359738368", Layer::kFramework), "++--");
  EXPECT_EQ(story("34359738367", Layer::kFramework), "+-+-") << "too little memory for two";
  EXPECT_EQ(story("", Layer::kFramework), "+-+-") << "nobody knows how much there is";
  EXPECT_EQ(story("34359738368", Layer::kOther), "+-+-") << "it uses the device itself";
  options_.co_scheduled_host_bytes = int64_t{1} << 60;
  EXPECT_EQ(story("34359738368", Layer::kFramework), "+-+-") << "too little memory of the host";
}

// By default, and no more of them although there are more cases, jobs, and room.
TEST_F(RunnerTest, FourCasesWithAProcessEachShareALargeGpu) {
  options_.devices = {{"gpu0", "", "", ""}};
  options_.facts.by_subject["system"] = {{"gpu.count", "1"}, {"gpu.0.memory_free_bytes", "149250000000"}};
  options_.jobs = options_.processors = 16;
  for (int64_t i = 0; i < 6; ++i) {
    plan_.cases.push_back(MakeCase("pass", {{"i", i}}));
    plan_.cases.back().planned.ref = {"fixture." + std::to_string(i), "gpu0"};
    plan_.cases.back().devices = Devices::kOne;
    plan_.cases.back().concurrent = true;
  }
  PosixProcessControl control;
  Run(&control);
  EXPECT_EQ(fold_.summary().workers_per_gpu, 4);
  options_.co_scheduled_host_bytes = static_cast<int64_t>(static_cast<double>(MemoryRoom().Room()) / 2.5);
  fold_ = Fold();
  Run(&control);
  EXPECT_EQ(fold_.summary().workers_per_gpu, 1)
      << "too little memory of the host for two, and one for others";
}

// No second attempt can tell more of it: its GPU is gone.
TEST_F(RunnerTest, ACaseBesideOthersWhoseProcessSurvivesSigkillIsAbandonedToo) {
  options_.devices = {{"gpu0", "", "", ""}};
  options_.facts.by_subject["system"] = {{"gpu.count", "1"}, {"gpu.0.memory_free_bytes", "99999999999"}};
  options_.jobs = 4;
  options_.workers_per_gpu = 2;
  plan_.cases = {MakeCase("hang", {{"ignore_term", false}}, 0.2), MakeCase("hang", {}, 20)};
  plan_.cases[1].planned.ref.id = "fixture.other";
  for (Case& c : plan_.cases) {
    c.devices = Devices::kOne;
    c.planned.ref.device = "gpu0";
    c.concurrent = true;
  }
  StuckProcesses control;
  Run(&control);
  const auto error_of = [&](const std::string& id) {
    return std::get<Errored>(fold_.summary().Find({id, "gpu0"})->outcome).kind;
  };
  EXPECT_EQ(fold_.summary().workers_per_gpu, 2);
  EXPECT_EQ(fold_.summary().devices_lost.size(), 1u);
  EXPECT_EQ(error_of("fixture.hang"), ErrorKind::kAbandoned);
  EXPECT_EQ(error_of("fixture.other"), ErrorKind::kDeviceLost);
}

// A warm process that has nothing to do any more gives way to the next one of its kind.
TEST_F(RunnerTest, WhatRunsBesideOthersFollowsOneAnother) {
  options_.devices = {{"gpu0", "", "", ""}};
  options_.facts.by_subject["system"] = {{"gpu.count", "1"}, {"gpu.0.memory_free_bytes", "99999999999"}};
  options_.jobs = 3;
  for (const char* subject : {"a", "b"}) {
    plan_.cases.push_back(OnGpu(MakeCase("noop", {{"i", int64_t{1}}}), Layer::kFramework));
    plan_.cases.back().planned.subject = subject;
    plan_.cases.back().planned.ref.id += subject;
  }
  PosixProcessControl control;
  Run(&control);
  EXPECT_EQ(story_, "+-+-");
}

TEST_F(RunnerTest, WhatNobodyWaitsForLeavesASlotToWhatUsesADevice) {
  options_.devices = {{"gpu0", "GPU-0", "", ""}};
  options_.jobs = 2;
  for (const int64_t ms : {100, 300}) {
    plan_.cases.push_back(MakeCase("slow", {{"ms", ms}, {"i", int64_t{0}}}));
    plan_.cases.back().planned.ref.id += std::to_string(ms);
  }
  plan_.cases.push_back(OnGpu(MakeCase("noop", {{"i", int64_t{1}}}), Layer::kInit));
  for (Case& c : plan_.cases) c.shareable = false;
  PosixProcessControl control;
  Run(&control);
  EXPECT_THAT(order_, testing::ElementsAre("start", "start", "noop", "start", "slow100", "slow300"))
      << "the second one begins when no device is wanted any more";
}

// Both would read from a cold disk.
TEST_F(RunnerTest, WhatNobodyWaitsForBeginsBehindWhatOthersWaitFor) {
  options_.devices = {{"gpu0", "GPU-0", "", ""}};
  options_.jobs = 8;
  plan_.cases = {MakeCase("slow", {{"ms", int64_t{10}}, {"i", int64_t{0}}}),
                 MakeCase("noop", {{"i", int64_t{1}}}),
                 OnGpu(MakeCase("noop", {{"i", int64_t{2}}}), Layer::kInit)};
  plan_.cases[2].planned.ref.id += "2";
  plan_.cases[2].prerequisites = {1};
  for (Case& c : plan_.cases) c.shareable = false;
  PosixProcessControl control;
  Run(&control);
  ASSERT_GE(order_.size(), 3u);
  EXPECT_EQ(order_[1], "noop") << "a process, and the case in it: no other one has begun";
  EXPECT_TRUE(std::holds_alternative<Passed>(OutcomeOf("slow")));
}

// It comes behind what needs the device for itself, and does not keep the canary from it.
TEST_F(RunnerTest, WhatRunsBesideOthersWaitsForWhatDoesNot) {
  options_.devices = {{"gpu0", "GPU-0", "", ""}};
  options_.facts.by_subject["system"] = {{"gpu.count", "1"}, {"gpu.0.memory_free_bytes", "99999999999"}};
  options_.jobs = 4;
  plan_.cases = {OnGpu(MakeCase("crash", {{"how", std::string("exit0")}}), Layer::kInit),
                 OnGpu(MakeCase("noop", {{"i", int64_t{1}}}), Layer::kConvolution, {0}),
                 OnGpu(MakeCase("pass", {{"i", int64_t{1}}}), Layer::kFramework)};
  plan_.cases[0].shareable = false;
  PosixProcessControl control;
  Run(&control);
  const auto outcome = [&](const std::string& check) {
    return fold_.summary().Find({"fixture." + check, "gpu0"})->outcome;
  };
  EXPECT_TRUE(std::holds_alternative<Errored>(outcome("crash")));
  EXPECT_TRUE(std::holds_alternative<Blocked>(outcome("noop")));
  EXPECT_TRUE(std::holds_alternative<Passed>(outcome("pass")));
}

class PreparedTest : public RunnerTest {
 protected:
  // Runs these checks on one device, each in a process of its own, behind the one before where `needs_` does
  // not say what each comes behind. All but the first may be prepared.
  void RunChain(const std::vector<std::pair<std::string, Params>>& checks, int jobs = 3) {
    options_.devices = {{"gpu0", "GPU-0", "", ""}};
    options_.jobs = jobs;
    for (const auto& [check, params] : checks) {
      Case c = MakeCase(check, params);
      c.planned.ref.device = "gpu0";
      c.devices = Devices::kOne;
      c.prepared = !plan_.cases.empty();
      if (c.prepared) c.prerequisites = {plan_.cases.size() - 1};
      if (!needs_.empty()) c.prerequisites = needs_[plan_.cases.size()];
      plan_.cases.push_back(std::move(c));
    }
    Run(&control_);
  }
  Environments control_;
  std::vector<decltype(Case::prerequisites)> needs_;
  const std::pair<std::string, Params> slow_ = {"slow", {{"ms", int64_t{300}}, {"i", int64_t{0}}}},
                                       pass_ = {"pass", {{"i", int64_t{1}}}},
                                       noop_ = {"noop", {{"i", int64_t{1}}}},
                                       skip_ = {"skip", {{"kind", std::string("memory")}}};
};

TEST_F(PreparedTest, AProcessIsPreparedWhileTheOneBeforeItHasTheDevice) {
  RunChain({slow_, pass_});
  EXPECT_THAT(order_, testing::ElementsAre("start", "start", "slow", "pass"));
  EXPECT_EQ(started_, std::vector<std::string>({"gpu0", "gpu0"}));
  EXPECT_THAT(ends_, testing::Each("exit status 0"));
}

// cuInit settles it, and the case may want to see the compilers work.
TEST_F(PreparedTest, OnlyWhatIsPreparedHasTheDriversCacheOff) {
  RunChain({slow_, pass_});
  EXPECT_THAT(control_.cacheless, testing::ElementsAre(false, true));
}

TEST_F(PreparedTest, OneAtATimeAndNotBeforeWhatItNeedsRuns) {
  RunChain({slow_, pass_, noop_}, 8);
  EXPECT_THAT(order_, testing::ElementsAre("start", "start", "slow", "start", "pass", "noop"));
}

// Though it stands before it in the plan.
TEST_F(PreparedTest, WhatWaitsForAnotherIsNotPreparedInItsPlace) {
  needs_ = {{}, {2}, {0}};
  RunChain({slow_, noop_, pass_}, 8);
  EXPECT_THAT(order_, testing::ElementsAre("start", "start", "slow", "start", "pass", "noop"));
  EXPECT_THAT(control_.cacheless, testing::ElementsAre(false, true, true));
}

TEST_F(PreparedTest, ASlotStaysForWhatNeedNotWait) {
  RunChain({slow_, pass_}, 2);
  EXPECT_THAT(order_, testing::ElementsAre("start", "slow", "start", "pass"));
}

TEST_F(PreparedTest, NotWithAProcessForEachCase) {
  options_.isolation = Isolation::kProcess;
  RunChain({slow_, pass_});
  EXPECT_THAT(order_, testing::ElementsAre("start", "slow", "start", "pass"));
}

// What was prepared for a case that is blocked goes, and nobody is blamed for its end.
TEST_F(PreparedTest, AProcessWhoseCaseIsBlockedIsEnded) {
  RunChain({skip_, pass_});
  EXPECT_THAT(order_, testing::ElementsAre("start", "start", "skip"));
  EXPECT_EQ(ends_.size(), 2u);
  EXPECT_TRUE(fold_.summary().run_findings.empty());
  EXPECT_TRUE(std::holds_alternative<Blocked>(fold_.summary().Find({"fixture.pass", "gpu0"})->outcome));
}

TEST_F(RunnerTest, MemoryThatOthersHoldIsTheRunnersFault) {
  options_.devices = {{"gpu0", "", "", ""}};
  options_.facts.by_subject["system"] = {
      {"gpu.count", "1"}, {"gpu.0.memory_bytes", "80000000000"}, {"gpu.0.memory_free_bytes", "70000000000"}};
  plan_.cases = {MakeCase("skip", {{"kind", std::string("memory")}})};
  plan_.cases[0].planned.ref.device = "gpu0";
  plan_.cases[0].devices = Devices::kOne;
  PosixProcessControl control;
  Run(&control);
  const std::vector<Finding>& findings = fold_.summary().cases.at(0).findings;
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].slug, "out-of-device-memory-shared");
}

TEST(GpuState, OnlyMemoryOfADeviceIsHeldByItsOtherUsers) {
  Facts facts;
  facts.by_subject["system"] = {
      {"gpu.count", "1"}, {"gpu.0.memory_bytes", "80000000000"}, {"gpu.0.memory_free_bytes", "70000000000"}};
  Case one;
  one.planned.ref.device = "gpu0";
  const auto slug = [&](SkipKind kind, Resource resource) {
    const Finding skipped = HarnessFinding("skip-not-allowed", "needs more");
    return BlameForMemory(facts, one, skipped, Skipped{kind, "more", "less", resource}).slug;
  };
  EXPECT_EQ(slug(SkipKind::kMemory, Resource::kDeviceMemory), "out-of-device-memory-shared");
  EXPECT_EQ(slug(SkipKind::kMemory, Resource::kHostMemory), "skip-not-allowed");
  EXPECT_EQ(slug(SkipKind::kAbsent, Resource::kNone), "skip-not-allowed");
}

TEST_F(RunnerTest, DiscoveryGivesUpOnAProcessThatSurvivesSigkillAndBlamesTheRunner) {
  StuckProcesses control;
  const Discovery d = DiscoverWith(&control);
  EXPECT_FALSE(d.abandoned.empty());
}

TEST_F(RunnerTest, DiscoveryWithoutAProcessBlamesTheRunner) {
  NoProcesses control;
  const Discovery d = DiscoverWith(&control);
  ASSERT_EQ(d.catalog.broken.size(), 1u);
  EXPECT_EQ(d.catalog.broken[0].slug, "worker-not-started");
}

}  // namespace
}  // namespace cudnn_ci
