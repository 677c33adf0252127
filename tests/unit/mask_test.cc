// What events keep whatever the environment calls secret: all that is looked up or compared.
#include "report/record/mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "model/record/fact_keys.h"
#include "model/record/notice_list.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

RunStarted Masked(const RunStarted& run, const std::string& value) {
  const std::string entry = "CACHE_KEY=" + value;
  const char* const environment[] = {entry.c_str(), nullptr};
  EventBody body = run;
  MaskSecrets(Secrets(environment), &body);
  return std::get<RunStarted>(body);
}

TEST(Masking, WhatDecidesAboutVerdictsStays) {
  RunStarted run = RunBuilder().run;
  const std::string digits(64, 'b');
  run.image = "registry.example/train@sha256:" + digits;
  run.version = "0.1.0-development";
  run.compatibility = {"2026-11-20", "path", digits};
  run.plugins = {{"training-plugin", "1.2.3-long", "path", digits}};
  run.subjects = {{"training", "loader"}};
  run.facts = {{"training", {{kCudnnVersionFact, "9.24.0.43"}}}};
  for (const std::string& value :
       {run.image, digits, run.timestamp.substr(0, 10), run.run_id + "long", run.matrix_sha256,
        std::string("training"), run.version, std::string("NVIDIA H200"), std::string("9.24.0.43"),
        std::string("training-plugin"), std::string("2026-11-20")}) {
    const RunStarted masked = Masked(run, value);
    EXPECT_EQ(masked.image, run.image) << value;
    EXPECT_EQ(masked.timestamp, run.timestamp) << value;
    EXPECT_EQ(masked.run_id, run.run_id) << value;
    EXPECT_EQ(masked.version, run.version) << value;
    EXPECT_EQ(masked.matrix_sha256, run.matrix_sha256) << value;
    EXPECT_EQ(masked.compatibility.as_of, run.compatibility.as_of) << value;
    EXPECT_EQ(masked.compatibility.sha256, digits) << value;
    EXPECT_EQ(masked.plugins[0].name, "training-plugin") << value;
    EXPECT_EQ(masked.plugins[0].sha256, digits) << value;
    EXPECT_EQ(masked.subjects[0].name, "training") << value;
    EXPECT_EQ(masked.devices[0].model, "NVIDIA H200") << value;
    EXPECT_EQ(masked.facts.at("training").at(kCudnnVersionFact), "9.24.0.43") << value;
  }
}

TEST(Masking, WhatIsSaidOfThemDoesNot) {
  RunStarted run = RunBuilder().run;
  run.subjects = {{"training", "python:/home/correct horse/bin/python"}};
  run.command_line = "cudnn-ci --name=correct horse";
  run.facts = {{"training", {{"env.X", "correct horse"}}}};
  run.plugins = {{"p", "1", "/correct horse/p.so", "s"}};
  const std::vector<std::string> drivers = {"1", "correct horse"};
  run.warnings = {{NoticeCode::kPluginWritable, {{"path", "/correct horse/p"}}},
                  {NoticeCode::kDriversDiffer, {{"drivers", drivers}}},
                  OtherNotice("of correct horse")};
  run.partial = {{NoticeCode::kWithoutDisturb, {{"checks", std::vector<std::string>{"correct horse"}}}}};
  const RunStarted masked = Masked(run, "correct horse");
  EXPECT_THAT(SentencesOf(masked.warnings),
              testing::ElementsAre(
                  SentenceOf({NoticeCode::kPluginWritable, {{"path", "/[masked CACHE_KEY]/p"}}}),
                  "the shards ran with different drivers: 1, [masked CACHE_KEY]", "of [masked CACHE_KEY]"));
  EXPECT_EQ(masked.partial, run.partial) << "merging compares it";
  EXPECT_EQ(masked.subjects[0].spec, "python:/home/[masked CACHE_KEY]/bin/python");
  EXPECT_EQ(masked.command_line, "cudnn-ci --name=[masked CACHE_KEY]");
  EXPECT_EQ(masked.facts.at("training").at("env.X"), "[masked CACHE_KEY]");
  EXPECT_EQ(masked.plugins[0].path, "/[masked CACHE_KEY]/p.so");
}

TEST(Masking, ALineThatWouldBeAnotherIsNotShown) {
  const char* const environment[] = {"CACHE_KEY=correct horse", nullptr};
  FindingReported reported;
  reported.finding = Wrong("wrong-value", Blame::kImage, "in /correct horse");
  reported.finding.remedy = "fix it";
  reported.finding.command = "RUN /correct horse/bin/python -m pip install a==1";
  reported.finding.where = Where::kImage;
  const auto masked = [&] {
    EventBody body = reported;
    MaskSecrets(Secrets(environment), &body);
    return std::get<FindingReported>(body).finding;
  };
  EXPECT_EQ(masked().command, "");
  EXPECT_EQ(masked().where, Where::kNone);
  EXPECT_EQ(masked().detail, "in /[masked CACHE_KEY]");
  EXPECT_EQ(masked().remedy, "fix it");
  reported.finding.command = "RUN ldconfig";
  EXPECT_EQ(masked().command, "RUN ldconfig");
  EXPECT_EQ(masked().where, Where::kImage);
}

}  // namespace
}  // namespace cudnn_ci
