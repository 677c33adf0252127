// report.json, the fan-out, and reports made again from the record.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/json.h"
#include "report/rebuild.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

class ReportTest : public testing::Test {
 protected:
  ReportTest() : folder_(testing::TempDir() + "report_test." + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ReportTest() override { std::filesystem::remove_all(folder_); }
  nlohmann::json Written(const Summary& summary) {
    const Status status = WriteJsonReport(summary, folder_ + "/report.json");
    EXPECT_TRUE(status.ok()) << status.error();
    return nlohmann::json::parse(ReadSmallFile(folder_ + "/report.json", 64 << 20));
  }
  std::string folder_;
};

TEST_F(ReportTest, JsonHoldsWhatTheVerdictIsAbout) {
  RunBuilder b;
  b.run.not_gated = {"framework"};
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage, "3 differ \xff \x1b[31m\"<>"), Layer::kConvolution);
  CasePlanned& planned = b.Plan("conv.b");
  planned.params = {
      {"dtype", std::string("float16")}, {"pad", int64_t{0}}, {"x", std::vector<int64_t>{1, 2}}};
  b.Add(AttemptStarted{{"conv.b", ""}, 1, 1, AttemptMode::kAlone});
  b.Add(Measured{{"conv.b", ""}, "time", 1.25, "ms", "lower"}).Add(StepReached{{"conv.b", ""}, "algo=1"});
  b.Add(AttemptFinished{{"conv.b", ""}, 1, 1, Passed{}, 0.5, "", ""});
  b.Add(CaseFinished{{"conv.b", ""}, Passed{}, 0.5, {Flag::kSlow}});
  const nlohmann::json report = Written(b.Summarize());
  EXPECT_EQ(report["schema"], "cudnn-ci/report/1");
  EXPECT_EQ(report["verdict"], "failed");
  EXPECT_EQ(report["blame"], "image");
  EXPECT_EQ(report["exit_code"], 1);
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["root_cause"]["slug"], "wrong-value");
  EXPECT_EQ(report["root_cause"]["case"], "conv.a");
  EXPECT_EQ(report["judged"]["image"], "registry.example/train:12.4");
  EXPECT_EQ(report["judged"]["driver"], "580.65.06");
  EXPECT_EQ(report["judged"]["gpu"][0]["model"], "NVIDIA H200");
  EXPECT_EQ(report["judged"]["subjects"][0]["cudnn"], "9.1.0");
  EXPECT_EQ(report["judged"]["matrix"]["sha256"], b.run.matrix_sha256);
  EXPECT_EQ(report["not_gated"][0], "framework");
  EXPECT_EQ(report["totals"]["planned"], 2);
  EXPECT_EQ(report["totals"]["failed"], 1);
  EXPECT_EQ(report["facts"]["system"]["toolkit.version"], "12.4");
  ASSERT_EQ(report["cases"].size(), 2u);
  EXPECT_EQ(report["cases"][0]["findings"][0]["blame"], "image");
  EXPECT_EQ(report["cases"][0]["outcome"], "failed");
  const nlohmann::json& second = report["cases"][1];
  EXPECT_EQ(second["params"]["x"], nlohmann::json({1, 2}));
  EXPECT_EQ(second["measurements"][0]["value"], 1.25);
  EXPECT_EQ(second["steps"][0], "algo=1");
  EXPECT_EQ(second["flags"][0], "slow");
  EXPECT_EQ(second["reproduce"], "cudnn-ci --matrix matrices/cu12.json --case conv.b");
}

TEST_F(ReportTest, JsonOfAPassHasNoRootCause) {
  RunBuilder b;
  b.Pass("conv.a");
  const nlohmann::json report = Written(b.Summarize());
  EXPECT_TRUE(report["root_cause"].is_null());
  EXPECT_TRUE(report["blame"].is_null());
  EXPECT_EQ(report["exit_code"], 0);
}

TEST_F(ReportTest, JsonOfNothingIsStillAReport) { EXPECT_EQ(Written(Summary{})["verdict"], "inconclusive"); }

TEST_F(ReportTest, JsonLeavesNoHalfFileBehind) {
  std::filesystem::create_directories(folder_ + "/report.json");  // a folder stands in the way
  EXPECT_FALSE(WriteJsonReport(Summary{}, folder_ + "/report.json").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_FALSE(WriteJsonReport(Summary{}, folder_ + "/gone/report.json").ok());
}

// Counts its calls; fails from the given one on.
class Probe : public Reporter {
 public:
  Probe(int* calls, int fail_at) : calls_(calls), fail_at_(fail_at) {}
  const char* name() const override { return "probe"; }
  Status OnEvent(const Event&, const Summary&) override { return Call(); }
  Status OnTick(int64_t, const Summary&) override { return Call(); }
  Status Finish(const Summary&) override { return Call(); }

 private:
  Status Call() { return ++*calls_ == fail_at_ ? Status(Error{"disk full"}) : Status(); }
  int* calls_;
  int fail_at_;
};

TEST(FanoutTest, OneThatFailsIsToldNoMoreAndSilencesNobody) {
  RunBuilder b;
  b.Pass("conv.a");
  int failing = 0, healthy = 0;
  Fanout fanout;
  fanout.Add(std::make_unique<Probe>(&failing, 2));
  fanout.Add(std::make_unique<Probe>(&healthy, 0));
  for (const Event& event : b.Events()) fanout.OnEvent(event);
  fanout.OnTick(1);
  fanout.Finish();
  EXPECT_EQ(failing, 2);
  EXPECT_EQ(healthy, static_cast<int>(b.Events().size()) + 2);
  EXPECT_EQ(fanout.failures(), std::vector<std::string>{"probe: disk full"});
  EXPECT_EQ(Judge(fanout.summary()).exit_code, 5);
}

TEST_F(ReportTest, RebuildingARunThatWasKilledIsNeverGreen) {
  RunBuilder b;
  b.finished = false;
  b.Pass("conv.a");
  RebuildOptions options;
  options.junit_path = folder_ + "/junit.xml";
  options.json_path = folder_ + "/report.json";
  const Status status = RebuildReports(b.Events(), options);
  ASSERT_TRUE(status.ok()) << status.error();
  const auto report = nlohmann::json::parse(ReadSmallFile(options.json_path, 1 << 20));
  EXPECT_EQ(report["complete"], false);
  EXPECT_EQ(report["exit_code"], 6);
  EXPECT_NE(ReadSmallFile(options.junit_path, 1 << 20).find("undetermined.not-run"), std::string::npos);
}

TEST_F(ReportTest, RebuildingTriesEveryReport) {
  RunBuilder b;
  b.Pass("conv.a");
  RebuildOptions options;
  options.junit_path = folder_ + "/gone/junit.xml";
  options.json_path = folder_ + "/report.json";
  const Status status = RebuildReports(b.Events(), options);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("junit.xml"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(options.json_path));
}

}  // namespace
}  // namespace cudnn_ci
