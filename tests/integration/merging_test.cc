// Journals of several runs, put together by `cudnn-ci report`: what it refuses, what is red, and where things
// lie. That the merged report is that of one run is in reports_test.cc.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

// Runs that each leave their reports in a folder of their own.
class Merge : public testing::Test {
 protected:
  Merge() { run_.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8, 9]})")); }
  // Its journal.
  std::string Keep(const std::string& folder, const std::vector<std::string>& arguments) {
    EXPECT_EQ(run_.Run(arguments).exit_code, 0);
    fs::rename(run_.Path("report"), run_.Path(folder));
    return folder + "/journal.jsonl";
  }
  std::vector<std::string> ThreeShards() {
    std::vector<std::string> journals;
    for (const std::string number : {"1", "2", "3"})
      journals.push_back(Keep("shard-" + number, {"--shard", number + "/3"}));
    return journals;
  }
  GateResult Report(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"report", "--output-dir", "report"});
    return run_.Command(arguments);
  }
  GateRun run_;
};

TEST_F(Merge, ShardsAreGreenTogether) {
  const GateResult merged = Report(ThreeShards());
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_EQ(merged.report["verdict"], "passed");
  EXPECT_TRUE(merged.report["partial"].is_null());
  EXPECT_EQ(merged.report["cases"].size(), 9u);
  EXPECT_EQ(merged.report["run"]["merged"]["by"], "shards");
  EXPECT_EQ(merged.report["run"]["merged"]["parts"].size(), 3u);
  EXPECT_THAT(merged.out, HasSubstr("shards      3: passed 3;"));
  EXPECT_THAT(merged.out, Not(HasSubstr("partial")));
  EXPECT_FALSE(merged.junit.empty());
}

// Jobs that keep the image's name in a variable whose name says that it is secret.
TEST_F(Merge, TwoImagesAreTwoWhateverIsMasked) {
  std::vector<std::string> journals;
  for (const std::string number : {"1", "2"}) {
    const std::string image = "team/train@sha256:" + std::string(64, number[0]);
    run_.Set("CACHE_KEY", image);
    journals.push_back(Keep("shard-" + number, {"--shard", number + "/2", "--subject-image", image}));
    EXPECT_THAT(run_.Read(journals.back()), HasSubstr("\"image\":\"" + image + "\""));
  }
  const GateResult merged = Report(journals);
  EXPECT_EQ(merged.exit_code, 2) << merged.out;
  EXPECT_THAT(merged.err, HasSubstr("team/train@sha256:1"));
}

TEST_F(Merge, AMissingShardIsRedAndNamed) {
  std::vector<std::string> journals = ThreeShards();
  journals.erase(journals.begin() + 1);
  const GateResult merged = Report(journals);
  EXPECT_EQ(merged.exit_code, 6);
  EXPECT_EQ(merged.report["root_cause"]["slug"], "part-missing");
  EXPECT_THAT(merged.out, HasSubstr("shard 2/3 is missing"));
  EXPECT_THAT(merged.out, HasSubstr("missing 1 (2/3)"));
  EXPECT_EQ(merged.report["complete"], false);
}

// Two of three are lost, and the pattern of the pipeline finds one: that is no verdict on the image.
TEST_F(Merge, OneShardAloneIsRedButForItsOwnReports) {
  const std::string journal = Keep("one", {"--shard", "1/3"});
  const std::string before = run_.Read("one/report.json");
  EXPECT_EQ(run_.Command({"report", "--partial", journal}).exit_code, 0);
  EXPECT_EQ(run_.Read("one/report.json"), before);
  const GateResult alone = run_.Command({"report", journal});
  EXPECT_EQ(alone.exit_code, 6) << alone.out;
  const json root = json::parse(run_.Read("one/report.json"))["root_cause"];
  EXPECT_EQ(root["slug"], "part-missing");
  EXPECT_THAT(GateMessages(run_).Row("one of three", root["detail"]), HasSubstr(" 2/3 "));
}

