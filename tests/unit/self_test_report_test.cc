// When self-test takes a fault for noticed, and which reports it believes.
#include "cli/self_test_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "golden_messages.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Fault kFault = {
    "broken", "something is broken",        "cudnn.load", InjectedBy::kLibraryPath, "", 1, "failed",
    "image",  "cudnn-sublibrary-unloadable"};

SeenReport Noticed() {
  SeenReport r;
  r.run_id = "20260101T000000Z-00000001";
  r.command_line = "cudnn-ci --matrix /tmp/cudnn-ci-x/broken/matrix.json";
  r.complete = true;
  r.exit_code = 1;
  r.root_cause = {"image", "cudnn-sublibrary-unloadable", "/injected/libcudnn_adv.so.9 is truncated"};
  r.cases = {{"cudnn.load[subject=system]", "cudnn.load", "failed", "", 0.1, {r.root_cause}}};
  return r;
}

std::string UnnoticedAfter(const std::function<void(SeenReport*)>& change) {
  SeenReport report = Noticed();
  change(&report);
  return Unnoticed(kFault, {{}, "", "/injected/"}, report, "cudnn.load[subject=system]");
}

TEST(SelfTestReport, AFaultIsNoticedOnlyAsTheTableHasIt) {
  EXPECT_THAT(UnnoticedAfter([](SeenReport*) {}), IsEmpty());
  const struct {
    const char* given;
    void (*change)(SeenReport* r);
    const char* argument;
  } rows[] = {
      {"exit 3", [](SeenReport* r) { r->exit_code = 3; }, "exit 3, image.cudnn-sublibrary-unloadable"},
      {"an error", [](SeenReport* r) { r->cases[0].outcome = "errored"; }, " errored"},
      {"no case", [](SeenReport* r) { r->cases.clear(); }, " missing"},
      {"another subject", [](SeenReport* r) { r->cases[0].id = "cudnn.load[subject=other]"; },
       " cudnn.load[subject=other] failed"},
      {"another blame", [](SeenReport* r) { r->root_cause.blame = "runner"; },
       "runner.cudnn-sublibrary-unloadable"},
      {"no root cause", [](SeenReport* r) { r->root_cause = {}; }, "no finding"},
      {"no finding of the case", [](SeenReport* r) { r->cases[0].errors.clear(); }, "(/injected/)"},
      {"another finding", [](SeenReport* r) { r->cases[0].errors[0].slug = "cudnn-missing"; },
       "(/injected/)"},
      {"another library", [](SeenReport* r) { r->cases[0].errors[0].detail = "/elsewhere"; }, "(/injected/)"},
  };
  GoldenMessages golden("self_test.txt");
  for (const auto& [given, change, argument] : rows)
    EXPECT_THAT(golden.Row(given, UnnoticedAfter(change)), HasSubstr(argument)) << given;
}

TEST(SelfTestReport, AFaultWithAMarkMustHaveStruck) {
  const Scratch scratch;
  const Injection injection = {{}, scratch.File("struck"), ""};
  const std::string id = "cudnn.load[subject=system]";
  EXPECT_THAT(GoldenMessages("self_test.txt").Row("no mark", Unnoticed(kFault, injection, Noticed(), id)),
              HasSubstr(": exit 1, image.cudnn-sublibrary-unloadable"));
  EXPECT_THAT(Unnoticed(kFault, {{}, scratch.Write("empty", ""), ""}, Noticed(), id),
              HasSubstr(": exit 1, image.cudnn-sublibrary-unloadable"));
  scratch.Write("struck", "!");
  EXPECT_THAT(Unnoticed(kFault, injection, Noticed(), id), IsEmpty());
}

TEST(SelfTestReport, OnlyAFinishedReportOfThisRunCounts) {
  SeenReport report = Noticed();
  EXPECT_THAT(ForeignReport(report, 1, "/tmp/cudnn-ci-x/broken"), IsEmpty());
  GoldenMessages golden("self_test.txt");
  EXPECT_NE(golden.Row("another folder", ForeignReport(report, 1, "/tmp/cudnn-ci-y/broken")), "");
  EXPECT_THAT(golden.Row("another exit status", ForeignReport(report, 0, "/tmp/cudnn-ci-x/broken")),
              testing::AllOf(HasSubstr("exit 1"), HasSubstr(" 0")));
  report.complete = false;
  EXPECT_NE(golden.Row("no end", ForeignReport(report, 1, "/tmp/cudnn-ci-x/broken")), "");
}

TEST(SelfTestReport, WhatIsNoReportIsAnErrorAndWhatIsMissingIsEmpty) {
  const Scratch scratch;
  for (const char* text : {"", "{", "[]", "3", R"({"schema": "cudnn-ci/report/2"})", R"({"schema": 1})"})
    EXPECT_FALSE(ReadSeenReport(scratch.Write("report.json", text)).ok()) << text;
  EXPECT_FALSE(ReadSeenReport(scratch.File("none")).ok());
  const auto report = ReadSeenReport(
      scratch.Write("report.json",
                    R"({"schema": "cudnn-ci/report/1", "exit_code": "1", "complete": 1, "run": [], "facts": 7,
                         "root_cause": null, "cases": [4, {"id": "a", "check": 5, "findings": {"severity": 1}}]})"));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->exit_code, -1);
  EXPECT_FALSE(report->complete);
  ASSERT_EQ(report->cases.size(), 2u);
  EXPECT_EQ(report->cases[1].id, "a");
  EXPECT_EQ(report->Find("cudnn.load"), nullptr);
}

TEST(SelfTestFaults, BreaksTheLibraryBesideTheMainOneOfItsMajor) {
  const Scratch scratch;
  const std::string whole(100'000, 'x');
  for (const char* file :
       {"libcudnn.so.9.1.0", "libcudnn_b.so.9", "libcudnn_a.so.8", "libcudnn_a.so.9.1.0", "libother.so.9"})
    scratch.Write(file, whole);
  const Result<Injection> injected = Inject(kFault, scratch.path(), "", scratch.File("libcudnn.so.9.1.0"));
  ASSERT_TRUE(injected.ok()) << injected.error();
  const std::string stump = scratch.File("libraries/libcudnn_b.so.9");
  EXPECT_EQ(injected->evidence, stump);
  EXPECT_EQ(std::filesystem::file_size(stump), 4096u);
  EXPECT_THAT(injected->environment.at("LD_LIBRARY_PATH"), testing::StartsWith(scratch.File("libraries")));
  std::filesystem::remove(scratch.File("libcudnn_b.so.9"));
  EXPECT_FALSE(Inject(kFault, scratch.path(), "", scratch.File("libcudnn.so.9.1.0")).ok());
  EXPECT_FALSE(Inject(kFault, scratch.path(), "", "").ok());
}

}  // namespace
}  // namespace cudnn_ci
