// Cases that warm workers prepare while the check that they require has the GPU: who prepares which, and that
// whatever happens then decides nothing.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::IsEmpty;

class PreparedCases : public testing::Test {
 protected:
  static constexpr int kCases = 6;
  static std::string Id(int i, const std::string& how) {
    return "fixture.prepared[how=" + how + ",i=" + std::to_string(i) + "]";
  }
  PreparedCases() {
    run_.UseFakeGpus(1);
    run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda:" CUDNN_CI_FAKES "/nvml");
    run_.Set("FAKE_FREE_MB", "40000");
    std::filesystem::create_directory(run_.Path("meet"));
    run_.Set("FIXTURE_MEET", run_.Path("meet"));
    run_.Set("FIXTURE_WAITS", "door");
    run_.AddPlugins(CUDNN_CI_FIXTURES "/lobby");
  }
  GateResult Gate(const std::string& how = "well", const std::string& workers = "3",
                  const std::string& rest = "") {
    run_.Matrix(before_ +
                Entry("fixture.prepared",
                      R"("axes": {"i": [0, 1, 2, 3, 4, 5]}, "params": {"how": ")" + how + "\"}" + rest));
    return run_.Run({"--workers-per-gpu", workers, "--jobs", "8", "--time-limit", "60"});
  }
  // The process that prepared each case.
  std::map<int, double> Processes() const {
    std::map<int, double> out;
    for (int i = 0; i < kCases; ++i)
      if (std::ifstream file(run_.Path("meet/prepared-" + std::to_string(i))); file) file >> out[i];
    return out;
  }
  static std::map<int, double> Measured(const GateResult& result, const std::string& name,
                                        const std::string& how = "well") {
    std::map<int, double> out;
    for (int i = 0; i < kCases; ++i) {
      const json measurements = result.Case(Id(i, how))["measurements"];
      for (const json& m : measurements)
        if (m["name"] == name) out[i] = m["value"];
    }
    return out;
  }
  GateRun run_;
  std::string before_;  // other entries of the matrix
};

TEST_F(PreparedCases, EachWorkerPreparesAnotherCaseAndRunsItFirst) {
  run_.Set("FIXTURE_PREPARED", "3");  // the door waits for them
  const GateResult result = Gate();
  EXPECT_EQ(result.exit_code, 0) << result.out;
  const std::map<int, double> processes = Processes(), ran_in = Measured(result, "process");
  ASSERT_EQ(processes.size(), 3u);
  std::set<double> different;
  for (const auto& [i, process] : processes) {
    EXPECT_LT(i, 3) << "the first ones of the plan";
    EXPECT_EQ(ran_in.at(i), process) << i;
    different.insert(process);
  }
  EXPECT_EQ(different.size(), 3u);
  EXPECT_EQ(Measured(result, "prepared"),
            (std::map<int, double>{{0, 1}, {1, 1}, {2, 1}, {3, 0}, {4, 0}, {5, 0}}));
}

// Not only while that check runs which comes just before them.
TEST_F(PreparedCases, WorkersStartWhileTheFirstCheckRuns) {
  before_ = Entry("lobby.hall") + ",";
  run_.Set("FIXTURE_WAITS", "lobby");
  run_.Set("FIXTURE_PREPARED", "3");
  const GateResult result = Gate();
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(Processes().size(), 3u);
}

// A second context beside the check that has the GPU could take memory that it needs.
TEST_F(PreparedCases, WhereMemoryIsShortOneWorkerAloneDoes) {
  run_.Set("FAKE_FREE_MB", "32767");
  run_.Set("FIXTURE_PREPARED", "1");
  const GateResult result = Gate();
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(Processes().size(), 1u);
}

TEST_F(PreparedCases, NotWhereEveryCaseHasAProcessOfItsOwn) {
  run_.Matrix(Entry("fixture.prepared", R"("axes": {"i": [0, 1]})"));
  EXPECT_EQ(run_.Run({"--isolation", "process"}).exit_code, 0);
  EXPECT_THAT(Processes(), IsEmpty());
}

