// `--rerun-failed`: what did not pass in the last run is run again, and what comes of it is no verdict on the
// whole.
#include <gmock/gmock.h>

#include <filesystem>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Rerun : public testing::Test {
 protected:
  // One case of each kind that matters: cudnn fails, and so blocks two; a skip that is allowed and one that
  // is not; a failure that is waived, an optional one, and passes.
  Rerun() {
    run_.Set("FIXTURE_STACK", "cudnn=fail");
    run_.Matrix(Entry("fixture.convolution", R"("axes": {"i": [1, 2]})") + ", " + Entry("fixture.pass") +
                    ", " + Entry("fixture.fail", R"("name": "known")") + ", " +
                    Entry("fixture.finding", R"("params": {"slug": "image"}, "required": false)") + ", " +
                    Entry("fixture.skip", R"("params": {"kind": "memory"}, "allow_skip": ["memory"])") +
                    ", " + Entry("fixture.skip", R"("params": {"kind": "absent"})"),
                20, R"(, "waivers": [{"case": "fixture.fail[*", "slug": "expectation-failed",
                        "reason": "known", "owner": "me", "expires": "2999-01-01"}])");
  }
  // The ids of the cases of a run but those that are needed by others.
  static std::vector<std::string> Asked(const GateResult& result) {
    std::vector<std::string> ids;
    for (const json& event : result.Events("CasePlanned"))
      if (!event.value("prerequisite", false)) ids.push_back(event["id"]);
    return ids;
  }
  GateRun run_;
};

TEST_F(Rerun, TakesWhatDidNotPassAndSaysThatItIsPartial) {
  EXPECT_EQ(run_.Run().exit_code, 1);
  const GateResult again = run_.Run({"--rerun-failed"});
  EXPECT_EQ(again.exit_code, 1) << again.err;
  for (const char* id : {"fixture.convolution[i=1]", "fixture.convolution[i=2]", "fixture.cudnn"})
    EXPECT_NE(again.Outcome(id), "") << id;
  std::string ids;
  for (const std::string& id : Asked(again)) ids += id + " ";
  EXPECT_THAT(ids, HasSubstr("fixture.finding["));
  EXPECT_THAT(ids, HasSubstr("fixture.skip[kind=absent"));
  EXPECT_THAT(ids, Not(HasSubstr("fixture.skip[kind=memory")));
  EXPECT_THAT(ids, Not(HasSubstr("fixture.pass")));
  EXPECT_THAT(ids, Not(HasSubstr("fixture.fail[")));
  EXPECT_EQ(again.report["partial_codes"], json({"filtered", "rerun"}));
  EXPECT_THAT(again.out, HasSubstr("partial: filtered, "));
}

