// Several warm workers on one GPU, with a fake one: that they are there at a time, who never shares a GPU,
// and that what is said on a shared GPU counts for no more than in one worker.
#include <gmock/gmock.h>
#include <sched.h>

#include <filesystem>
#include <set>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::Contains;

std::string Many(const std::string& check, int count, const std::string& what, const std::string& rest = "") {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i ? ", " : "") + std::to_string(i);
  return Entry("fixture." + check,
               R"("axes": {"i": [)" + list + R"(]}, "params": {"what": ")" + what + "\"" + rest);
}
// With what follows the parameters of Many.
std::string Cases(const std::string& check, int count, const std::string& what,
                  const std::string& rest = "") {
  return Many(check, count, what, "}" + rest);
}
std::string Id(int i, const std::string& what, const std::string& check = "concurrent",
               const std::string& bad = "m1") {
  return "fixture." + check + "[bad=" + bad + ",i=" + std::to_string(i) + ",what=" + what + "]";
}

class Sharing : public testing::Test {
 protected:
  Sharing() {
    run_.UseFakeGpus(1);
    // Which tells how much memory is free.
    run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda:" CUDNN_CI_FAKES "/nvml");
    run_.Set("FAKE_FREE_MB", "30000");
    std::filesystem::create_directory(run_.Path("meet"));
    run_.Set("FIXTURE_MEET", run_.Path("meet"));
  }
  GateResult Gate(const std::string& entries, std::vector<std::string> arguments = {"--workers-per-gpu", "2"},
                  const std::string& jobs = "8") {
    run_.Matrix(entries);
    arguments.insert(arguments.end(), {"--jobs", jobs});
    return run_.Run(arguments);
  }
  static int64_t Most(const GateResult& result) { return result.report["run"]["workers_per_gpu"]; }
  static int Confirmations(const GateResult& result) {
    int count = 0;
    for (const json& e : result.Events("AttemptStarted")) count += e["mode"] == "confirm" ? 1 : 0;
    return count;
  }
  GateRun run_;
};

