// Images that were expected, held against the reports that there are.
#include "review/expected_images.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "golden_messages.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kDigest = "@sha256:" + std::string(64, 'a'), kOther = "@sha256:" + std::string(64, 'b');

// A whole run of that image that passed, of which a test changes what it is about.
PageRow Passed(const std::string& image, const std::string& gpu = "NVIDIA L4",
               const std::string& at = "10:00") {
  PageRow row;
  row.source = "reports/" + image.substr(0, image.find('@'));
  row.view.image = image;
  row.view.verdict = "passed";
  row.view.exit_code = 0;
  row.view.complete = true;
  row.view.timestamp = "2026-01-31T" + at + ":00Z";
  if (!gpu.empty()) row.view.gpus = {gpu};
  return row;
}

PageRow Red(PageRow row, int exit_code, const std::string& cause = "image.wrong-value: 3 elements differ") {
  row.view.verdict = exit_code == 6 ? "inconclusive" : "failed";
  row.view.exit_code = exit_code;
  row.view.headline_cause = cause;
  return row;
}

// "passed team/a:1" of each image, and the exit code.
struct Said {
  std::vector<std::string> images;
  int exit_code = 0;
};
Said Judged(const std::vector<PageRow>& rows, const std::vector<std::string>& expect) {
  const Result<ExpectedImages> expected = ParseExpected(expect);
  EXPECT_TRUE(expected.ok()) << expected.error();
  Said said;
  const ImagesVerdict verdict = VerdictOnImages(rows, *expected);
  for (const ImageStanding& image : verdict.images) said.images.push_back(image.word + " " + image.name);
  said.exit_code = verdict.exit_code;
  return said;
}

TEST(ExpectedImages, AreGreenWhereEachPassed) {
  const Said said = Judged({Passed("team/b:1" + kDigest), Passed("team/a:1")}, {"team/a:1,team/b:1"});
  EXPECT_THAT(said.images, ElementsAre("passed team/a:1", "passed team/b:1"));
  EXPECT_EQ(said.exit_code, 0);
}

TEST(ExpectedImages, OneThatIsMissingIsRed) {
  const Said said = Judged({Passed("team/a:1")}, {"team/a:1", "team/b:1"});
  EXPECT_THAT(said.images, ElementsAre("passed team/a:1", "missing team/b:1"));
  EXPECT_EQ(said.exit_code, 4);
  EXPECT_EQ(Judged({}, {"team/a:1"}).exit_code, 4) << "the job matrix was empty";
  EXPECT_EQ(VerdictOnImages({}, *ParseExpected({"team/a:1"})).images[0].cause,
            "matrix.image-not-judged: no report is about it");
}

TEST(ExpectedImages, OneThatNobodyExpectedCountsIfItIsRed) {
  const Said said =
      Judged({Passed("team/a:1"), Red(Passed("team/b:1"), 1), Passed("team/c:1")}, {"team/a:1"});
  EXPECT_THAT(said.images, ElementsAre("passed team/a:1", "failed team/b:1", "passed team/c:1"));
  EXPECT_EQ(said.exit_code, 1);
}

// (the image of the report, what is expected, whether it is that)
TEST(ExpectedImages, AreFoundByName) {
  const std::tuple<std::string, std::string, bool> rows[] = {
      {"team/a:1", "team/a", true},
      {"team/a:1", "team/a:2", false},
      {"team/a:1", "other/a:1", false},
      {"team/a:1", "a:1", false},
      {"team/a:1" + kDigest, "team/a:1", true},
      {"team/a:1" + kDigest, "team/a" + kDigest, true},
      {"team/a:1" + kDigest, "team/a:1" + kOther, false},
      {"team/a" + kDigest, "team/a:1", false},  // its tag is not known
      {"team/a:1", "team/a" + kDigest, false},
      {"localhost:5000/a", "localhost:5000/a:latest", true},
      {"localhost:5000/a:1", "localhost:5000/a", true},
      {"docker.io/library/debian:12", "debian:12", true},
      {"debian", "docker.io/library/debian:latest", true},
      {"team/a:1", "team/a:1@l4", true},
      {"team/a:1", "team/a:1@L4", true},
      {"team/a:1", "team/a:1@l40s", false},
      {"team/a:1", "team/a:1@no-gpu", false},
      {"team/a:1" + kDigest, "team/a" + kDigest + "@l4", true},
      {"team/a:1 (image id sha256:" + std::string(64, 'a') + ")", "team/a:1", true},
      {"unidentified", "unidentified", false},
      {"", "a", false},
  };
  for (const auto& [image, expected, is] : rows)
    EXPECT_EQ(Judged({Passed(image)}, {expected}).exit_code, is ? 0 : 4) << image << " " << expected;
  EXPECT_EQ(Judged({Passed("team/a:1", "")}, {"team/a:1@no-gpu"}).exit_code, 0);
}

