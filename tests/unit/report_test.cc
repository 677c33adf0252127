// report.json, the fan-out, and reports made again from the record.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "model/record/notice_list.h"
#include "model/record/table.h"
#include "report/formats/formats.h"
#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "report/formats/stream_report.h"
#include "report/record/journal.h"
#include "report/record/own_reports.h"
#include "review/rebuild.h"
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

TEST_F(ReportTest, JsonHasCodesOfAPartialRunThatWasCancelled) {
  RunBuilder b;
  const std::vector<std::string> disturbing = {"a.static", "b.filtered"};
  b.run.partial = {{NoticeCode::kFiltered},
                   {NoticeCode::kShard, {{"index", int64_t{2}}, {"count", int64_t{4}}}},
                   {NoticeCode::kWithoutDisturb, {{"checks", disturbing}}},
                   {NoticeCode::kRerun}};
  b.run.not_gated = {{NoticeCode::kGpuNotUsed, {{"gpu", "gpu1"}, {"model", "NVIDIA H200"}}},
                     OtherNotice("new words")};
  b.run.warnings = {{NoticeCode::kWaiverWithoutCase, {{"place", "m.json:1:2"}, {"pattern", "x"}}}};
  b.Plan("conv.waits");
  b.Add(RunCancelled{CancelReason::kTimeLimit, 0});
  const nlohmann::json report = Written(b.Summarize());
  EXPECT_EQ(report["partial_codes"], nlohmann::json({"filtered", "shard", "without-disturb", "rerun"}));
  EXPECT_EQ(report["partial"], PartialText(b.run.partial));
  EXPECT_EQ(report["not_gated"][0], SentenceOf(b.run.not_gated[0]));
  EXPECT_EQ(report["warnings"][0], "m.json:1:2: the waiver for \"x\" matches no case");
  EXPECT_EQ(report["partial_notices"][1],
            nlohmann::json::parse(R"({"code":"shard","args":{"count":4,"index":2}})"));
  EXPECT_EQ(report["partial_notices"][2]["args"]["checks"], nlohmann::json(disturbing));
  EXPECT_EQ(report["not_gated_notices"][1],
            nlohmann::json::parse(R"({"code":"other","args":{"text":"new words"}})"));
  EXPECT_EQ(report["run"]["cancelled_code"], "time-limit");
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

// Notes what it was called for; the call of that number fails.
class Probe : public Reporter {
 public:
  Probe(std::vector<std::string>* calls, int fail_at) : calls_(calls), fail_at_(fail_at) {}
  const char* name() const override { return "probe"; }
  Status OnEvent(const Event& event, const Summary&) override { return Call(Name(event.body)); }
  Status OnTick(int64_t, const Summary&) override { return Call("tick"); }
  Status Finish(const Summary& summary) override {
    return Call(Judge(summary).exit_code == 0 ? "green" : "red");
  }
  void Withdraw() override { calls_->push_back("withdrawn"); }

 private:
  Status Call(const std::string& what) {
    calls_->push_back(what);
    return ++count_ == fail_at_ ? Status(Error{"disk full"}) : Status();
  }
  std::vector<std::string>* calls_;
  int fail_at_, count_ = 0;
};

class FanoutTest : public testing::Test {
 protected:
  using Calls = std::vector<std::string>;
  void Add(Calls* calls, int fail_at = 0) { fanout_.Add(std::make_unique<Probe>(calls, fail_at)); }
  void Play() {
    RunBuilder b;
    b.Pass("conv.a");
    for (const Event& event : b.Events()) fanout_.Emit(event.t_ms, event.body);
  }
  Fanout fanout_;
};

TEST_F(FanoutTest, OneThatFailsIsToldNoMoreAndSilencesNobody) {
  Calls failing, healthy;
  Add(&failing, 2);
  Add(&healthy);
  Play();
  fanout_.OnTick(1);
  fanout_.Finish();
  EXPECT_EQ(failing, Calls({"RunStarted", "CasePlanned"}));
  EXPECT_EQ(healthy, Calls({"RunStarted", "CasePlanned", "Finding", "PlanEnd", "AttemptStarted",
                            "AttemptFinished", "CaseFinished", "RunFinished", "tick", "red"}));
  EXPECT_EQ(fanout_.failures(), std::vector<std::string>{"probe: disk full"});
  EXPECT_EQ(fanout_.summary().report_failure, "probe: disk full");
  EXPECT_EQ(Judge(fanout_.summary()).exit_code, 5);
}

// In clean text a secret stands whole.
TEST_F(FanoutTest, ASecretDoesNotHideBetweenTerminalSequences) {
  const std::string half(18, 'a');
  fanout_.Emit(1, DeviceLost{"gpu0", "ghp_" + half + "\x1b[0m" + half});
  EXPECT_EQ(fanout_.summary().devices_lost.at(0).reason, "[masked token]");
}

// A run that hangs afterwards has it in its journal all the same.
TEST_F(FanoutTest, OneThatFailsBetweenEventsIsToldAtOnce) {
  Calls healthy, failing;
  Add(&healthy);
  Add(&failing, 8);
  Play();
  healthy.clear();
  fanout_.OnTick(1);
  EXPECT_EQ(failing.back(), "tick");
  EXPECT_EQ(healthy, Calls({"tick", "Finding"}));
}

TEST_F(FanoutTest, WhatWasGreenBeforeAnotherFailedIsFinishedAgain) {
  Calls first, failing, last;
  Add(&first);
  Add(&failing, 8);
  Add(&last);
  Play();
  ASSERT_EQ(failing.size(), 7u);
  first.clear(), last.clear();
  fanout_.Finish();
  EXPECT_EQ(first, Calls({"green", "Finding", "red"}));
  EXPECT_EQ(last, Calls({"Finding", "red"}));
}

TEST_F(FanoutTest, AGreenReportThatCannotBeMadeRedIsWithdrawn) {
  Calls green, failing;
  Add(&green, 10);  // seven events, green, the failure of the other, and then red
  Add(&failing, 8);
  Play();
  green.clear();
  fanout_.Finish();
  EXPECT_EQ(green, Calls({"green", "Finding", "red", "withdrawn"}));
  EXPECT_EQ(fanout_.failures().size(), 2u);
}

// What is in a file, published by somebody else.
TEST_F(ReportTest, AReportForADescriptorIsHandedOutOnce) {
  const std::string file = folder_ + "/for-stdout", out = folder_ + "/out";
  const Fd fd(open(out.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(fd.valid());
  RunBuilder b;
  b.Pass("conv.a");
  StreamReporter reporter(std::make_unique<JsonReporter>(file), file, kInJson, fd.get());
  ASSERT_TRUE(reporter.Finish(b.Summarize()).ok());
  EXPECT_EQ(ReadSmallFile(out, 1 << 20), ReadSmallFile(file, 1 << 20));
  EXPECT_NE(ReadSmallFile(out, 1 << 20), "");
  EXPECT_FALSE(reporter.Finish(b.Summarize()).ok()) << "what was handed out cannot be taken back";
  EXPECT_EQ(ReadSmallFile(out, 1 << 20), ReadSmallFile(file, 1 << 20));
}

// What a reader of XML sees of a colon and a number sign.
std::string WithoutReferences(std::string xml) {
  for (const auto& [reference, character] : {std::pair("&#58;", ":"), std::pair("&#35;", "#")})
    for (size_t at = xml.find(reference); at != std::string::npos; at = xml.find(reference, at))
      xml.replace(at, 5, character);
  return xml;
}

// What the script of a page reads.
std::string DataOf(const std::string& page) {
  const size_t begin = page.find("id=\"data\">");
  return page.substr(begin, page.find("</script>", begin) - begin);
}

// A pipeline reads what goes to standard output. What a report says stays what it was.
TEST_F(ReportTest, AReportForADescriptorHasNoCommandsToAPipeline) {
  const std::string said =
      "x ##vso[task.complete result=Succeeded;]\n\t::error::owned\n##[group]\n##teamcity[x]";
  RunBuilder b;
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage, said));
  const Summary summary = b.Summarize();
  for (const char* name : {"json", "junit", "html", "summary"}) {
    const std::string file = folder_ + "/for-stdout", out = folder_ + "/out-" + name;
    const Fd fd(open(out.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    for (auto& inner : MakeReporters({{name, file}}, {})) {
      StreamReporter reporter(std::move(inner), file, ReportFormatOf(name).spelling, fd.get());
      ASSERT_TRUE(reporter.Finish(summary).ok());
    }
    const std::string printed = ReadSmallFile(out, 1 << 20), written = ReadSmallFile(file, 1 << 20);
    EXPECT_EQ(WithoutPipelineCommands(printed), printed) << name;
    if (name == std::string("summary")) continue;  // spelled as on the console
    if (name == std::string("html")) {
      EXPECT_EQ(DataOf(printed), DataOf(written)) << "of a script";
    }
    EXPECT_NE(printed.find("owned"), std::string::npos) << name << "\n" << printed;
    EXPECT_NE(WithoutPipelineCommands(written), written) << name;
    if (name == std::string("json"))
      EXPECT_EQ(nlohmann::json::parse(printed), nlohmann::json::parse(written));
    else
      EXPECT_EQ(WithoutReferences(printed), written);
  }
}

TEST_F(ReportTest, ADescriptorThatTakesNothingIsAFailure) {
  const std::string file = folder_ + "/for-stdout";
  const Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  RunBuilder b;
  b.Pass("conv.a");
  StreamReporter reporter(std::make_unique<JsonReporter>(file), file, kInJson, full.get());
  EXPECT_FALSE(reporter.Finish(b.Summarize()).ok());
  // Of a closed one that is known from the start.
  StreamReporter closed(std::make_unique<JsonReporter>(file), file, kInJson, -1);
  EXPECT_NE(closed.OnEvent(b.Events().front(), b.Summarize()).error().find("closed"), std::string::npos);
}

TEST_F(ReportTest, InOnePartMeansHoweverManyCases) {
  RunBuilder b;
  for (int i = 0; i < 5001; ++i) b.Pass("conv.a" + std::to_string(i));
  const Summary summary = b.Summarize();
  for (const bool in_one_part : {false, true}) {
    const std::string file = folder_ + (in_one_part ? "/one.xml" : "/first.xml");
    ReportSettings settings;
    settings.in_one_part = in_one_part;
    for (auto& reporter : MakeReporters({{"junit", file}}, settings))
      ASSERT_TRUE(reporter->Finish(summary).ok());
    EXPECT_EQ(ReadSmallFile(file, 64 << 20).find("a5000") != std::string::npos, in_one_part);
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/first-2.xml"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/one-2.xml"));
}

TEST_F(ReportTest, AWithdrawnReportIsGone) {
  RunBuilder b;
  b.Pass("conv.a");
  const std::string json = folder_ + "/report.json", junit = folder_ + "/junit.xml";
  JsonReporter json_reporter(json);
  JunitReporter junit_reporter(junit, {});
  for (Reporter* reporter : std::initializer_list<Reporter*>{&json_reporter, &junit_reporter}) {
    ASSERT_TRUE(reporter->Finish(b.Summarize()).ok());
    reporter->Withdraw();
  }
  EXPECT_FALSE(std::filesystem::exists(json));
  EXPECT_FALSE(std::filesystem::exists(junit));
}

TEST_F(ReportTest, EveryFormatIsKnownByWhatItWrites) {
  RunBuilder b;
  b.run.image = "train@sha256:" + std::string(64, 'a');  // else there is no statement
  b.Pass("conv.a");
  for (const ReportFormat& format : ReportFormats()) {
    const std::string path = folder_ + "/" + format.name;
    const std::unique_ptr<Reporter> reporter = format.make(path, {});
    EXPECT_STREQ(reporter->name(), format.name);
    ASSERT_TRUE(reporter->Finish(b.Summarize()).ok()) << format.name;
    const std::string head = ReadSmallFile(path, 200);
    EXPECT_EQ(FormatOfHead(head), format.name);
    EXPECT_TRUE(IsOwnReport(path)) << path;
  }
}

TEST_F(ReportTest, AReportIsKnownByItsHeadAlone) {
  const auto is_own = [&](const std::string& content) {
    const std::string path = folder_ + "/file";
    EXPECT_TRUE(WriteFileAtomically(path, content).ok());
    return IsOwnReport(path);
  };
  RunBuilder b;
  b.Pass("conv.a");
  Written(b.Summarize());
  EXPECT_TRUE(IsOwnReport(folder_ + "/report.json"));
  ASSERT_TRUE(JunitReporter(folder_ + "/junit.xml", {}).Open().ok());
  EXPECT_TRUE(IsOwnReport(folder_ + "/junit.xml"));
  std::string chain;
  EXPECT_TRUE(is_own(EncodeEvent(b.Events()[0], &chain)));
  EXPECT_TRUE(is_own(""));
  EXPECT_FALSE(is_own("x"));
  EXPECT_FALSE(is_own("{\"schema\": \"cudnn-ci/matrix/1\", \"name\": \"cudnn-ci/report/1\"}"));
  EXPECT_FALSE(is_own("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cudnn-ci\"/>"));
  EXPECT_FALSE(is_own("<testsuites><!--cudnn-ci report--></testsuites>"));
  EXPECT_FALSE(IsOwnReport(folder_)) << "a folder";
  std::filesystem::create_symlink(folder_ + "/junit.xml", folder_ + "/link");
  EXPECT_FALSE(IsOwnReport(folder_ + "/link"));
}

TEST_F(ReportTest, OnlyAttachmentsInTheFolderItselfAreNamed) {
  RunBuilder b;
  b.Plan("conv.a");
  const std::vector<std::string> paths = {"attachments/2-b", "attachments/1-a", "attachments/../x",
                                          "attachments/",    "attachments/d/e", "/etc/passwd",
                                          "attachments/..",  "junit.xml",       "attachments/1-a"};
  for (const std::string& path : paths) b.Add(Attached{{"conv.a", ""}, "n", "text/plain", path});
  std::string chain, text;
  for (const Event& event : b.Events()) text += EncodeEvent(event, &chain);
  const std::string journal = folder_ + "/journal.jsonl";
  ASSERT_TRUE(WriteFileAtomically(journal, text + "{\"v\":\"journal/2\",\"Attachment\" torn").ok());
  EXPECT_EQ(AttachmentsNamedBy(journal), std::vector<std::string>({"attachments/2-b", "attachments/1-a"}));
  ASSERT_TRUE(WriteFileAtomically(journal, "somebody's\n" + text).ok());
  EXPECT_TRUE(AttachmentsNamedBy(journal).empty());
}

// Anybody may have written the journal of an earlier run.
TEST_F(ReportTest, AnEarlierJournalIsReadWithinBounds) {
  const std::string head = R"({"v":"journal/2","ev":"Attachment","path":"attachments/)";
  const std::string nested = std::string(100, '[') + std::string(100, ']');
  std::string text = head + "1-a\"}\n" + head + "2-deep\",\"x\":" + nested + "}\n" + head +
                     "3-long\",\"x\":\"" + std::string(kMostEarlierLine, 'x') + "\"}\n" + head +
                     "4-b\"}\n\"Attachment\"" + std::string(1 << 20, '[') + "\n" + head +
                     "6-table\",\"table\":\"" + std::string(kMostTableBytes, 'x') + "\"}\n";
  for (size_t i = 0; i < kMostEarlierAttachments + 5; ++i) text += head + "5-" + std::to_string(i) + "\"}\n";
  const std::string journal = folder_ + "/journal.jsonl";
  ASSERT_TRUE(WriteFileAtomically(journal, text).ok());
  const std::vector<std::string> named = AttachmentsNamedBy(journal);
  EXPECT_EQ(named.size(), kMostEarlierAttachments);
  const auto has = [&](const std::string& name) {
    return std::count(named.begin(), named.end(), "attachments/" + name) > 0;
  };
  EXPECT_TRUE(has("1-a"));
  EXPECT_FALSE(has("2-deep"));
  EXPECT_FALSE(has("3-long"));
  EXPECT_TRUE(has("4-b")) << "behind a line that is passed over";
  EXPECT_TRUE(has("6-table")) << "of the greatest table";
}

TEST_F(ReportTest, RebuildingARunThatWasKilledIsNeverGreen) {
  RunBuilder b;
  b.finished = false;
  b.Pass("conv.a");
  RebuildOptions options;
  options.paths["junit"] = folder_ + "/junit.xml";
  options.paths["json"] = folder_ + "/report.json";
  const Status status = RebuildReports(b.Events(), options);
  ASSERT_TRUE(status.ok()) << status.error();
  const auto report = nlohmann::json::parse(ReadSmallFile(options.paths["json"], 1 << 20));
  EXPECT_EQ(report["complete"], false);
  EXPECT_EQ(report["exit_code"], 6);
  EXPECT_NE(ReadSmallFile(options.paths["junit"], 1 << 20).find("undetermined.not-run"), std::string::npos);
}

TEST_F(ReportTest, RebuildingTriesEveryReport) {
  RunBuilder b;
  b.Pass("conv.a");
  RebuildOptions options;
  options.paths["junit"] = folder_ + "/gone/junit.xml";
  options.paths["json"] = folder_ + "/report.json";
  const Status status = RebuildReports(b.Events(), options);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("junit.xml"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(options.paths["json"]));
}

}  // namespace
}  // namespace cudnn_ci
