// The statement about an image: of which runs there is one, and what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "golden_messages.h"
#include "mentions.h"
#include "report/formats/attestation.h"
#include "report/formats/formats.h"
#include "report/record/own_reports.h"
#include "run_builder.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kDigits(64, 'a');

// A run over an image that is known.
RunBuilder OfImage() {
  RunBuilder b;
  b.run.image = "registry.example:5000/train@sha256:" + kDigits;
  b.run.digest_from = "engine";
  return b;
}

std::string Why(const RunBuilder& b) { return NoStatementReason(b.Summarize(), b.Judged()); }

nlohmann::json Stated(const RunBuilder& b) {
  return nlohmann::json::parse(RenderStatement(b.Summarize(), b.Judged()));
}

// What a statement holds is a golden file; its run has waived and optional failures.
TEST(Attestation, APassIsStated) {
  RunBuilder b = OfImage();
  b.Pass("conv.a");
  EXPECT_EQ(Why(b), "");
  EXPECT_EQ(Stated(b)["predicate"]["result"], "PASSED");
}

// Who reads the statement learns what the driver's version rests on.
TEST(Attestation, TheDriversVersionIsStatedWithWhatTellsIt) {
  RunBuilder b = OfImage();
  b.Pass("conv.a");
  b.run.facts["system"]["driver.version.source"] = "NVML, which may not be the host's";
  const nlohmann::json gate = Stated(b)["predicate"]["urn:cudnn-ci:gate:1"];
  EXPECT_EQ(gate["driver"], "580.65.06");
  EXPECT_EQ(gate["driver_from"], "NVML, which may not be the host's");
}

TEST(Attestation, AFaultOfTheImageIsStatedWithItsCause) {
  RunBuilder b = OfImage();
  b.Pass("conv.a");
  b.Fail("conv.b", Wrong("wrong-value", Blame::kImage, "3 differ \xff \x1b[31m\"<>"), Layer::kConvolution);
  const nlohmann::json predicate = Stated(b)["predicate"];
  EXPECT_EQ(Why(b), "");
  EXPECT_EQ(predicate["result"], "FAILED");
  EXPECT_THAT(predicate["failedTests"], ElementsAre("conv.b"));
  EXPECT_THAT(predicate["warnedTests"], IsEmpty());
  const nlohmann::json& gate = predicate["urn:cudnn-ci:gate:1"];
  EXPECT_EQ(gate["verdict"], "failed");
  EXPECT_EQ(gate["blame"], "image");
  EXPECT_EQ(gate["root_cause"]["slug"], "wrong-value");
  EXPECT_EQ(gate["root_cause"]["case"], "conv.b");
  EXPECT_THAT(gate["root_cause"]["detail"].get<std::string>(), HasSubstr("3 differ"));
}