TEST_F(Sharing, TwoWorkersUseOneGpuAtATimeAndTheReportsSaySo) {
  const GateResult result = Gate(Cases("concurrent", 12, "meet"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 12);
  EXPECT_EQ(Most(result), 2);
  int workers = 0;
  for (const json& e : result.Events("WorkerStarted")) workers += e["sharing"] == 2 ? 1 : 0;
  EXPECT_EQ(workers, 2);
  EXPECT_THAT(result.out, testing::HasSubstr("up to 2 processes"));
  EXPECT_THAT(result.junit, testing::HasSubstr("judged.times"));
}

// On further GPUs checks of several plugins have one process, if these are the tool's own. Here none is.
TEST_F(Sharing, APluginOfAThirdPartySharesNoProcessWithAnother) {
  run_.Set("FAKE_DEVICE_COUNT", "2");
  const GateResult result =
      Gate(Entry("driver.canary") + ", " + Cases("concurrent", 2, "pass"), {"--device", "all"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  std::set<std::string> plugins;
  for (const json& e : result.Events("WorkerStarted")) plugins.insert(e["plugin"].get<std::string>());
  EXPECT_THAT(plugins, testing::ElementsAre("driver", "fixture"));
}

TEST_F(Sharing, EachIsToldItsShareAndOneShareIsLeft) {
  const GateResult shared = Gate(Cases("concurrent", 12, "pass"));
  const json measured = shared.Case(Id(0, "pass"))["measurements"];
  ASSERT_EQ(measured.size(), 5u);
  EXPECT_EQ(measured[0]["value"], 10000) << "a third: two workers, and what works beside them";
  EXPECT_GE(measured[1]["value"], 1);
  EXPECT_GT(measured[2]["value"], 0) << "of the host's memory";
  const GateResult alone = Gate(Cases("concurrent", 12, "pass"), {"--workers-per-gpu", "1"});
  const json nothing = alone.Case(Id(0, "pass"))["measurements"];
  EXPECT_EQ(nothing[0]["value"], 0);
  EXPECT_EQ(nothing[1]["value"], 0);
  EXPECT_EQ(nothing[2]["value"], 0);
  EXPECT_THAT(alone.out, testing::Not(testing::HasSubstr("shared a")));
}

TEST_F(Sharing, WhereItIsNotSafeOrNotAskedForThereIsOne) {
  const auto expect_one = [&](const std::string& why, const std::string& check,
                              const std::vector<std::string>& arguments, const std::string& jobs = "8") {
    const GateResult result = Gate(Cases(check, 12, "single"), arguments, jobs);
    EXPECT_EQ(result.exit_code, 0) << why << result.out;
    EXPECT_EQ(Most(result), 1) << why;
  };
  const std::vector<std::string> four = {"--workers-per-gpu", "4"};
  expect_one("asked for one", "concurrent", {"--workers-per-gpu", "1"});
  expect_one("the check does not say that it may", "one_worker", four);
  expect_one("no slot", "concurrent", four, "2");
  expect_one("a process a case", "concurrent", {"--workers-per-gpu", "4", "--isolation", "process"});
  expect_one("few cases, and nobody asked", "concurrent", {"--workers-per-gpu", "auto"});
  run_.Set("FAKE_COMPUTE_MODE", "3");
  expect_one("a second context is refused", "concurrent", four);
  run_.Set("FAKE_COMPUTE_MODE", "0");
  run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda");
  expect_one("unknown memory cannot be shared out", "concurrent", four);
}

// Those of the same queue that do not declare it never meet another case, and the others wait until they are
// done.
TEST_F(Sharing, CasesThatWantOneWorkerHaveOne) {
  const GateResult result = Gate(Cases("concurrent", 12, "pass") + ", " + Cases("one_worker", 8, "single"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 20);
}

TEST_F(Sharing, WhatLacksMemoryOnASharedGpuIsRunAloneHoweverManyThereAre) {
  const GateResult result = Gate(Cases("concurrent", 6, "short", R"(, "allow_skip": ["memory"])"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 6) << "each with nobody beside it";
  EXPECT_EQ(Confirmations(result), 6);
}

TEST_F(Sharing, WhichFailuresAreConfirmedDoesNotDependOnWhoIsFaster) {
  const GateResult result = Gate(Cases("concurrent", 10, "fail"));
  EXPECT_EQ(result.report["totals"]["failed"], 10);
  EXPECT_EQ(Confirmations(result), 3);
  for (int i = 0; i < 10; ++i)
    EXPECT_THAT(result.Flags(Id(i, "fail")), Contains(i < 3 ? "confirmed-alone" : "taken-as-is")) << i;
}

// One of them is still in a case when the other's wait to be confirmed.
TEST_F(Sharing, WhatIsConfirmedAloneWaitsForEveryWorkerOfItsQueue) {
  const GateResult result = Gate(Cases("concurrent", 1, "stay") + ", " + Cases("concurrent", 3, "fail"));
  EXPECT_EQ(Most(result), 2) << result.out;
  EXPECT_EQ(Confirmations(result), 3);
  std::set<int64_t> living;
  for (const json& e : result.journal) {
    if (e["ev"] == "WorkerStarted" && e["sharing"] == 2) living.insert(e["worker"].get<int64_t>());
    if (e["ev"] == "WorkerEnded") living.erase(e["worker"].get<int64_t>());
    if (e["ev"] != "AttemptStarted" || e["mode"] != "confirm") continue;
    EXPECT_TRUE(living.empty()) << e;
  }
}

// The checks of an image's files take one slot after another where the GPU's workers need all others.
TEST_F(Sharing, ChecksWithoutADeviceLeaveTheWarmWorkersTheirSlots) {
  const GateResult result = Gate(Cases("concurrent", 24, "pass") + ", " +
                                     Entry("fixture.slow", R"("axes": {"ms": [300, 301, 302, 303]})"),
                                 {"--workers-per-gpu", "3"}, "4");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  std::set<int64_t> without_device;
  size_t most = 0;
  bool open = true;
  for (const json& e : result.journal) {
    if (e["ev"] == "WorkerStarted" && e["plugin"] == "fixture" && e.value("device", "").empty())
      without_device.insert(e["worker"].get<int64_t>());
    if (e["ev"] == "WorkerEnded") without_device.erase(e["worker"].get<int64_t>());
    if (e["ev"] == "CaseFinished" && e["id"] == Id(23, "pass")) open = false;
    if (open) most = std::max(most, without_device.size());
  }
  EXPECT_EQ(most, 1u);
}

// One job more than there are processors: each processor's worker is a warm one.
TEST_F(Sharing, TwoProcessorsHaveTwoWarmWorkers) {
  cpu_set_t before, two;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&two);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &two);
  if (CPU_COUNT(&two) < 2) GTEST_SKIP() << "one processor";
  ASSERT_EQ(sched_setaffinity(0, sizeof two, &two), 0);
  run_.Matrix(Cases("concurrent", 12, "meet"));
  const GateResult result = run_.Run({"--workers-per-gpu", "2"});
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(Most(result), 2);
}

// Contexts with one hardware queue are made and ended sooner, and huge pages are touched sooner.
TEST_F(Sharing, WorkersThatShareAGpuHaveOneConnectionAndHugePagesUnlessTheUserSaysOtherwise) {
  const auto expect = [](const GateResult& result, double value) {
    for (const char* name : {"connections", "huge_pages"}) {
      std::set<double> all;
      for (const json& e : result.Events("Measurement"))
        if (e["name"] == name) all.insert(e["value"].get<double>());
      EXPECT_THAT(all, testing::ElementsAre(value)) << name;
    }
  };
  expect(Gate(Cases("concurrent", 12, "meet")), 1);
  expect(Gate(Cases("one_worker", 3, "pass")), 0);
  run_.Set("CUDA_DEVICE_MAX_CONNECTIONS", "4");
  run_.Set("GLIBC_TUNABLES", "glibc.malloc.tcache_count=8");
  expect(Gate(Cases("concurrent", 12, "meet")), 4);
}

// A context ends as slowly as it begins: who has nothing left to do does not wait for the last case.
TEST_F(Sharing, WhoHasNothingLeftToDoEndsWhileTheOtherWorks) {
  const GateResult result = Gate(Cases("concurrent", 1, "stay") + ", " + Cases("concurrent", 8, "pass"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  std::set<int64_t> shared;
  std::vector<std::string> order;
  for (const json& e : result.journal) {
    if (e["ev"] == "WorkerStarted" && e["sharing"] == 2) shared.insert(e["worker"].get<int64_t>());
    if (e["ev"] == "WorkerEnded" && shared.count(e["worker"].get<int64_t>()) > 0) order.push_back("end");
    if (e["ev"] == "CaseFinished" && e["id"] == Id(0, "stay")) order.push_back("stay");
  }
  EXPECT_THAT(order, testing::ElementsAre("end", "stay", "end"));
}

// What others wait for has the GPU as soon as it can run, though the workers have cases left.
TEST_F(Sharing, AnExclusivePrerequisiteComesBeforeCasesThatNoOtherWaitsFor) {
  const GateResult result =
      Gate(Cases("concurrent", 80, "pass") + ", " + Cases("behind_exclusive", 8, "pass"),
           {"--workers-per-gpu", "2", "--time-limit", "30"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  std::vector<std::string> order;
  for (const json& e : result.Events("AttemptStarted")) {
    const std::string id = e["id"], check = id.substr(8, id.find('[') - 8);
    if (!check.starts_with("look") && (order.empty() || order.back() != check)) order.push_back(check);
  }
  ASSERT_GE(order.size(), 4u) << testing::PrintToString(order);
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 3),
              testing::ElementsAre("concurrent", "exclusive", "concurrent"));
  EXPECT_THAT(order, Contains("behind_exclusive"));
}

// Two subjects, each with its exclusive case and what follows it.
class SharingOfSubjects : public Sharing {
 protected:
  GateResult Gate(const std::string& entries, const std::string& workers = "2") {
    run_.Matrix(entries, 20, R"(, "subjects": {"one": "path:/lib", "two": "path:/usr/lib"})");
    return run_.Run({"--workers-per-gpu", workers, "--jobs", "8"});
  }
  static int Started(const GateResult& result, const std::string& mode) {
    int count = 0;
    for (const json& e : result.Events("AttemptStarted")) count += e["mode"] == mode;
    return count;
  }
};

TEST_F(SharingOfSubjects, TheirWorkersUseOneGpuAtATimeBehindWhatBothWaitFor) {
  const GateResult result = Gate(Many("concurrent_of_subject", 1, "meet", "}"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(Most(result), 2);
  std::vector<std::string> order;
  for (const json& e : result.Events("AttemptStarted"))
    order.push_back(e["id"].get<std::string>().substr(8, 9));
  EXPECT_THAT(order, testing::ElementsAre("exclusive", "exclusive", "concurren", "concurren"));
  std::set<double> shares;
  for (const json& e : result.Events("Measurement"))
    if (e["name"] == "share_mib") shares.insert(e["value"].get<double>());
  EXPECT_THAT(shares, testing::ElementsAre(10000)) << "a third each: one share is left";
}

TEST_F(SharingOfSubjects, AllOfThemTogetherHaveAsManyWorkersAsWereAskedFor) {
  const GateResult one = Gate(Cases("concurrent_of_subject", 4, "single"), "1");
  EXPECT_EQ(one.exit_code, 0) << one.out;
  EXPECT_EQ(Most(one), 1);
  const GateResult three = Gate(Cases("concurrent_of_subject", 40, "pass"), "3");
  EXPECT_EQ(three.exit_code, 0) << three.out;
  std::set<int64_t> living;
  size_t most = 0;
  for (const json& e : three.journal) {
    if (e["ev"] == "WorkerStarted" && e["shared"] == true) living.insert(e["worker"].get<int64_t>());
    if (e["ev"] == "WorkerEnded") living.erase(e["worker"].get<int64_t>());
    most = std::max(most, living.size());
  }
  EXPECT_EQ(most, 3u);
}

TEST_F(SharingOfSubjects, ThoseOfChecksThatWantOneWorkerNeverMeet) {
  const GateResult result = Gate(Cases("one_worker_of_subject", 4, "single"), "4");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 8);
  // Nor do they meet the concurrent ones of the other subject.
  const GateResult mixed = Gate(Cases("one_worker_of_subject", 4, "single", R"(, "subjects": ["one"])") +
                                    ", " + Cases("concurrent_of_subject", 24, "pass"),
                                "4");
  EXPECT_EQ(mixed.exit_code, 0) << mixed.out;
}

TEST_F(SharingOfSubjects, WhatLacksMemoryIsRunAgainWithNoOtherSubjectBesideIt) {
  const GateResult result = Gate(Cases("concurrent_of_subject", 3, "short", R"(, "allow_skip": ["memory"])"));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 8);
  EXPECT_EQ(Started(result, "confirm"), 6);
}

// A case of each subject crashes while the other subject's workers are in theirs.
TEST_F(SharingOfSubjects, ACrashIsItsSubjectsAndIsConfirmedAlone) {
  const GateResult result = Gate(Many("concurrent_of_subject", 24, "pass", R"(, "bad": 3})"), "4");
  EXPECT_EQ(result.report["totals"]["passed"], 48) << result.out;
  EXPECT_EQ(result.report["totals"]["errored"], 2);
  EXPECT_EQ(Started(result, "confirm"), 2);
  EXPECT_TRUE(result.report["devices_lost"].empty());
}

TEST_F(SharingOfSubjects, ALostGpuIsLostForAllOfThem) {
  run_.Set("FAKE_CANARY", "wrong");
  const GateResult result = Gate(Many("concurrent_of_subject", 24, "pass", R"(, "bad": 3})"), "4");
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_EQ(result.report["devices_lost"].size(), 1u);
  EXPECT_THAT(run_.LeftAfter(1), testing::IsEmpty());
}

// The others go on; what comes after them begins with the canary, alone.
TEST_F(Sharing, ACrashOfOneIsItsOwnAndTheOthersGoOn) {
  const GateResult result = Gate(Many("concurrent", 24, "pass", R"(, "bad": 3})"));
  EXPECT_EQ(result.report["totals"]["passed"], 23) << result.out;
  EXPECT_EQ(result.Outcome(Id(3, "pass", "concurrent", "3")), "errored");
  EXPECT_THAT(result.Flags(Id(3, "pass", "concurrent", "3")), Contains("confirmed-alone"));
  EXPECT_TRUE(result.report["devices_lost"].empty());
}

TEST_F(Sharing, ALostGpuIsLostForAllOfThem) {
  run_.Set("FAKE_CANARY", "wrong");
  const GateResult result = Gate(Many("concurrent", 24, "pass", R"(, "bad": 3})"));
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_EQ(result.report["devices_lost"].size(), 1u);
  EXPECT_THAT(run_.LeftAfter(1), testing::IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