// A report names an image that a registry knows by its digest; the launcher has the tag.
TEST(ExpectedImages, AreFoundByTheTagThatWasTyped) {
  const std::tuple<std::string, std::string, bool> rows[] = {
      {"team/a:1", "team/a:1", true},    {"team/a:1", "team/a:2", false},
      {"team/a", "team/a:latest", true}, {"team/a" + kDigest, "team/a:latest", false},
      {"other/a:1", "team/a:1", false},  {"docker.io/team/a:1", "team/a:1", true},
  };
  for (const auto& [typed, expected, is] : rows) {
    PageRow row = Passed("team/a" + kDigest);
    row.typed_image = typed;
    EXPECT_EQ(Judged({row}, {expected}).exit_code, is ? 0 : 4) << typed << " " << expected;
  }
}

// Where a launcher names images, a run that names none may have judged the machine that it ran on.
TEST(ExpectedImages, AreNotCountedWithoutANameBesideThoseOfALauncher) {
  const PageRow nameless = Passed("unidentified");
  PageRow launched = Passed("team/a:1");
  EXPECT_EQ(Judged({launched, nameless}, {"2"}).exit_code, 0) << "none of a launcher";
  launched.typed_image = "team/a:1";
  EXPECT_EQ(Judged({launched, nameless}, {"1"}).exit_code, 0);
  EXPECT_EQ(Judged({launched, nameless}, {"2"}).exit_code, 4);
}

TEST(ExpectedImages, ACellIsAnImageOnAGpu) {
  const std::vector<PageRow> rows = {Passed("team/a:1", "Tesla T4"), Passed("team/a:1", "NVIDIA L4")};
  EXPECT_EQ(Judged(rows, {"team/a:1@t4,team/a:1@l4"}).exit_code, 0);
  EXPECT_THAT(Judged(rows, {"team/a:1@t4,team/a:1@h100"}).images,
              ElementsAre("passed team/a:1@t4", "missing team/a:1@h100", "passed team/a:1"));
}

TEST(ExpectedImages, AreCountedByName) {
  const std::vector<PageRow> two = {Passed("team/a:1"), Passed("team/a:1", "Tesla T4"), Passed("team/b:1")};
  EXPECT_EQ(Judged(two, {"2"}).exit_code, 0);
  EXPECT_THAT(Judged(two, {"3"}).images,
              ElementsAre("passed team/a:1", "passed team/b:1", "missing 3 images"));
  EXPECT_EQ(Judged(two, {"3"}).exit_code, 4);
  EXPECT_EQ(Judged({}, {"1"}).exit_code, 4);
  const std::vector<PageRow> one = {Passed("team/a:1" + kDigest), Passed("team/a" + kDigest)};
  EXPECT_EQ(Judged(one, {"1"}).exit_code, 0);
  EXPECT_EQ(Judged(one, {"2"}).exit_code, 4) << "named in two ways";
  PageRow unread = Passed("");
  unread.problem = "it is no report";
  unread.view.verdict = "";
  EXPECT_THAT(Judged({unread}, {"1"}).images, ElementsAre("unreadable reports/", "missing 1 image"));
  EXPECT_EQ(Judged({unread}, {"1"}).exit_code, 6);
}

TEST(ExpectedImages, OnlyAWholeRunIsAJudgement) {
  PageRow partial = Passed("team/a:1");
  partial.view.partial = "filtered";
  PageRow shown = Passed("team/a:1");
  shown.view.report_only = true;
  PageRow torn = Passed("team/a:1");
  torn.view.complete = false;
  PageRow unconfirmed = Passed("team/a:1");
  unconfirmed.problem = "harness.report-missing: there is no finished report";
  unconfirmed.view.verdict = "unconfirmed";
  unconfirmed.view.exit_code = 5;
  EXPECT_EQ(Judged({partial}, {"team/a:1"}).exit_code, 4);
  EXPECT_EQ(Judged({shown}, {"team/a:1"}).exit_code, 4);
  EXPECT_EQ(Judged({torn}, {"team/a:1"}).exit_code, 6);
  EXPECT_THAT(Judged({unconfirmed}, {"team/a:1"}).images, ElementsAre("unconfirmed team/a:1"));
  EXPECT_EQ(Judged({unconfirmed}, {"team/a:1"}).exit_code, 5);
  EXPECT_EQ(Judged({partial}, {"1"}).exit_code, 4);
  EXPECT_EQ(Judged({Red(Passed("team/a:1"), 143)}, {"team/a:1"}).exit_code, 6) << "interrupted";
}

TEST(ExpectedImages, TheWorstCounts) {
  const auto code = [](const std::vector<int>& codes) {
    std::vector<PageRow> rows;
    for (const int one : codes)
      rows.push_back(Red(Passed("team/a" + std::to_string(rows.size()) + ":1"), one));
    return Judged(rows, {std::to_string(rows.size())}).exit_code;
  };
  EXPECT_EQ(code({4, 6}), 6);
  EXPECT_EQ(code({6, 3}), 3);
  EXPECT_EQ(code({3, 5}), 5);
  EXPECT_EQ(code({5, 1}), 1);
}