TEST(Attestation, OnlyTheFirstCasesAndSentencesAreNamed) {
  RunBuilder b = OfImage();
  for (int i = 0; i < 150; ++i) {
    b.Fail("conv.f" + std::to_string(i), Wrong("wrong-value", Blame::kImage));
    b.run.not_gated.push_back(OtherNotice("library " + std::to_string(i) + std::string(1000, 'x')));
  }
  const nlohmann::json statement = Stated(b);
  EXPECT_THAT(statement["predicate"]["failedTests"], SizeIs(100));
  EXPECT_EQ(statement["predicate"]["failedTests"][99], "conv.f99");
  const nlohmann::json& gate = statement["predicate"]["urn:cudnn-ci:gate:1"];
  EXPECT_EQ(gate["cases"]["failed"], 150);
  EXPECT_THAT(gate["not_gated"], SizeIs(100));
  EXPECT_LT(statement.dump().size(), 100'000u);
}

TEST(Attestation, ThereIsNoneOfWhatIsNoVerdictOnTheImage) {
  GoldenMessages golden("attestation.txt");
  const auto why = [&](const std::string& given, const std::function<void(RunBuilder*)>& change) {
    RunBuilder b = OfImage();
    b.Pass("conv.a");
    change(&b);
    const std::string reason = Why(b);
    return reason.empty() ? "" : golden.Row(given, reason);
  };
  EXPECT_EQ(why("a green run", [](RunBuilder*) {}), "");
  EXPECT_THAT(why("not gating", [](RunBuilder* b) { b->run.report_only = true; }), Mentions("--report-only"));
  EXPECT_THAT(why("partial", [](RunBuilder* b) { b->run.partial = {OtherNotice("filtered")}; }),
              Mentions("partial: filtered"));
  for (const char* image : {"unidentified", "registry.example/train:12.4"})
    EXPECT_THAT(why(image, [&](RunBuilder* b) { b->run.image = image; }),
                Mentions("--subject-image NAME@DIGEST"));
  EXPECT_THAT(why("no end", [](RunBuilder* b) { b->finished = false; }), Not(IsEmpty()));
  EXPECT_THAT(why("cancelled",
                  [](RunBuilder* b) {
                    b->Add(RunCancelled{CancelReason::kSignal, 15});
                  }),
              Not(IsEmpty()));
  EXPECT_THAT(why("no driver", [](RunBuilder* b) { b->Fail("driver.load", Wrong("x", Blame::kRunner)); }),
              Mentions("blame: runner"));
  for (const Blame blame : {Blame::kUndetermined, Blame::kHarness, Blame::kMatrix})
    EXPECT_THAT(why(Name(blame), [&](RunBuilder* b) { b->Fail("conv.b", Wrong("x", blame)); }),
                Mentions(std::string("blame: ") + Name(blame)));
  EXPECT_THAT(golden.Row("no run", NoStatementReason(Summary{}, Judge(Summary{}))), Not(IsEmpty()));
}

TEST(Attestation, ADigestThatNobodyAskedTheEngineForIsTold) {
  RunBuilder b = OfImage();
  b.Pass("conv.a");
  for (const char* from : {"told", ""}) {
    b.run.digest_from = from;
    EXPECT_EQ(Stated(b)["predicate"]["urn:cudnn-ci:gate:1"]["digest_from"], "told") << from;
  }
}

// Another report fails behind it: the run is not passed any more, and the statement goes.
TEST(Attestation, WhatIsNotTrueAnyMoreIsTakenAway) {
  const Scratch scratch;
  const std::string path = scratch.File("statement.json");
  AttestationReporter reporter(path);
  RunBuilder b = OfImage();
  b.Pass("conv.a");
  Summary summary = b.Summarize();
  ASSERT_TRUE(reporter.Finish(summary).ok());
  EXPECT_EQ(ReadSmallFile(path, 1 << 20), RenderStatement(summary, Judge(summary)));
  EXPECT_TRUE(IsOwnReport(path));
  summary.report_failure = "junit: no room";
  ASSERT_TRUE(reporter.Finish(summary).ok());
  EXPECT_EQ(access(path.c_str(), F_OK), -1);
  ASSERT_TRUE(reporter.Finish(b.Summarize()).ok());
  reporter.Withdraw();
  EXPECT_EQ(access(path.c_str(), F_OK), -1);
}

TEST(Attestation, AStatementOfAnotherIsKept) {
  const Scratch scratch;
  const std::string other = R"({"_type": "https://in-toto.io/Statement/v1", "predicateType":
      "https://in-toto.io/attestation/test-result/v0.1", "predicate": {"result": "PASSED"}})";
  EXPECT_EQ(FormatOfHead(other), "");
  const std::string path = scratch.Write("statement.json", other);
  AttestationReporter reporter(path);
  RunBuilder b = OfImage();
  b.Pass("conv.a");
  EXPECT_FALSE(reporter.Finish(b.Summarize()).ok());
  reporter.Withdraw();
  EXPECT_EQ(ReadSmallFile(path, 1 << 20), other);
  // In whatever white space, and of a later version.
  EXPECT_EQ(
      FormatOfHead(
          "{ \"_type\":\"https://in-toto.io/Statement/v1\",\n\"predicateType\": "
          "\"https://in-toto.io/attestation/test-result/v0.1\", \"predicate\":{\n\"urn:cudnn-ci:gate:2\": {"),
      "attestation");
}

}  // namespace
}  // namespace cudnn_ci
