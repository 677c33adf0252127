// `cudnn-ci waive`: the file that it writes opens the gate for what it names, and for nothing else.
#include <gmock/gmock.h>
#include <time.h>

#include <filesystem>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string DayFromNow(int days) {
  const time_t then = time(nullptr) + time_t{86400} * days;
  tm parts{};
  gmtime_r(&then, &parts);
  char day[16];
  return std::string(day, strftime(day, sizeof day, "%Y-%m-%d", &parts));
}

class Waive : public testing::Test {
 protected:
  Waive() {
    run_.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.fail") + ", " +
                Entry("fixture.finding", R"("params": {"slug": "image"})"));
  }
  GateResult Write(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"waive", "--owner", "me", "--days", "30"};
    words.insert(words.end(), more.begin(), more.end());
    return run_.Command(words);
  }
  // The same plan, judged by what was written.
  int CodeWith(const std::string& file) {
    return run_.Command({"--matrix", file, "--output-dir", "second"}).exit_code;
  }
  GateRun run_;
};

TEST_F(Waive, WhatItWritesOpensTheGate) {
  EXPECT_EQ(run_.Run().exit_code, 1);
  const GateResult result = Write({"report/journal.jsonl", "waived.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const std::string last = DayFromNow(30), before = DayFromNow(29);
  EXPECT_TRUE(result.out == "wrote waived.json: 2 waivers until " + last +
                                "; read it, then: cudnn-ci --matrix waived.json\n" ||
              result.out.find(before) != std::string::npos)
      << result.out;
  EXPECT_EQ(CodeWith("waived.json"), 0);
  const json report = json::parse(run_.Read("second/report.json"));
  EXPECT_EQ(report["totals"]["waived"], 2);
  EXPECT_THAT(run_.Read("waived.json"), HasSubstr("\"owner\": \"me\""));
  EXPECT_THAT(run_.Read("waived.json"), HasSubstr("\"slug\": \"image.expectation-failed\""));
  EXPECT_EQ(report["cases"][0].count("waived"), 0u) << "a pass needs none";
}

TEST_F(Waive, ReportAndJournalSayTheSame) {
  run_.Run();
  const GateResult journal = Write({"report/journal.jsonl"}), report = Write({"report/report.json"});
  EXPECT_EQ(journal.exit_code, 0) << journal.err;
  const auto waivers = [](const std::string& text) { return text.substr(text.find('{')); };
  EXPECT_EQ(waivers(journal.out), waivers(report.out));
  EXPECT_THAT(journal.out, HasSubstr("\"extends\": \"matrix.json\""));
}

// What another GPU says of a failure decides about it: the check's own error does not count, and is not
// waived.
TEST_F(Waive, OfAGpuThatComputesWrongThatAloneIsWaived) {
  run_.UseFakeGpus(2);
  run_.Matrix(Entry("fixture.numbers", R"("params": {"here": "image", "there": "pass"})"));
  ASSERT_EQ(run_.Run().exit_code, 3);
  for (const char* record : {"report/report.json", "report/journal.jsonl"}) {
    const std::string text = Write({record}).out;
    const json matrix = json::parse(text.substr(text.find('{')));
    ASSERT_EQ(matrix["waivers"].size(), 1u) << record << text;
    EXPECT_EQ(matrix["waivers"][0]["slug"], "runner.gpu-computes-wrong") << record;
  }
}

// Without a device's name a waiver covers the case on every one.
TEST_F(Waive, AFailureOnTheFirstGpuIsWaivedThereAlone) {
  run_.UseFakeGpus(2);
  run_.Matrix(Entry("fixture.numbers", R"("params": {"here": "image", "there": "pass"})"));
  ASSERT_EQ(run_.Run({"--device", "all"}).exit_code, 3);
  for (const char* record : {"report/report.json", "report/journal.jsonl"}) {
    const std::string text = Write({record}).out;
    const json waivers = json::parse(text.substr(text.find('{')))["waivers"];
    ASSERT_EQ(waivers.size(), 1u) << record << text;
    EXPECT_THAT(waivers[0]["case"].get<std::string>(), testing::EndsWith("]@gpu0")) << record;
  }
  EXPECT_EQ(Write({"report/journal.jsonl", "first.json"}).exit_code, 0);
  const GateResult waived =
      run_.Command({"--matrix", "first.json", "--output-dir", "report", "--device", "all"});
  EXPECT_EQ(waived.exit_code, 0) << waived.out;
  EXPECT_EQ(json::parse(run_.Read("report/report.json"))["warning_codes"], json::array());
}

// The launcher's container has places that this machine has not.
TEST_F(Waive, AMatrixThatIsNotHereIsNamedAndTold) {
  run_.Run();
  json report = json::parse(run_.Read("report/report.json"));
  report["judged"]["matrix"]["path"] = "/cudnn-ci-matrix/own.json";
  run_.Write("report/moved.json", report.dump());
  const GateResult own = Write({"report/moved.json", "there.json"});
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_THAT(run_.Read("there.json"), HasSubstr("\"extends\": \"own.json\""));
  EXPECT_THAT(GateMessages(run_).Row("own.json", own.err), HasSubstr(" /cudnn-ci-matrix/own.json,"));
}

// The same of a matrix that comes with cudnn-ci, unless it is another of the same name.
TEST_F(Waive, AShippedMatrixThatIsNotHereIsNamedIfItIsThatOne) {
  std::filesystem::copy(CUDNN_CI_TREE, run_.Path("tree"), std::filesystem::copy_options::recursive);
  std::filesystem::copy(run_.Path("matrix.json"), run_.Path("tree/matrices/cu12.json"));
  run_.UseExecutable(run_.Path("tree/bin/cudnn-ci"));
  run_.Run();
  json report = json::parse(run_.Read("report/report.json"));
  report["judged"]["matrix"]["path"] = "/opt/cudnn-ci/matrices/cu12.json";
  run_.Write("report/moved.json", report.dump());
  const GateResult shipped = Write({"report/moved.json"});
  EXPECT_THAT(shipped.out, HasSubstr("\"extends\": \"builtin:cu12\""));
  EXPECT_EQ(shipped.err, "");
  report["judged"]["matrix"]["sha256"] = std::string(64, '0');
  run_.Write("report/moved.json", report.dump());
  const GateResult own = Write({"report/moved.json"});
  EXPECT_THAT(own.out, HasSubstr("\"extends\": \"cu12.json\""));
  EXPECT_THAT(GateMessages(run_).Row("another cu12.json", own.err),
              HasSubstr(" /opt/cudnn-ci/matrices/cu12.json,"));
}

// What was typed is no file, in this folder or beside the new one.
TEST_F(Waive, AfterAMatrixThatWasNamedItIsNamed) {
  std::filesystem::copy(CUDNN_CI_TREE, run_.Path("tree"), std::filesystem::copy_options::recursive);
  std::filesystem::copy(run_.Path("matrix.json"), run_.Path("tree/matrices/cu13.json"));
  run_.UseExecutable(run_.Path("tree/bin/cudnn-ci"));
  for (const std::string name : {"cu13", "builtin:cu13"}) {
    EXPECT_EQ(run_.Command({"--matrix", name, "--output-dir", "first"}).exit_code, 1);
    const GateResult written = Write({"first/report.json", "waived-" + name + ".json"});
    EXPECT_EQ(written.err, "");
    EXPECT_THAT(run_.Read("waived-" + name + ".json"), HasSubstr("\"extends\": \"builtin:cu13\""));
    EXPECT_EQ(CodeWith("waived-" + name + ".json"), 0);
  }
}

TEST_F(Waive, OneCaseAloneLeavesTheOthersRed) {
  run_.Run();
  EXPECT_EQ(
      Write({"report/report.json", "one.json", "--case", "fixture.fail[i=0]", "--reason", "a \"known\" one"})
          .exit_code,
      0);
  EXPECT_EQ(CodeWith("one.json"), 1);
  EXPECT_THAT(run_.Read("one.json"), HasSubstr(R"("reason": "a \"known\" one")"));
  EXPECT_THAT(run_.Read("one.json"), Not(HasSubstr("fixture.finding")));
  const GateResult none = Write({"report/report.json", "--case", "fixture.nowhere"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--case fixture.nowhere: "));
}

TEST_F(Waive, WhatNoWaiverExcusesIsTold) {
  run_.Set("FIXTURE_STACK", "cudnn=fail");
  run_.Matrix(Entry("fixture.convolution", R"("params": {"i": 1})"));
  EXPECT_EQ(run_.Run().exit_code, 1);
  const GateResult result = Write({"report/report.json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("\"fixture.cudnn\""));
  EXPECT_THAT(result.out, Not(HasSubstr("fixture.convolution")));
  EXPECT_EQ(result.err, "cudnn-ci: no waiver can excuse fixture.convolution[i=1] (blocked)\n");
}

TEST_F(Waive, WhatIsWaivedAlreadyOrPassedNeedsNone) {
  run_.Matrix(Entry("fixture.pass"));
  EXPECT_EQ(run_.Run().exit_code, 0);
  const GateResult nothing = Write({"report/report.json"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_EQ(nothing.out, "");
  GateMessages(run_).Row("a green run", nothing.err);
}

TEST_F(Waive, NeverReplacesAFileAndNeedsAnOwnerAndAnEnd) {
  run_.Run();
  run_.Write("there.json", "somebody's");
  EXPECT_EQ(Write({"report/report.json", "there.json"}).exit_code, 2);
  EXPECT_EQ(run_.Read("there.json"), "somebody's");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"waive", "report/report.json", "--days", "3"},
        {"waive", "report/report.json", "--owner", "me"},
        {"waive", "report/report.json", "--owner", "me", "--days", "0"},
        {"waive", "report/report.json", "--owner", "me", "--days", "367"},
        {"waive", "report/report.json", "--owner", "", "--days", "3"},
        {"waive", "report/report.json", "--owner", "a\nb", "--days", "3"},
        {"waive", "nowhere.json", "--owner", "me", "--days", "3"}}) {
    const GateResult result = run_.Command(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace cudnn_ci