TEST_F(Merge, AShardThatLeftAnEmptyJournalIsMissing) {
  std::vector<std::string> journals = ThreeShards();
  run_.Write(journals[2], "");
  const GateResult merged = Report(journals);
  EXPECT_EQ(merged.exit_code, 6);
  EXPECT_THAT(merged.err, HasSubstr("shard-3/journal.jsonl"));
  EXPECT_THAT(merged.out, HasSubstr("shard 3/3 is missing"));
  for (const std::string& journal : journals) run_.Write(journal, "");
  EXPECT_EQ(Report(journals).exit_code, 2);
}

TEST_F(Merge, AShardWhoseJournalIsTornIsRed) {
  std::vector<std::string> journals = ThreeShards();
  std::string text = run_.Read(journals[2]);
  text.resize(text.rfind("{\"v\":"));
  run_.Write(journals[2], text);
  const GateResult merged = Report(journals);
  EXPECT_EQ(merged.exit_code, 6);
  EXPECT_THAT(merged.out, HasSubstr("shard 3/3 (shard-3/journal.jsonl"));
}

TEST_F(Merge, WhatIsNotOfOneRunIsRefusedWithOneLineAndLeavesNoReport) {
  std::vector<std::string> journals = ThreeShards();
  EXPECT_EQ(Report(journals).exit_code, 0);
  const auto refused = [&](const std::vector<std::string>& of, const std::string& words) {
    const GateResult merged = Report(of);
    EXPECT_EQ(merged.exit_code, 2) << words;
    EXPECT_THAT(merged.err, HasSubstr(words));
    EXPECT_EQ(std::count(merged.err.begin(), merged.err.end(), '\n'), 1) << merged.err;
    for (const char* name : {"junit.xml", "report.json", "journal.jsonl"})
      EXPECT_FALSE(run_.Exists(std::string("report/") + name)) << words << name;
  };
  refused({journals[0], journals[1], journals[1]}, "shard 2/3");
  const std::string whole = Keep("whole", {});
  refused({journals[0], whole}, "whole");
  const std::string filtered = Keep("filtered", {"--shard", "3/3", "--filter", "*i=1*:*i=2*:*i=3*:*i=4*"});
  refused({journals[0], journals[1], filtered}, "different plans");
  const std::string of_four = Keep("four", {"--shard", "3/4"});
  refused({journals[0], journals[1], of_four}, "different runs");
  const std::string image = "team/x@sha256:" + std::string(64, 'b');
  const std::string of_image = Keep("image", {"--shard", "3/3", "--subject-image", image});
  refused({journals[0], journals[1], of_image}, "different images");
  run_.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8, 9]})") + "\n");
  const std::string of_matrix = Keep("matrix", {"--shard", "3/3"});
  refused({journals[0], journals[1], of_matrix}, "different matrices");
  run_.Write("edited", run_.Read(journals[2]).replace(20, 1, "x"));
  refused({journals[0], journals[1], "edited"}, "edited:1");
  for (const std::string& journal : journals) EXPECT_TRUE(run_.Exists(journal)) << "inputs stay";
}

TEST_F(Merge, AnInputIsNeverReplaced) {
  const std::vector<std::string> journals = ThreeShards();
  const std::string before = run_.Read(journals[0]);
  const GateResult merged =
      run_.Command({"report", "--output-dir", "shard-1", journals[0], journals[1], journals[2]});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(GateMessages(run_).Row("--output-dir shard-1", merged.err),
              HasSubstr(" shard-1/journal.jsonl "));
  EXPECT_EQ(run_.Read(journals[0]), before);
  EXPECT_TRUE(run_.Exists("shard-1/junit.xml"));
}

// The merged reports where those of a run lie already: nothing could make them again.
TEST_F(Merge, TheRecordOfARunIsNeverReplaced) {
  const std::vector<std::string> journals = ThreeShards();
  Keep("whole", {});
  const std::string before = run_.Read("whole/journal.jsonl");
  // Also where something else is wrong, which withdraws merged reports.
  GateMessages golden(run_);
  for (const std::string& second : {journals[1], std::string("nowhere.jsonl")}) {
    const GateResult merged =
        run_.Command({"report", "--output-dir", "whole", journals[0], second, journals[2]});
    EXPECT_EQ(merged.exit_code, 2);
    EXPECT_THAT(golden.Row(second, merged.err), HasSubstr(" whole/journal.jsonl "));
    EXPECT_EQ(run_.Read("whole/journal.jsonl"), before);
    for (const char* name : {"whole/junit.xml", "whole/report.json", "whole/report.html"})
      EXPECT_TRUE(run_.Exists(name)) << name;
  }
}

