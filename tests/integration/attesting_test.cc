// The statement about an image (--attestation), as a user gets it: when there is one, and what becomes of an
// old one.
#include <gmock/gmock.h>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kDigits(64, 'a');
const std::string kImage = "registry.example.com/team/train@sha256:" + kDigits;

class Attesting : public testing::Test {
 protected:
  Attesting() { run_.Matrix(Entry("fixture.noop", R"("axes": {"i": [1, 2, 3, 4, 5, 6, 7, 8, 9]})")); }
  GateResult Attest(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--subject-image", kImage, "--attestation", "statement.json"});
    return run_.Run(arguments);
  }
  json Statement() { return json::parse(run_.Read("statement.json")); }
  json Gate() { return Statement()["predicate"]["urn:cudnn-ci:gate:1"]; }
  GateRun run_;
};

TEST_F(Attesting, APassIsStatedOverTheDigest) {
  const GateResult result = Attest();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Statement()["subject"][0]["digest"]["sha256"], kDigits);
  EXPECT_EQ(Statement()["predicate"]["result"], "PASSED");
  EXPECT_EQ(Gate()["matrix"]["sha256"], result.report["judged"]["matrix"]["sha256"]);
  EXPECT_EQ(Gate()["digest_from"], "told");
  EXPECT_EQ(result.report["judged"]["digest_from"], "told");
  EXPECT_THAT(result.out, HasSubstr(" statement.json\n"));
  EXPECT_FALSE(run_.Exists("report/statement.json"));
}

TEST_F(Attesting, ADigestThatTheEngineListsIsSaidToBeSo) {
  run_.Write("image.json", R"([{"RepoDigests": [")" + kImage + R"("], "Config": {"Env": []}}])");
  const GateResult result = Attest({"--image-config", "image.json"});
  EXPECT_EQ(Gate()["digest_from"], "engine");
  EXPECT_EQ(result.report["judged"]["digest_from"], "engine");
  EXPECT_EQ(result.Events("RunStarted").at(0)["digest_from"], "engine");
}

TEST_F(Attesting, AnImageAtFaultIsStatedToo) {
  run_.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.fail"));
  const GateResult result = Attest();
  ASSERT_EQ(result.exit_code, 1) << result.out;
  EXPECT_EQ(Statement()["predicate"]["result"], "FAILED");
  EXPECT_EQ(Gate()["blame"], "image");
}

// A crash in a plugin is nobody's verdict on the image. Yesterday's statement does not stay for today's.
TEST_F(Attesting, WhatIsNotJudgedIsNotStated) {
  ASSERT_EQ(Attest().exit_code, 0);
  run_.Matrix(Entry("fixture.crash", R"("params": {"how": "segv"})"));
  const GateResult result = Attest();
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_FALSE(run_.Exists("statement.json"));
  EXPECT_THAT(result.out, HasSubstr("  statement   none: "));
  EXPECT_THAT(result.out, Not(HasSubstr(" statement.json\n")));
}

TEST_F(Attesting, WhatCanGiveNoneIsRefusedBeforeAnythingRuns) {
  const std::vector<std::vector<std::string>> parts = {{"--filter", "*"},
                                                       {"--case", "fixture.noop[i=1]"},
                                                       {"--stage", "static"},
                                                       {"--isolation", "none"},
                                                       {"--rerun-failed"}};
  GateMessages golden(run_);
  for (const auto& part : parts) {
    ASSERT_EQ(Attest().exit_code, 0);
    const GateResult result = Attest(part);
    EXPECT_EQ(result.exit_code, 2) << part[0];
    EXPECT_THAT(golden.Row(part[0], result.err), HasSubstr(" " + part[0]));
    EXPECT_FALSE(run_.Exists("statement.json")) << part[0];
    EXPECT_FALSE(run_.Exists("report/report.json")) << part[0];
  }
  EXPECT_THAT(golden.Row("--report-only", Attest({"--report-only"}).err), HasSubstr("--report-only"));
  EXPECT_THAT(golden.Row("--shard", Attest({"--shard", "1/2"}).err), HasSubstr("cudnn-ci report "));
  const GateResult streamed = run_.Run({"--subject-image", kImage, "--attestation", "-"});
  EXPECT_EQ(streamed.exit_code, 2);
  EXPECT_THAT(golden.Row("-", streamed.err), HasSubstr("--attestation"));
  const GateResult unidentified = run_.Run({"--attestation", "statement.json"});
  EXPECT_EQ(unidentified.exit_code, 2);
  EXPECT_THAT(golden.Row("no image", unidentified.err), HasSubstr("--subject-image NAME@DIGEST"));
}

TEST_F(Attesting, AFileOfAnotherIsKept) {
  run_.Write("statement.json", R"({"_type": "https://in-toto.io/Statement/v1"})");
  EXPECT_EQ(Attest().exit_code, 2);
  EXPECT_EQ(run_.Read("statement.json"), R"({"_type": "https://in-toto.io/Statement/v1"})");
}

// Shards say nothing alone; together they do, and only if all are there.
TEST_F(Attesting, ShardsAreStatedByTheirMerge) {
  for (const std::string n : {"1", "2"})
    run_.Command({"--matrix", "matrix.json", "--plugin-dir", std::string(CUDNN_CI_FIXTURES) + "/fixture",
                  "--shard", n + "/2", "--subject-image", kImage, "--output-dir", "shard" + n});
  const GateResult merged = run_.Command(
      {"report", "shard1/journal.jsonl", "shard2/journal.jsonl", "--attestation", "statement.json"});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_EQ(Statement()["subject"][0]["digest"]["sha256"], kDigits);
  EXPECT_EQ(Gate()["cases"]["planned"], 9);
  // The others go where they go without it.
  EXPECT_TRUE(run_.Exists("cudnn-ci-report/report.json"));
  const GateResult missing = run_.Command({"report", "shard1/journal.jsonl", "--attestation",
                                           "statement.json", "--output-dir", "cudnn-ci-report"});
  EXPECT_EQ(missing.exit_code, 6) << missing.err;
  EXPECT_FALSE(run_.Exists("statement.json"));
  EXPECT_THAT(missing.out, HasSubstr("  statement   none: "));
}

}  // namespace
}  // namespace cudnn_ci
