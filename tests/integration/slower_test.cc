// "max_slowdown_percent" with --baseline: what is slower in the run is repeated alone, and only what is
// slower there, too, is red.
#include <gmock/gmock.h>

#include <filesystem>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

constexpr char kOne[] = "fixture.timed[i=1]";
// Of the fake GPU's 131072 MiB: what an idle driver leaves.
constexpr char kNobodyElse[] = "131000";

class Slower : public testing::Test {
 protected:
  Slower() {
    run_.UseFakeGpus(1);
    run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda:" CUDNN_CI_FAKES "/nvml");
    run_.Set("FAKE_FREE_MB", kNobodyElse);
  }
  // A run of the cases i = 1, 2, each of which measures these words, run by run.
  GateResult Gate(const std::string& one, const std::string& two, const std::vector<std::string>& arguments,
                  const std::string& rest = R"(, "max_slowdown_percent": 20)", const std::string& end = "") {
    run_.Set("FIXTURE_TIMES_1", one);
    run_.Set("FIXTURE_TIMES_2", two);
    const std::string runs = run_.Path("runs");
    fs::remove_all(runs);
    fs::create_directory(runs);
    run_.Set("FIXTURE_RUNS", runs);
    run_.Matrix(Entry("fixture.timed", R"("axes": {"i": )" + axis_ + R"(}, "allow_skip": ["absent"])" + rest),
                20, end);
    if (!defaults_.empty()) {
      std::string matrix = run_.Read("matrix.json");
      const std::string first = R"("defaults": {)";
      run_.Write("matrix.json", matrix.insert(matrix.find(first) + first.size(), defaults_ + ", "));
    }
    return run_.Run(arguments);
  }
  // A baseline in which both took a millisecond.
  void Baseline() {
    const GateResult result = Gate("1", "1", {});
    ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
    fs::rename(run_.Path("report"), run_.Path("old"));
    report_ = result.report;
  }
  // Changes something of it.
  template <class Change>
  void InBaseline(Change change) {
    change(&report_);
    run_.Write("old/report.json", report_.dump());
  }
  GateResult Against(const std::string& one, const std::string& two = "1",
                     const std::string& rest = R"(, "max_slowdown_percent": 20)", const std::string& end = "",
                     std::vector<std::string> arguments = {}) {
    arguments.push_back("--baseline");
    arguments.push_back("old/report.json");
    return Gate(one, two, arguments, rest, end);
  }
  size_t Runs(int i) const { return run_.Read("runs/runs-" + std::to_string(i)).size(); }
  static std::vector<std::string> Modes(const GateResult& result, const std::string& id) {
    std::vector<std::string> modes;
    for (const json& e : result.Events("AttemptStarted"))
      if (e["id"] == id) modes.push_back(e["mode"]);
    return modes;
  }
  // Of the processes of the run that lived when this attempt began.
  static int LivingAt(const GateResult& result, const json& attempt) {
    int living = 0;
    for (const json& e : result.journal) {
      if (e["seq"] > attempt["seq"]) break;
      living += e["ev"] == "WorkerStarted" ? 1 : e["ev"] == "WorkerEnded" ? -1 : 0;
    }
    return living;
  }
  GateRun run_;
  json report_;
  std::string axis_ = "[1, 2]", defaults_;
};

TEST_F(Slower, WhatIsSlowerAloneTooIsRedAndNothingElse) {
  Baseline();
  const GateResult result = Against("1.5 1.45 1.4 1.5");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_EQ(result.Outcome(kOne), "failed");
  EXPECT_EQ(result.Errors(kOne), "undetermined.slower-than-baseline");
  EXPECT_THAT(Modes(result, kOne), ElementsAre("shared", "confirm", "confirm", "confirm"));
  EXPECT_EQ(
      result.report["root_cause"]["detail"],
      "milliseconds 1.4 ms at best in 3 repetitions alone, at worst 1.5 ms; before 1 ms in the baseline "
      "old/report.json: 1.40 times as slow, 1.20 times are allowed; the libraries are the same");
  EXPECT_EQ(result.Outcome("fixture.timed[i=2]"), "passed");
  EXPECT_EQ(Runs(2), 1u) << "what was not slower is not repeated";
}