// What a preparation reports is no part of a case, and the case that follows finds no trace of it.
TEST_F(PreparedCases, WhatItReportsDecidesNothing) {
  for (const char* how : {"report", "throw", "leak", "late"}) {
    const bool late = how == std::string("late");
    const GateResult result = Gate(how, "3", R"(, "timeout_s": )" + std::to_string(late ? 6 : 2));
    EXPECT_EQ(result.exit_code, 0) << how << result.out;
    EXPECT_EQ(result.report["totals"]["passed"], kCases + 1) << how;
    EXPECT_THAT(result.Events("Finding"), IsEmpty()) << how;
    for (int i = 0; i < kCases; ++i) EXPECT_THAT(result.Flags(Id(i, how)), IsEmpty()) << how << i;
    std::set<std::string> modes;
    for (const json& e : result.Events("AttemptStarted"))
      if (e["id"] != "fixture.door") modes.insert(e["mode"].get<std::string>());
    EXPECT_EQ(modes, std::set<std::string>{"shared"}) << how << ": nothing is asked again";
    for (const auto& [i, prepared] : Measured(result, "prepared", how))
      EXPECT_EQ(prepared, late && i < 3 ? 1 : 0) << how << i;
  }
}

// The same code runs in the case: as after a failure in a shared process, a pass alone makes nothing good.
TEST_F(PreparedCases, WhatEndsItsProcessIsConfirmedAlone) {
  const std::map<std::string, std::string> ends = {
      {"crash", "SIGSEGV"}, {"exit", "exit status 3"}, {"hang", "2.000 s"}, {"break", "exit status 1"}};
  for (const auto& [how, end] : ends) {
    run_.Set("FIXTURE_PREPARED", "3");
    std::filesystem::remove_all(run_.Path("meet"));
    std::filesystem::create_directory(run_.Path("meet"));
    const GateResult result = Gate(how, "3", R"(, "timeout_s": 2)");
    EXPECT_EQ(result.exit_code, 6) << how << result.out;
    EXPECT_EQ(result.report["totals"]["passed"], kCases + 1 - 3) << how;
    for (int i = 0; i < kCases; ++i) {
      EXPECT_EQ(result.Outcome(Id(i, how)), i < 3 ? "failed" : "passed") << how << i;
      EXPECT_EQ(result.Errors(Id(i, how)), i < 3 ? "undetermined.order-dependent" : "") << how << i;
    }
    for (const json& e : result.Events("Finding")) {
      const std::string detail = e["finding"]["detail"];
      EXPECT_THAT(detail, testing::HasSubstr(" prepared: "));
      EXPECT_THAT(detail, testing::HasSubstr(end));
    }
    for (const json& e : result.Events("AttemptStarted"))
      EXPECT_EQ(e["attempt"], 1) << how << ": a preparation is no attempt";
  }
}

TEST_F(PreparedCases, WhatFailsAloneTooIsConfirmed) {
  run_.Set("FIXTURE_PREPARED", "3");
  const GateResult result = Gate("crash_twice");
  EXPECT_EQ(result.Errors(Id(0, "crash_twice")), "harness.crashed") << result.out;
  EXPECT_THAT(result.Flags(Id(0, "crash_twice")), testing::ElementsAre("confirmed-alone"));
}

TEST_F(PreparedCases, NoCaseRunsWhereAnExceptionLeftThePluginsHook) {
  run_.AddPlugins(CUDNN_CI_FIXTURES "/prepares");
  run_.Set("FIXTURE_WAITS", "lobby");
  run_.Set("FIXTURE_PREPARED", "3");
  run_.Matrix(Entry("lobby.hall") + "," + Entry("prepares.throws", R"("axes": {"i": ["a", "b", "c", "d"]})"));
  const GateResult result = run_.Run({"--workers-per-gpu", "3", "--jobs", "8", "--time-limit", "60"});
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_EQ(result.report["totals"]["passed"], 3);
  for (const json& e : result.Events("Finding")) EXPECT_EQ(e["finding"]["slug"], "order-dependent") << e;
}

// Nothing runs of what was prepared, and nobody waits for it.
TEST_F(PreparedCases, WhereTheDoorStaysShutCasesAreBlocked) {
  run_.Set("FIXTURE_PREPARED", "3");
  run_.Set("FIXTURE_DOOR", "shut");
  for (const char* how : {"well", "hang"}) {
    const GateResult result = Gate(how);
    EXPECT_EQ(result.exit_code, 1) << how << result.out;
    EXPECT_EQ(result.report["totals"]["blocked"], kCases) << how;
    for (const json& e : result.Events("AttemptStarted")) EXPECT_EQ(e["id"], "fixture.door") << how;
    for (const json& e : result.Events("Finding")) EXPECT_NE(e["finding"]["slug"], "worker-exit") << how << e;
  }
}

}  // namespace
}  // namespace cudnn_ci