TEST(ExpectedImages, ALaterPassOfTheSameImageSettlesWhatTheRunnerDid) {
  const std::string image = "team/a:1" + kDigest;
  const auto exit_code = [&](int first, const PageRow& later) {
    return Judged({later, Red(Passed(image, "NVIDIA L4", "10:00"), first)}, {"team/a:1"}).exit_code;
  };
  const PageRow pass = Passed(image, "NVIDIA L4", "10:05");
  EXPECT_EQ(exit_code(3, pass), 0);
  EXPECT_EQ(exit_code(6, pass), 0);
  EXPECT_EQ(exit_code(1, pass), 1) << "the image's own fault stands";
  EXPECT_EQ(exit_code(5, pass), 5);
  EXPECT_EQ(exit_code(3, Passed(image, "NVIDIA L4", "09:55")), 3) << "that came before";
  EXPECT_EQ(exit_code(3, Passed("team/a:1" + kOther, "NVIDIA L4", "10:05")), 3) << "another image";
  EXPECT_EQ(exit_code(3, Red(Passed(image, "NVIDIA L4", "10:05"), 3)), 3);
}

// Two cells of a job matrix, of which one says nothing of the other.
TEST(ExpectedImages, APassOnAnotherGpuSettlesNothing) {
  const PageRow t4 = Passed("team/a:1", "Tesla T4", "10:05");
  for (const int code : {3, 6}) {
    const PageRow h100 = Red(Passed("team/a:1", "NVIDIA H100 80GB HBM3", "10:00"), code);
    EXPECT_EQ(Judged({h100, t4}, {"team/a:1"}).exit_code, code);
    EXPECT_EQ(
        Judged({h100, t4, Passed("team/a:1", "NVIDIA H100 80GB HBM3", "10:10")}, {"team/a:1"}).exit_code, 0);
  }
  // It may have been meant for either.
  const PageRow blind = Red(Passed("team/a:1", "", "10:00"), 3);
  const PageRow before = Passed("team/a:1", "NVIDIA L4", "09:00");
  EXPECT_EQ(Judged({blind, t4}, {"team/a:1"}).exit_code, 0);
  EXPECT_EQ(Judged({blind, t4, before}, {"team/a:1"}).exit_code, 3);
  EXPECT_EQ(Judged({blind, t4, before, Passed("team/a:1", "NVIDIA L4", "10:10")}, {"team/a:1"}).exit_code, 0);
  EXPECT_EQ(Judged({blind, Passed("team/a:1", "", "10:10")}, {"team/a:1"}).exit_code, 0);
}

// The launcher has refused its command line or image.
TEST(ExpectedImages, WhereTheCallerWasMistakenTheMatrixIsAtFault) {
  PageRow row = Passed("team/a:1", "");
  row.view.verdict = "unconfirmed";
  row.view.exit_code = 2;
  row.problem = "matrix.image-unknown: team/a:1";
  const ImagesVerdict verdict = VerdictOnImages({row}, *ParseExpected({"team/a:1"}));
  EXPECT_EQ(verdict.exit_code, 4);
  EXPECT_EQ(verdict.images[0].cause, row.problem);
}

TEST(ExpectedImages, WhatIsNoListIsRefused) {
  const std::pair<std::vector<std::string>, std::string> rows[] = {
      {{""}, "--expect:"},
      {{"team/a:1,"}, "--expect:"},
      {{"0"}, "1 to 10000"},
      {{"10001"}, "1 to 10000"},
      {{"99999999999999999999"}, "1 to 10000"},
      {{"2", "team/a:1"}, "--expect:"},
      {{"team/a:1", "team/a:1"}, "team/a:1 is"},
      {{"debian:12,docker.io/library/debian:12"}, "docker.io/library/debian:12 is"},
      {{"team/a:1 team/b:1"}, "team/a:1 team/b:1 is"},
      {{"-x"}, "-x is"},
      {{"team/a:"}, "team/a: is"},
      {{":1"}, ":1 is"},
      {{"@l4"}, "@l4 is"},
      {{"team/a@"}, "team/a@ has"},
      {{"a@sha256:1"}, "a@sha256:1 has"},
      {{"a@l4@t4"}, "a@l4@t4 has"},
  };
  GoldenMessages golden("images.txt");
  for (const auto& [arguments, argument] : rows) {
    const Result<ExpectedImages> expected = ParseExpected(arguments);
    ASSERT_FALSE(expected.ok()) << arguments[0];
    EXPECT_THAT(golden.Row(Join(arguments, " "), expected.error()), Mentions("--expect:", argument));
  }
  EXPECT_THAT(ParseExpected({"10000"})->images, IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