// One job of several has left no journal: what was merged before is not of today.
TEST_F(Merge, AMissingJournalOfSeveralLeavesNoMergedReports) {
  const std::vector<std::string> journals = ThreeShards();
  EXPECT_EQ(Report(journals).exit_code, 0);
  EXPECT_EQ(Report({journals[0], journals[1], "nowhere.jsonl"}).exit_code, 2);
  for (const char* name : {"junit.xml", "report.json", "report.html", "journal.jsonl"})
    EXPECT_FALSE(run_.Exists(std::string("report/") + name)) << name;
}

TEST_F(Merge, AttachmentsAreFoundFromTheMergedReport) {
  run_.Matrix(Entry("fixture.reports") + ", " +
              Entry("fixture.pass", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8, 9]})"));
  const GateResult merged = Report(ThreeShards());
  const json reports = merged.Case("fixture.reports");
  ASSERT_FALSE(reports.is_null());
  const std::string path = reports["attachments"][0]["path"];
  EXPECT_THAT(path, testing::StartsWith("../shard-"));
  EXPECT_EQ(run_.Read("report/" + path), "attached text\n");
}

TEST_F(Merge, UsageThatMakesNoSense) {
  const std::vector<std::string> journals = ThreeShards();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--partial", journals[0], journals[1]},
                                             {"--partial", "--require", "t4", journals[0]},
                                             {"--require", "t4,,l4", journals[0]},
                                             {"--require", "t4,t4", journals[0]},
                                             {"--require", "t 4", journals[0]},
                                             {"--require", "t4"},
                                             {}}) {
    const GateResult result = Report(arguments);
    EXPECT_EQ(result.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(result.out, "");
  }
}

class MergeOfTypes : public Merge {
 protected:
  MergeOfTypes() {
    run_.UseFakeGpus(1);
    run_.Matrix(Entry("fixture.pass", R"("axes": {"i": [1, 2]})") + ", " + Entry("fixture.gpu_shared") +
                ", " + Entry("driver.canary"));
  }
  std::string On(const std::string& model, const std::vector<std::string>& arguments = {}) {
    run_.Set("FAKE_NAME", model);
    std::vector<std::string> all = {"--subject-image", "team/x@sha256:" + std::string(64, 'c')};
    all.insert(all.end(), arguments.begin(), arguments.end());
    run_.Run(all);
    const std::string folder = "run-" + std::to_string(++number_);
    fs::rename(run_.Path("report"), run_.Path(folder));
    return folder + "/journal.jsonl";
  }
  int number_ = 0;
};

TEST_F(MergeOfTypes, GreenOnEachIsGreenAndAMissingOneRed) {
  const std::string l4 = On("NVIDIA L4"), t4 = On("Tesla T4");
  const GateResult merged = Report({"--require", "T4,l4", l4, t4});
  EXPECT_EQ(merged.exit_code, 0) << merged.err << merged.out;
  EXPECT_THAT(merged.out, HasSubstr("on t4       passed: Tesla T4"));
  EXPECT_THAT(merged.out, HasSubstr("on l4       passed: NVIDIA L4"));
  EXPECT_EQ(merged.Outcome("fixture.gpu_shared[how=pass,i=0]@t4"), "passed");
  EXPECT_THAT(merged.junit, HasSubstr("fixture@l4"));
  const GateResult missing = Report({"--require", "t4,l4,h100", l4, t4});
  EXPECT_EQ(missing.exit_code, 6);
  EXPECT_THAT(missing.out, HasSubstr("on h100     missing"));
}