TEST_F(Slower, WhatIsFastEnoughAloneOnceIsNot) {
  Baseline();
  for (const std::string times : {"5 1", "5 5 1.1", "5 5 5 1"}) {
    const GateResult result = Against(times);
    EXPECT_EQ(result.exit_code, 0) << times << result.out;
    EXPECT_EQ(result.Outcome(kOne), "passed") << times;
    EXPECT_EQ(result.Errors(kOne), "") << times;
  }
  EXPECT_EQ(Against("1.19").exit_code, 0);
  EXPECT_EQ(Runs(1), 1u) << "within what the matrix allows";
  EXPECT_EQ(Against("0.5").exit_code, 0);
}

TEST_F(Slower, RepetitionsThatDifferAsMuchShowNoSlowness) {
  Baseline();
  EXPECT_EQ(Against("2 1.3 1.9 1.3").exit_code, 0);
  EXPECT_EQ(Against("2 1.7 1.9 1.8").exit_code, 6);
}

TEST_F(Slower, OnlyWhatTheMatrixHoldsToItIsCompared) {
  Baseline();
  const GateResult none = Against("5", "5", "");
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(Runs(1), 1u);
  EXPECT_THAT(none.report["not_gated"].dump(), Not(HasSubstr("speed of ")));
  defaults_ = R"("max_slowdown_percent": 20)";
  EXPECT_EQ(Against("5", "1", "").exit_code, 6);
  EXPECT_EQ(Against("5", "1", R"(, "max_slowdown_percent": 0)").exit_code, 0);
  EXPECT_EQ(Against("5", "1", R"(, "max_slowdown_percent": 500)").exit_code, 0);
}

TEST_F(Slower, ARepetitionHasTheMachineForItself) {
  Baseline();
  const GateResult result = Against("5", "5");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  int repetitions = 0;
  for (const json& e : result.Events("AttemptStarted")) {
    if (e["mode"] != "confirm") continue;
    ++repetitions;
    EXPECT_EQ(LivingAt(result, e), 1) << e;
  }
  EXPECT_EQ(repetitions, 6);
}

// With as many cases and free memory as several workers would want.
TEST_F(Slower, WhatIsHeldToATimeHasOneOfItsOwn) {
  axis_ = "[1";
  for (int i = 2; i <= 100; ++i) axis_ += ", " + std::to_string(i);
  axis_ += "]";
  Baseline();
  EXPECT_EQ(report_["run"]["workers_per_gpu"], 1);
  const GateResult result = Against("5", "1", R"(, "max_slowdown_percent": 20)", "", {"--jobs", "8"});
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_EQ(result.report["run"]["workers_per_gpu"], 1);
}

TEST_F(Slower, WhoWantsSeveralWorkersIsToldThatNothingIsCompared) {
  Baseline();
  const std::string held = R"(, "max_slowdown_percent": 20)";
  const GateResult two = Against("5", "1", held, "", {"--workers-per-gpu", "2", "--jobs", "8"});
  EXPECT_EQ(two.exit_code, 0) << two.out;
  EXPECT_EQ(Runs(1), 1u);
  EXPECT_EQ(two.report["run"]["workers_per_gpu"], 2);
  EXPECT_THAT(two.report["not_gated"].dump(), HasSubstr("--workers-per-gpu 2"));
  fs::remove_all(run_.Path("old"));
  fs::rename(run_.Path("report"), run_.Path("old"));
  const GateResult one = Against("5");
  EXPECT_EQ(one.exit_code, 0) << one.out;
  EXPECT_THAT(one.report["not_gated"].dump(), HasSubstr("--workers-per-gpu 1"));
  EXPECT_EQ(Against("5", "1", held, "", {"--workers-per-gpu", "1"}).exit_code, 0);
}