TEST_F(Rerun, AGreenOneIsNoGreenRun) {
  run_.Matrix(Entry("fixture.convolution", R"("axes": {"i": [1, 2]})") + ", " + Entry("fixture.pass"));
  EXPECT_EQ(run_.Run().exit_code, 1);
  run_.Set("FIXTURE_STACK", "");
  const GateResult again = run_.Run({"--rerun-failed"});
  EXPECT_EQ(again.exit_code, 0) << again.out;
  EXPECT_EQ(again.Outcome("fixture.pass[i=0]"), "");
  EXPECT_FALSE(again.report["partial"].is_null());
  // The whole run is not comparable with it, and there is nothing left to run again.
  const std::string before = run_.Read("report/report.json");
  const GateResult nothing = run_.Run({"--rerun-failed"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(GateMessages(run_).Row("green", nothing.err), HasSubstr("passed"));
  EXPECT_EQ(run_.Read("report/report.json"), before) << "the record is an input";
}

TEST_F(Rerun, OfARerunIsOfWhatStillFails) {
  run_.Matrix(Entry("fixture.convolution", R"("axes": {"i": [1]})") + ", " + Entry("fixture.fail"));
  EXPECT_EQ(run_.Run().exit_code, 1);
  run_.Set("FIXTURE_STACK", "");
  EXPECT_EQ(run_.Run({"--rerun-failed"}).exit_code, 1);
  const GateResult third = run_.Run({"--rerun-failed"});
  EXPECT_EQ(third.exit_code, 1);
  EXPECT_EQ(third.report["cases"].size(), 1u);
  EXPECT_THAT(third.report["root_cause"]["reproduce"].get<std::string>(), Not(HasSubstr("--rerun-failed")));
  EXPECT_THAT(third.report["root_cause"]["reproduce"].get<std::string>(),
              HasSubstr("--case 'fixture.fail[i=0]'"));
}

TEST_F(Rerun, ReadsASingleReportToo) {
  const std::vector<std::string> own = {"--matrix", "matrix.json", "--json", "own.json"};
  EXPECT_EQ(run_.Command(own).exit_code, 1);
  std::vector<std::string> again = own;
  again.emplace_back("--rerun-failed");
  EXPECT_EQ(run_.Command(again).exit_code, 1);
  const json report = json::parse(run_.Read("own.json"));
  EXPECT_EQ(report["partial_codes"], json({"filtered", "rerun"}));
  for (const json& one : report["cases"]) EXPECT_NE(one["check"], "fixture.pass");
}

TEST_F(Rerun, ADryRunShowsThem) {
  EXPECT_EQ(run_.Run().exit_code, 1);
  const GateResult dry = run_.Run({"--dry-run", "--rerun-failed"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("fixture.convolution[i=1]\n"));
  EXPECT_THAT(dry.out, Not(HasSubstr("fixture.pass")));
}

TEST_F(Rerun, WithoutARecordItIsRefused) {
  const GateResult none = run_.Run({"--rerun-failed"});
  EXPECT_EQ(none.exit_code, 2);
  GateMessages golden(run_);
  EXPECT_THAT(golden.Row("no run", none.err), HasSubstr("--rerun-failed: "));
  EXPECT_EQ(run_.Run().exit_code, 1);
  // A run that was killed before its plan was recorded: what is behind the end would be forgotten.
  std::string journal = run_.Read("report/journal.jsonl");
  const size_t end = journal.find('\n', journal.find("\"ev\":\"CasePlanned\""));
  ASSERT_NE(end, std::string::npos);
  run_.Write("report/journal.jsonl", journal.substr(0, end + 1));
  const GateResult torn = run_.Run({"--rerun-failed"});
  EXPECT_EQ(torn.exit_code, 2);
  EXPECT_THAT(golden.Row("a torn one", torn.err), HasSubstr("report/journal.jsonl: "));
  EXPECT_TRUE(run_.Exists("report/journal.jsonl"));
}

TEST_F(Rerun, AMistypedMatrixDoesNotCostTheRecord) {
  EXPECT_EQ(run_.Run().exit_code, 1);
  const std::string before = run_.Read("report/journal.jsonl");
  const GateResult typo =
      run_.Command({"--matrix", "matirx.json", "--output-dir", "report", "--rerun-failed"});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_EQ(run_.Read("report/journal.jsonl"), before);
  EXPECT_TRUE(run_.Exists("report/report.json"));
}

// It could end green, in place of a record that is red.
TEST_F(Rerun, WhatIsGoneFromThePlanIsNotForgiven) {
  run_.Set("FIXTURE_STACK", "cudnn=fail");
  run_.Matrix(Entry("fixture.fail") + ", " + Entry("fixture.convolution", R"("params": {"i": 7})"));
  EXPECT_EQ(run_.Run().exit_code, 1);
  run_.Set("FIXTURE_STACK", "");
  run_.Matrix(Entry("fixture.convolution", R"("params": {"i": 7})"));
  const GateResult again = run_.Run({"--rerun-failed"});
  EXPECT_EQ(again.exit_code, 2) << again.out;
  GateMessages golden(run_);
  EXPECT_THAT(golden.Row("a case is gone", again.err), HasSubstr(": fixture.fail[i=0] "));
  EXPECT_FALSE(run_.Exists("report/junit.xml")) << "nothing green is left of it";
  run_.Set("FIXTURE_STACK", "cudnn=fail");
  EXPECT_EQ(run_.Run().exit_code, 1);
  run_.Set("FIXTURE_STACK", "");
  run_.Matrix(Entry("fixture.pass"));
  const GateResult none = run_.Run({"--rerun-failed"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(golden.Row("all are gone", none.err), HasSubstr("fixture.convolution[i=7]: "));
}

// It could end green, in place of a record that is red.
TEST_F(Rerun, WhatFailedOnAGpuThatIsNotAskedIsNotForgiven) {
  run_.UseFakeGpus(2);
  run_.Matrix(Entry("fixture.numbers", R"("params": {"here": "image", "there": "image"})"));
  const GateResult both = run_.Run({"--device", "all"});
  EXPECT_EQ(both.exit_code, 1) << both.out;
  const GateResult dry = run_.Run({"--rerun-failed", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 2) << dry.out;
  EXPECT_THAT(dry.err, ContainsRegex("@gpu1 .* gpu1"));
  EXPECT_EQ(run_.Run({"--rerun-failed", "--device", "all"}).exit_code, 1);
  EXPECT_EQ(run_.Run({"--rerun-failed"}).exit_code, 2);
}

TEST_F(Rerun, ChoosesAlone) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--case", "fixture.pass[i=0]"}, {"--filter", "*"}}) {
    std::vector<std::string> words = more;
    words.emplace_back("--rerun-failed");
    const GateResult result = run_.Run(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--rerun-failed selects"));
  }
}

}  // namespace
}  // namespace cudnn_ci