TEST_F(MergeOfTypes, ShowsInColumnsWhatDidNotPassEverywhere) {
  const std::string l4 = On("NVIDIA L4");
  run_.Set("FAKE_CANARY", "wrong");
  const std::string t4 = On("Tesla T4");
  const GateResult merged = Report({"--require", "l4,t4", l4, t4});
  EXPECT_EQ(merged.exit_code, 3) << merged.out;
  EXPECT_THAT(merged.out, HasSubstr("  l4       t4       case\n"));
  EXPECT_THAT(merged.out, HasSubstr("  passed   failed   driver.canary\n"));
  EXPECT_THAT(merged.out, Not(HasSubstr("passed   passed")));
  EXPECT_THAT(merged.out, HasSubstr("--case driver.canary\n")) << "as it is named on that machine";
}

TEST_F(MergeOfTypes, AFilteredRunIsNoneOfThem) {
  const GateResult merged = Report({"--require", "l4", On("NVIDIA L4", {"--filter", "fixture.pass*"})});
  EXPECT_EQ(merged.exit_code, 2);
  EXPECT_THAT(merged.err, HasSubstr("is partial (filtered)"));
}

TEST_F(Merge, APageShowsManyImages) {
  Keep("good", {});
  run_.Matrix(Entry("fixture.fail"));
  run_.Run();
  fs::rename(run_.Path("report"), run_.Path("bad"));
  fs::remove(run_.Path("bad/journal.jsonl"));  // only the report was kept
  const GateResult made =
      run_.Command({"report", "--page", "good", "bad", "nowhere", "--output-dir", "wall"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out, "wall/images.html: 3 images, 1 could not be read\n");
  const std::string page = run_.Read("wall/images.html");
  EXPECT_THAT(page, HasSubstr("1 of 3 passed"));
  EXPECT_THAT(page, HasSubstr("image.expectation-failed"));
  EXPECT_THAT(page, HasSubstr("unreadable"));
  EXPECT_EQ(run_.Command({"report", "--page", "good", "--output-dir", "wall"}).exit_code, 0)
      << "ours is replaced";
  run_.Write("wall/images.html", "<!DOCTYPE html>\n<p>mine");
  EXPECT_EQ(run_.Command({"report", "--page", "good", "--output-dir", "wall"}).exit_code, 2);
  EXPECT_EQ(run_.Read("wall/images.html"), "<!DOCTYPE html>\n<p>mine");
  EXPECT_EQ(run_.Command({"report", "--page", "nowhere"}).exit_code, 2);
  EXPECT_FALSE(run_.Exists("images.html"));
  EXPECT_EQ(run_.Command({"report", "--page", "--partial", "good"}).exit_code, 2);
  // Reports that would not be made.
  const std::pair<const char*, const char*> others[] = {
      {"--summary", "file"}, {"--attestation", "file"}, {"--junit-profile", "strict"}};
  for (const auto& [option, value] : others) {
    EXPECT_EQ(run_.Command({"report", "--page", "good", option, value}).exit_code, 2) << option;
    EXPECT_EQ(run_.Command({"report", option, value, "good", "--page"}).exit_code, 2) << option;
    EXPECT_EQ(run_.Command({option, value, "report", "good", "--page"}).exit_code, 2) << option;
    EXPECT_EQ(run_.Command({option, value, "report", "--page", "good"}).err,
              "cudnn-ci: --page excludes " + std::string(option) + "\n");
    EXPECT_FALSE(run_.Exists("images.html")) << option;
  }
}

// A list that does not come from the job matrix finds what the matrix lost.
TEST_F(Merge, EachImageThatIsExpectedMustHaveBeenJudged) {
  const std::string good = "team/good@sha256:" + std::string(64, 'a');
  Keep("good", {"--subject-image", good});
  const auto expect = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"report", "--output-dir", "wall"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_.Command(arguments);
  };
  const GateResult passed = expect({"--expect", "team/good", "good"});
  EXPECT_EQ(passed.exit_code, 0) << passed.err;
  EXPECT_EQ(passed.out, "passed       team/good\nverdict: passed (exit 0)\n");
  EXPECT_THAT(run_.Read("wall/images.xml"), HasSubstr("tests=\"1\" failures=\"0\" errors=\"0\""));
  const GateResult missing = expect({"--expect", "team/good,team/lost:1", "good", "nowhere"});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_EQ(
      missing.out,
      "passed       team/good\nmissing      team/lost:1  matrix.image-not-judged: no report is about it\n"
      "verdict: not_gated (exit 4)\n");
  EXPECT_EQ(missing.err, "cudnn-ci: nowhere: no such file or folder\n");
  const std::string junit = run_.Read("wall/images.xml");
  EXPECT_THAT(junit, HasSubstr("name=\"team/lost:1\" time=\"0.000\">\n            <error message="));
  EXPECT_THAT(junit, HasSubstr("type=\"matrix.image-not-judged\""));
  EXPECT_THAT(run_.Read("wall/images.html"), HasSubstr("1 of 2 passed"));
  EXPECT_EQ(expect({"--expect", "1"}).exit_code, 4) << "an empty matrix leaves no folder at all";
  EXPECT_EQ(expect({"--expect", "1", "good"}).exit_code, 0);
  // The launcher's word counts, not what the container left.
  run_.Write("good/launcher.json", R"({"schema": "cudnn-ci/launcher/1", "exit_code": 3, "confirmed": false,
      "reason": "runner.killed: from outside", "image": "team/good", "digest": ")" +
                                       good + "\"}");
  const GateResult unconfirmed = expect({"--expect", "team/good", "good"});
  EXPECT_EQ(unconfirmed.exit_code, 3);
  EXPECT_EQ(unconfirmed.out,
            "unconfirmed  team/good  runner.killed: from outside\nverdict: failed (exit 3)\n");
  EXPECT_EQ(expect({"--page", "good"}).exit_code, 2) << "and the page alone does not show it as green";
}