// What would be repeated is another check by then.
TEST_F(Slower, APluginThatChangedMeanwhileIsRedAndNothingOfItPasses) {
  fs::create_directory(run_.Path("plugins"));
  const std::string plugin = run_.Path("plugins/fixture.cci.so");
  fs::copy_file(CUDNN_CI_FIXTURES "/fixture/fixture.cci.so", plugin);
  run_.WithoutFixture();
  run_.AddPlugins(run_.Path("plugins"));
  run_.AddPlugins(run_.Path("driver"));
  run_.Set("FIXTURE_GROW", plugin);
  Baseline();
  const GateResult result = Against("5grow", "5");
  EXPECT_NE(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.Outcome(kOne), "errored");
  EXPECT_EQ(result.Outcome("fixture.timed[i=2]"), "errored");
  EXPECT_THAT(result.report.dump(), Not(HasSubstr("slower-not-repeated")));
}

TEST_F(Slower, WithoutABaselineNothingIsComparedAndThatIsSaid) {
  const GateResult result = Gate("5", "5", {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(Runs(1), 1u);
  EXPECT_THAT(result.report["not_gated"].dump(), HasSubstr("--baseline"));
  EXPECT_THAT(result.report["not_gated_codes"].dump(), HasSubstr("\"speed-not-compared\""));
}

TEST_F(Slower, AnotherGpuOrDriverIsNotCompared) {
  Baseline();
  InBaseline([](json* report) { (*report)["judged"]["gpu"][0]["model"] = "NVIDIA Other"; });
  const GateResult gpu = Against("5");
  EXPECT_EQ(gpu.exit_code, 0) << gpu.out;
  EXPECT_EQ(Runs(1), 1u);
  EXPECT_THAT(gpu.report["not_gated"].dump(), HasSubstr("the GPUs differ (NVIDIA Other; NVIDIA Fake)"));
  InBaseline([](json* report) {
    (*report)["judged"]["gpu"][0]["model"] = "NVIDIA Fake";
    (*report)["judged"]["driver"] = "1.2.3";
  });
  const GateResult driver = Against("5");
  EXPECT_EQ(driver.exit_code, 0) << driver.out;
  EXPECT_THAT(driver.report["not_gated"].dump(), HasSubstr("(1.2.3, "));
}

TEST_F(Slower, WhatTheBaselineDoesNotHaveIsNotCompared) {
  Baseline();
  InBaseline([](json* report) { (*report)["cases"].erase((*report)["cases"].size() - 1); });
  const GateResult result = Against("1", "5");
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.report["not_gated"].dump(), HasSubstr("speed of 1 case "));
}

TEST_F(Slower, AChangedLibraryIsTheImages) {
  Baseline();
  InBaseline([](json* report) { (*report)["judged"]["toolkit"] = "12.4"; });
  const GateResult result = Against("5");
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.report["root_cause"]["detail"].get<std::string>(),
              HasSubstr("changed: toolkit: 12.4 -> not found"));
}

TEST_F(Slower, AGpuThatIsHeldDownOrSharedIsTheRunnersWhateverChanged) {
  Baseline();
  InBaseline([](json* report) { (*report)["judged"]["toolkit"] = "12.4"; });
  run_.Set("FAKE_FREE_MB", "100000");
  const GateResult shared = Against("5");
  EXPECT_EQ(shared.exit_code, 3) << shared.out;
  const auto why = [](const GateResult& result) {
    const std::string detail = result.report["root_cause"]["detail"];
    return detail.substr(detail.find("; of gpu0: ") + 2);
  };
  GateMessages golden(run_);
  golden.Row("memory in use", why(shared));
  run_.Set("FAKE_FREE_MB", kNobodyElse);
  run_.Set("FAKE_SLOWED", "64");
  const GateResult hot = Against("5");
  EXPECT_EQ(hot.exit_code, 3) << hot.out;
  EXPECT_THAT(golden.Row("heat", why(hot)), testing::AllOf(HasSubstr("gpu0"), HasSubstr("heat")));
  run_.Set("FAKE_SLOWED", "7");
  EXPECT_EQ(Against("5").exit_code, 1) << "idle, clocks that were set and a power limit hold nothing down";
}

