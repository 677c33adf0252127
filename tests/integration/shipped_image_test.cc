// The checks of the files of an image, on folders of libraries that are made byte by byte.
#include <filesystem>
#include <fstream>

#include "fatbin_maker.h"
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeviceCodeCheckTest : public ShippedTest {
 protected:
  DeviceCodeCheckTest() {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");
    UseFakes({});
    folder_ = gate().Path("files");
    std::filesystem::create_directories(folder_);
    UseSubjects("{\"mine\": \"path:" + folder_ + "\"}");
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  // For these cards, with the driver of CUDA 13.0.
  CheckOutcome For(const std::string& gpus) {
    Promise("runner.driver", ">=580.65.06");
    return Check("image.device_code", R"("params": {"gpus": )" + gpus + "}");
  }
  // The one of a severity: its text; empty: there is none.
  static std::string Said(const CheckOutcome& outcome, const std::string& slug) {
    for (const json& finding : outcome.record["findings"])
      if (finding["slug"] == slug) return finding["detail"];
    return "";
  }

  std::string folder_;
};

TEST_F(DeviceCodeCheckTest, CodeForEveryCardPassesWithATable) {
  Write("liba.so", made::Library({{made::Sass(80), made::Sass(90)}}));
  const CheckOutcome r = For(R"(["8.0", "9.0"])");
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out << r.gate.err;
  ASSERT_EQ(r.record["attachments"].size(), 1U);
  const json table = r.record["attachments"][0]["table"];
  EXPECT_EQ(table["columns"], json({"library", "package", "8.0", "9.0", "holds"}));
  EXPECT_EQ(table["rows"][0]["cells"][2], json({{"text", "SASS"}, {"state", "ok"}}));
  // The page holds it as data, and a record that is read again says the same.
  EXPECT_THAT(gate().Read("report/report.html"),
              HasSubstr("\"title\":\"" + table["title"].get<std::string>()));
  const std::string report = gate().Read("report/report.json");
  EXPECT_EQ(gate().Command({"report", "report/journal.jsonl"}).exit_code, 0);
  EXPECT_EQ(gate().Read("report/report.json"), report);
}

TEST_F(DeviceCodeCheckTest, ACardWithoutCodeIsTheImagesFault) {
  Write("liba.so", made::Library({{made::Sass(80), made::Sass(86)}}));
  const CheckOutcome r = For(R"(["8.0", "10.0"])");
  EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out << r.gate.err;
  EXPECT_THAT(r.Slugs(), ElementsAre("device-code-missing"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("/liba.so has SASS 80 86; nothing for 10.0")));
}

TEST_F(DeviceCodeCheckTest, PtxNewerThanTheDriverIsTheImagesFault) {
  Write("liba.so", made::Library({{made::PtxEntry(80, 9, 4)}}));
  const CheckOutcome r = For(R"(["9.0"])");
  EXPECT_THAT(r.Slugs(), ElementsAre("device-code-ptx-too-new")) << r.gate.out;
  EXPECT_THAT(r.Detail(), Mentions("PTX 80 (9.4); ", "for 9.0. ", "driver 580.65.06 (runner.driver)",
                                   "PTX up to 9.0 (CUDA 13.0)"));
  Write("liba.so", made::Library({{made::PtxEntry(80, 9, 0)}}));
  const CheckOutcome compiled = For(R"(["9.0"])");
  EXPECT_EQ(compiled.Outcome(), "passed");
  EXPECT_THAT(Said(compiled, "device-code-compiled-at-start"), Mentions("for 9.0"));
}

TEST_F(DeviceCodeCheckTest, AListInTheMatrixSaysTheCards) {
  Write("liba.so", made::Library({{made::Sass(80)}}));
  gate().Write("m.json",
               R"({"schema":"cudnn-ci/matrix/1","name":"m","runner":{"compute_capability":["8.0","9.0"]},
      "subjects":{"mine":"path:)" +
                   folder_ + R"("},"checks":[{"check":"image.device_code"},{"check":"driver.devices"}]})");
  const GateResult r =
      gate().Command({"--matrix", gate().Path("m.json"), "--plugin-dir", CUDNN_CI_STAGE_PLUGINS,
                      "--output-dir", gate().Path("report"), "--filter", "image.*"});
  EXPECT_EQ(r.exit_code, 1) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("nothing for 9.0"));
}

TEST_F(DeviceCodeCheckTest, WithoutCardsNothingIsGreen) {
  Write("liba.so", made::Library({{made::Sass(80)}}));
  const CheckOutcome r = Check("image.device_code");
  EXPECT_EQ(r.Outcome(), "skipped") << r.gate.out;
  EXPECT_NE(r.gate.exit_code, 0);
  EXPECT_THAT(r.Skip("need"), HasSubstr("runner.compute_capability"));
}

TEST_F(DeviceCodeCheckTest, ARangeMeansTheCardsOfTheTable) {
  Write("liba.so", made::Library({{made::Sass(80), made::Sass(90)}}));
  gate().Write("m.json",
               R"({"schema":"cudnn-ci/matrix/1","name":"m","runner":{"compute_capability":">=8.0 <11"},
      "subjects":{"mine":"path:)" +
                   folder_ + R"("},"checks":[{"check":"image.device_code"},{"check":"driver.devices"}]})");
  const GateResult r =
      gate().Command({"--matrix", gate().Path("m.json"), "--plugin-dir", CUDNN_CI_STAGE_PLUGINS,
                      "--output-dir", gate().Path("report"), "--filter", "image.*"});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("device-code-missing-in-range"), HasSubstr(" on 10.0,")));
}

TEST_F(DeviceCodeCheckTest, WithoutDeviceCodeThereIsNothingToJudge) {
  Write("liba.so", made::Elf(ET_DYN, EM_X86_64, {{".text", "code"}}));
  const CheckOutcome r = For(R"(["8.0"])");
  EXPECT_EQ(r.Outcome(), "skipped") << r.gate.out;
  EXPECT_THAT(r.Skip("seen"), HasSubstr("none among 1 files"));
}

TEST_F(DeviceCodeCheckTest, WhatCannotBeReadOrJudgedIsSaid) {
  made::Entry empty = made::Sass(75);
  empty.body = made::EmptyCubin();
  Write("libfft.so", made::Library({{empty}}));
  Write("liba.so", made::Library({{made::Sass(80)}}));
  Write("libcut.so",
        made::Elf(ET_DYN, EM_X86_64, {{".nv_fatbin", made::Fatbin({made::Sass(80)}).substr(0, 200)}}));
  const CheckOutcome r = For(R"(["8.0"])");
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out << r.gate.err;
  EXPECT_THAT(Said(r, "device-code-not-judged"), Mentions("/libfft.so: ", "no kernel"));
  EXPECT_THAT(Said(r, "device-code-unreadable"), Mentions("/libcut.so: a fatbin"));
}

TEST_F(DeviceCodeCheckTest, AParameterThatNamesNoCardIsRefused) {
  const CheckOutcome r = For(R"(["sm_80"])");
  EXPECT_EQ(r.gate.exit_code, 2) << r.gate.out;
  EXPECT_THAT(r.gate.err, Mentions("\"gpus\"", "\"sm_80\""));
}

}  // namespace
}  // namespace cudnn_ci