TEST_F(Merge, WhatIsNoListOfImagesIsRefused) {
  const std::pair<std::vector<std::string>, std::string> rows[] = {
      {{"--expect", ""}, "--expect: the name of an image is empty"},
      {{"--expect", "0", "good"}, "--expect: from 1 to 10000 images can be expected"},
      {{"--expect", "a,a", "good"}, "--expect: a is given twice"},
      {{"--expect", "a", "--require", "t4", "good"},
       "--require excludes --expect (see cudnn-ci report --help)"},
      {{"--expect", "a", "--summary", "file", "good"},
       "--summary excludes --expect (see cudnn-ci report --help)"},
      {{"--page"}, "JOURNAL is required (see cudnn-ci report --help)"},
  };
  for (std::pair<std::vector<std::string>, std::string> row : rows) {
    row.first.insert(row.first.begin(), "report");
    const GateResult refused = run_.Command(row.first);
    EXPECT_EQ(refused.exit_code, 2) << row.second;
    EXPECT_EQ(refused.err, "cudnn-ci: " + row.second + "\n");
    EXPECT_FALSE(run_.Exists("images.html"));
  }
  run_.Write("images.xml", "<mine/>");
  EXPECT_EQ(run_.Command({"report", "--expect", "a"}).exit_code, 2);
  EXPECT_EQ(run_.Read("images.xml"), "<mine/>");
}

TEST_F(Merge, AReportInThePlaceOfItsJournalCostsNoReport) {
  Keep("good", {});
  const GateResult refused = run_.Command({"report", "good/report.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("good/report.json: "), HasSubstr("journal.jsonl")));
  EXPECT_TRUE(run_.Exists("good/junit.xml"));
  EXPECT_TRUE(run_.Exists("good/report.html"));
}

TEST_F(Merge, TheHtmlReportIsTheSameFromTheRecord) {
  Keep("kept", {});
  const std::string before = run_.Read("kept/report.html");
  EXPECT_THAT(before, HasSubstr("<h1>PASSED: "));
  EXPECT_EQ(run_.Command({"report", "kept/journal.jsonl"}).exit_code, 0);
  EXPECT_NE(run_.Read("kept/report.html").find("\"spans\":[{"), std::string::npos)
      << "workers over time, too";
  const auto data = [](const std::string& html) { return html.substr(html.find("id=\"data\">")); };
  EXPECT_EQ(data(run_.Read("kept/report.html")), data(before));
}

}  // namespace
}  // namespace cudnn_ci