TEST_F(Slower, ARepetitionThatFailsIsAFailure) {
  Baseline();
  EXPECT_EQ(Against("5 fail").Outcome(kOne), "failed");
  EXPECT_EQ(Against("5 fail 1", "1", R"(, "max_slowdown_percent": 20)", "", {"--retries", "1"}).exit_code, 6)
      << "and no pass behind it takes that back";
  const GateResult crash = Against("5 5 crash 1");
  EXPECT_EQ(crash.Outcome(kOne), "errored") << crash.out;
  const GateResult skip = Against("5 skip");
  EXPECT_EQ(skip.exit_code, 0) << "it has passed, and a skip tells no time: " << skip.out;
  EXPECT_EQ(skip.Outcome(kOne), "passed");
  EXPECT_THAT(skip.report.dump(), HasSubstr("alone it "));
}

TEST_F(Slower, AWaiverExcusesItAndNothingElse) {
  Baseline();
  const std::string waiver =
      R"(, "waivers": [{"case": "fixture.timed*", "slug": "slower-than-baseline", "reason": "known", "owner": "us",
          "expires": "2999-01-01"}])";
  const std::string held = R"(, "max_slowdown_percent": 20)";
  EXPECT_EQ(Against("5", "1", held, waiver).exit_code, 0);
  EXPECT_NE(Against("5", "fail", held, waiver).exit_code, 0);
}

TEST_F(Slower, TheBaselineMayLieWhereTheReportsGo) {
  Baseline();
  fs::rename(run_.Path("old"), run_.Path("report"));
  EXPECT_EQ(Gate("5", "1", {"--baseline", "report/report.json"}).exit_code, 6);
}

TEST_F(Slower, OneProcessForEverythingRepeatsNothing) {
  Baseline();
  const GateResult result = Against("5", "1", R"(, "max_slowdown_percent": 20)", "", {"--isolation", "none"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.report["not_gated"].dump(), HasSubstr("--isolation none "));
}

TEST_F(Slower, WhatOneProcessACaseRunsIsRepeatedAsWell) {
  Baseline();
  const GateResult result =
      Against("5", "1", R"(, "max_slowdown_percent": 20)", "", {"--isolation", "process"});
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(Modes(result, kOne), ElementsAre("alone", "confirm", "confirm", "confirm"));
}

// What works beside others waits for what comes before it and needs the GPU for itself, and that waits to be
// repeated.
TEST_F(Slower, WhatIsKeptBackForTheCaseKeepsItNotWaiting) {
  const std::string matrix =
      Entry("fixture.timed_alone", R"("params": {"i": 1}, "max_slowdown_percent": 20)") + ", " +
      Entry("fixture.timed", R"("axes": {"i": [2, 3]})") + ", " + Entry("fixture.framework");
  fs::create_directory(run_.Path("runs"));
  run_.Set("FIXTURE_RUNS", run_.Path("runs"));
  run_.Matrix(matrix);
  ASSERT_EQ(run_.Run().exit_code, 0);
  fs::rename(run_.Path("report"), run_.Path("old"));
  run_.Set("FIXTURE_TIMES_1", "5");
  const GateResult result = run_.Run({"--baseline", "old/report.json", "--time-limit", "30"});
  EXPECT_TRUE(result.Events("RunCancelled").empty()) << result.out;
  EXPECT_EQ(result.Errors("fixture.timed_alone[i=1]"), "undetermined.slower-than-baseline");
  EXPECT_EQ(result.Outcome("fixture.framework"), "passed");
}

TEST_F(Slower, ABadNumberInTheMatrixIsRefused) {
  for (const std::string bad : {"-1", "1001", "\"20\"", "true"}) {
    const GateResult result = Gate("1", "1", {}, R"(, "max_slowdown_percent": )" + bad);
    EXPECT_EQ(result.exit_code, 2) << bad;
    EXPECT_THAT(result.err, HasSubstr("\"max_slowdown_percent\" "));
  }
}

}  // namespace
}  // namespace cudnn_ci
