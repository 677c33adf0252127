// Which code runs on which card, which cards are promised, and what is said of files.
#include "image/device_code/device_code_judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "fatbin_maker.h"
#include "image/device_code/device_code_table.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CodeTargets Code(const std::vector<made::Entry>& entries) {
  return ReadDeviceCode(ByteSource(made::Library({entries})), "libx.so").code;
}
Cover On(const char* card, const std::vector<made::Entry>& entries,
         std::optional<PtxVersion> newest = PtxVersion{9, 0}) {
  return CoverOf(Code(entries), *ParseCard(card), newest);
}

TEST(Cover, MachineCodeRunsOnLaterMinorsOfItsMajor) {
  EXPECT_EQ(On("8.0", {made::Sass(80)}), Cover::kRuns);
  EXPECT_EQ(On("8.9", {made::Sass(80)}), Cover::kRuns);
  EXPECT_EQ(On("8.0", {made::Sass(86)}), Cover::kMissing);
  EXPECT_EQ(On("9.0", {made::Sass(80)}), Cover::kMissing);
  EXPECT_EQ(On("12.1", {made::Sass(120)}), Cover::kRuns);
  EXPECT_EQ(On("10.3", {made::Sass(100)}), Cover::kRuns);
}

TEST(Cover, CodeForTegraRunsOnItAlone) {
  EXPECT_EQ(On("8.9", {made::Sass(87)}), Cover::kMissing);
  EXPECT_EQ(On("8.7", {made::Sass(87)}), Cover::kRuns);
}

TEST(Cover, AnArchitectureAloneHasNoForwardCompatibility) {
  EXPECT_EQ(On("9.0", {made::Sass(90, 0x100011)}), Cover::kRuns);
  EXPECT_EQ(On("10.3", {made::Sass(100, 0x100011)}), Cover::kMissing);
  made::Entry ptx = made::PtxEntry(90, 8, 7);
  ptx.flags |= 0x100000;
  EXPECT_EQ(On("9.0", {ptx}), Cover::kCompiled);
  EXPECT_EQ(On("10.0", {ptx}), Cover::kMissing);
}

TEST(Cover, AFamilyRunsOnItsMembers) {
  EXPECT_EQ(On("10.0", {made::Sass(100, 0x200011)}), Cover::kRuns);
  EXPECT_EQ(On("10.3", {made::Sass(100, 0x200011)}), Cover::kRuns);
  EXPECT_EQ(On("10.0", {made::Sass(103, 0x200011)}), Cover::kMissing);
  EXPECT_EQ(On("12.0", {made::Sass(100, 0x200011)}), Cover::kMissing);
  made::Entry ptx = made::PtxEntry(100, 8, 8);
  ptx.flags |= 0x200000;
  EXPECT_EQ(On("10.3", {ptx}), Cover::kCompiled);
  EXPECT_EQ(On("12.0", {ptx}), Cover::kMissing);
}

TEST(Cover, PtxServesEveryLaterCardAsFarAsTheDriverCompilesIt) {
  EXPECT_EQ(On("12.0", {made::PtxEntry(80, 9, 0)}), Cover::kCompiled);
  EXPECT_EQ(On("7.5", {made::PtxEntry(80, 9, 0)}), Cover::kMissing);
  EXPECT_EQ(On("12.0", {made::PtxEntry(80, 9, 1)}), Cover::kPtxTooNew);
  EXPECT_EQ(On("12.0", {made::PtxEntry(80, 9, 1), made::PtxEntry(90, 8, 7)}), Cover::kPartlyCompiled);
  EXPECT_EQ(On("12.0", {made::PtxEntry(80, 9, 1)}, std::nullopt), Cover::kDriverUnknown);
  // Machine code needs no compiler, however new the PTX beside it is.
  EXPECT_EQ(On("8.0", {made::Sass(80), made::PtxEntry(80, 9, 9)}), Cover::kRuns);
}

TEST(Cover, OfIntermediateCodeNothingIsKnown) {
  made::Entry lto = made::Sass(80);
  lto.kind = 8;
  EXPECT_EQ(On("9.0", {lto}), Cover::kLinked);
  EXPECT_EQ(On("9.0", {lto, made::Sass(90)}), Cover::kRuns);
}

TEST(Cover, ModulesWithoutCodeServeNobody) {
  made::Entry sass = made::Sass(80), ptx = made::PtxEntry(80, 8, 0);
  sass.body = made::EmptyCubin();
  ptx.body = made::Ptx("8.0", "sm_80", false);
  EXPECT_EQ(On("8.0", {sass, ptx, made::Sass(90)}), Cover::kMissing);
  // Nor do they make PTX older than it is.
  EXPECT_EQ(On("10.0", {ptx, made::PtxEntry(90, 9, 1)}), Cover::kPtxTooNew);
}

TEST(Cover, NumbersOfCards) {
  EXPECT_EQ(ParseCard("10.3")->Text(), "10.3");
  for (const char* text : {"", "9", "9.", ".9", "-9.0", "9.-1", "9.0a", "sm_90", "9.0.0"})
    EXPECT_FALSE(ParseCard(text)) << text;
}

// ---- cards and driver ----

struct Machine {
  std::map<std::string, std::string> contract, facts;
  std::map<std::string, std::string> table = {
      {"cards", "7.5 8.0 8.9 9.0"},  {"driver_branches", "570 580 590"}, {"driver_branch.570", "12.8"},
      {"driver_branch.580", "13.0"}, {"driver_branch.590", "13.1"},      {"ptx_isa.13.0", "9.0"},
      {"ptx_isa.12.8", "8.7"}};
  // ">=8.0" alone, or everything.
  CardSources Sources() {
    const auto from = [](std::map<std::string, std::string>* map) {
      return [map](const std::string& key) { return map->count(key) ? map->at(key) : ""; };
    };
    return {from(&contract), from(&facts), from(&table),
            [](const std::string& version, const std::string& range) {
              return range != ">=8.0" || *ParseCard(version) >= Card{8, 0};
            }};
  }
  void AddGpu(const std::string& number, const std::string& capability) {
    facts["gpu." + number + ".uuid"] = "GPU-" + number;
    facts["gpu." + number + ".compute_capability"] = capability;
  }
};

std::vector<std::string> Texts(const PromisedCards& cards) {
  std::vector<std::string> texts;
  for (const Card& card : cards.cards) texts.push_back(card.Text());
  return texts;
}

TEST(PromisedCards, WhoSaysWhichTheyAre) {
  Machine machine;
  EXPECT_THAT(Texts(FindPromisedCards({}, machine.Sources())), IsEmpty());
  machine.AddGpu("0", "9.0");
  machine.AddGpu("1", "7.5");
  machine.AddGpu("2", "9.0");
  EXPECT_THAT(Texts(FindPromisedCards({}, machine.Sources())), ElementsAre("7.5", "9.0"));
  machine.contract["runner.compute_capability"] = ">=8.0";
  const PromisedCards present = FindPromisedCards({}, machine.Sources());
  EXPECT_THAT(Texts(present), ElementsAre("9.0"));
  EXPECT_TRUE(present.certain);
  machine.facts.clear();
  const PromisedCards range = FindPromisedCards({}, machine.Sources());
  EXPECT_THAT(Texts(range), ElementsAre("8.0", "8.9", "9.0"));
  EXPECT_FALSE(range.certain);
  machine.contract["runner.compute_capability"] = "10.0 or 8.9";
  const PromisedCards listed = FindPromisedCards({}, machine.Sources());
  EXPECT_THAT(Texts(listed), ElementsAre("8.9", "10.0"));
  EXPECT_TRUE(listed.certain);
  EXPECT_THAT(Texts(FindPromisedCards({"12.0", "12.0"}, machine.Sources())), ElementsAre("12.0"));
}

TEST(PromisedDriver, TheLowestOneSaysWhichPtxItCompiles) {
  Machine machine;
  EXPECT_THAT(FindPromisedDriver(machine.Sources()).version, IsEmpty());
  machine.facts["driver.version"] = "570.86.15";
  EXPECT_EQ(FindPromisedDriver(machine.Sources()).newest->Text(), "8.7");
  machine.contract["runner.driver"] = ">=580.65.06 <600";
  const PromisedDriver driver = FindPromisedDriver(machine.Sources());
  EXPECT_EQ(driver.version, "580.65.06");
  EXPECT_EQ(driver.cuda, "13.0");
  EXPECT_EQ(driver.newest->Text(), "9.0");
  machine.contract["runner.driver"] = ">=585.1";  // a branch that the table does not know
  EXPECT_EQ(FindPromisedDriver(machine.Sources()).newest->Text(), "9.0");
  machine.contract["runner.driver"] = ">=590";  // a CUDA whose PTX it does not know
  EXPECT_FALSE(FindPromisedDriver(machine.Sources()).newest);
  EXPECT_EQ(LowestOf("<600 >=580.1"), "580.1");
  EXPECT_EQ(LowestOf("<600"), "");
  EXPECT_EQ(LowestOf("=575.1"), "575.1");
}

// ---- what is said of files ----

CodeFile File(const std::string& path, const std::string& package, const std::vector<made::Entry>& entries) {
  CodeFile file;
  file.path = path;
  file.package = package;
  file.code = ReadDeviceCode(ByteSource(made::Library({entries})), path);
  return file;
}
PromisedCards Cards(const std::vector<std::string>& texts, bool certain = true) {
  PromisedCards cards;
  for (const std::string& text : texts) cards.cards.push_back(*ParseCard(text));
  cards.certain = certain;
  cards.origin = certain ? "the parameter gpus" : "runner.compute_capability >=8.0";
  return cards;
}
const PromisedDriver kDriver = {"580.65.06", "13.0", PtxVersion{9, 0}, "runner.driver"};

std::vector<std::string> Ids(const DeviceCodeJudgement& judgement) {
  std::vector<std::string> ids;
  for (const DeviceCodeFinding& finding : judgement.findings) ids.push_back(finding.id);
  return ids;
}

TEST(JudgeDeviceCode, ALibraryThatServesEveryCardIsSilent) {
  const DeviceCodeJudgement all = JudgeDeviceCode(
      {File("/a/liba.so", "a 1", {made::Sass(80), made::Sass(90)})}, Cards({"8.0", "8.9", "9.0"}), kDriver);
  EXPECT_THAT(Ids(all), IsEmpty());
  EXPECT_EQ(all.judged, 1);
}

// As nccl-extensions' libnccl_ep.so: flashinfer opens it on newer cards alone.
TEST(JudgeDeviceCode, CodeThatBeginsAtNewerCardsIsANoteWhereNoImportLoadsIt) {
  const auto ids = [](FileUse use, const std::string& package, int architecture) {
    return Ids(JudgeDeviceCode({File("/a/liba.so", package, {made::Sass(architecture)})},
                               Cards({"8.0", "9.0"}), kDriver, [&](const CodeFile&) { return use; }));
  };
  EXPECT_THAT(ids(FileUse::kPerhaps, "a 1", 90), ElementsAre("device-code-for-newer-cards"));
  EXPECT_THAT(ids(FileUse::kImported, "a 1", 90), ElementsAre("device-code-missing"));
  EXPECT_THAT(ids(FileUse::kPerhaps, "", 90), ElementsAre("device-code-missing"));
  EXPECT_THAT(ids(FileUse::kPerhaps, "a 1", 86), ElementsAre("device-code-missing"));
  // As of sgl-deep-ep, which SGLang requires and imports where somebody asks for it.
  EXPECT_THAT(ids(FileUse::kRequired, "a 1", 90), ElementsAre("device-code-for-newer-cards"));
  EXPECT_THAT(ids(FileUse::kOwnImport, "a 1", 90), ElementsAre("device-code-for-other-cards"));
  for (const FileUse use : {FileUse::kRequired, FileUse::kOwnImport})
    EXPECT_THAT(ids(use, "a 1", 86), ElementsAre("device-code-missing"));
  // Nothing of its package opens it, as of nccl-extensions' libnccl_m2n.so.
  EXPECT_THAT(ids(FileUse::kUnknown, "a 1", 86), ElementsAre("device-code-for-other-cards"));
}

// SASS 90a alone, where 12.0 is promised: 9.0 is no newer card.
TEST(JudgeDeviceCode, CodeForOlderCardsAloneIsNotForNewerOnes) {
  const auto ids = [](FileUse use, const std::vector<std::string>& cards, const made::Entry& code) {
    return Ids(JudgeDeviceCode({File("/a/liba.so", "a 1", {code})}, Cards(cards), kDriver,
                               [&](const CodeFile&) { return use; }));
  };
  for (const made::Entry& code : {made::Sass(90, 0x100011), made::Sass(90)})
    for (const FileUse use : {FileUse::kImported, FileUse::kOwnImport, FileUse::kPerhaps})
      EXPECT_THAT(ids(use, {"12.0"}, code), ElementsAre("device-code-missing"));
  const made::Entry special = made::Sass(90, 0x100011);
  EXPECT_THAT(ids(FileUse::kOwnImport, {"8.0"}, special), ElementsAre("device-code-for-other-cards"));
  EXPECT_THAT(ids(FileUse::kPerhaps, {"8.0"}, special), ElementsAre("device-code-for-newer-cards"));
  EXPECT_THAT(ids(FileUse::kPerhaps, {"9.0", "12.0"}, special), ElementsAre("device-code-for-other-cards"));
  for (const FileUse use : {FileUse::kRequired, FileUse::kUnknown})
    EXPECT_THAT(ids(use, {"12.0"}, special), ElementsAre("device-code-for-other-cards"));
}

// Numba's test data, and libcufile.
TEST(JudgeDeviceCode, FewModulesThatNothingLoadsCostNobodyAStart) {
  const auto ids = [](FileUse use, std::size_t modules) {
    return Ids(JudgeDeviceCode(
        {File("/a/liba.so", "a 1", std::vector<made::Entry>(modules, made::PtxEntry(80, 8, 0)))},
        Cards({"9.0"}), kDriver, [&](const CodeFile&) { return use; }));
  };
  EXPECT_THAT(ids(FileUse::kPerhaps, 2), IsEmpty());
  EXPECT_THAT(ids(FileUse::kImported, 2), ElementsAre("device-code-compiled-at-start"));
  EXPECT_THAT(ids(FileUse::kPerhaps, 40), ElementsAre("device-code-compiled-at-start"));
}

TEST(JudgeDeviceCode, OneWithoutCodeForACardIsAnErrorThatNamesIt) {
  const DeviceCodeJudgement all = JudgeDeviceCode(
      {File("/a/liba.so", "a 1", {made::Sass(80), made::Sass(86)})}, Cards({"8.0", "9.0", "10.0"}), kDriver);
  ASSERT_THAT(Ids(all), ElementsAre("device-code-missing"));
  EXPECT_EQ(all.findings[0].detail, "/a/liba.so (a 1) has SASS 80 86; nothing for 9.0, 10.0");
}

TEST(JudgeDeviceCode, PtxThatTheDriverDoesNotCompileIsAnErrorOfItsOwn) {
  const DeviceCodeJudgement all =
      JudgeDeviceCode({File("/a/liba.so", "", {made::PtxEntry(80, 9, 2)})}, Cards({"9.0"}), kDriver);
  ASSERT_THAT(Ids(all), ElementsAre("device-code-ptx-too-new"));
  EXPECT_THAT(all.findings[0].detail, Mentions("PTX 80 (9.2)", "for 9.0", "driver 580.65.06 (runner.driver)",
                                               "PTX up to 9.0 (CUDA 13.0)"));
}

TEST(JudgeDeviceCode, PtxThatItCompilesIsAWarning) {
  const DeviceCodeJudgement all = JudgeDeviceCode(
      {File("/a/liba.so", "", {made::Sass(80), made::PtxEntry(80, 8, 7)})}, Cards({"8.0", "9.0"}), kDriver);
  ASSERT_THAT(Ids(all), ElementsAre("device-code-compiled-at-start"));
  EXPECT_THAT(all.findings[0].detail, Mentions("for 9.0", "PTX up to 9.0 (CUDA 13.0)"));
  const DeviceCodeJudgement unknown =
      JudgeDeviceCode({File("/a/liba.so", "", {made::PtxEntry(80, 8, 7)})}, Cards({"9.0"}), {});
  ASSERT_THAT(Ids(unknown), ElementsAre("device-code-compiled-at-start"));
  EXPECT_THAT(unknown.findings[0].detail, AllOf(Mentions("for 9.0", "unknown"), Not(HasSubstr("PTX up to"))));
}

TEST(JudgeDeviceCode, KernelsForOneArchitectureBesideOthersOfThePackageAreANote) {
  const CodeFile special = File("/v/_fa3.so", "v 1", {made::Sass(90, 0x100011)});
  const CodeFile usual = File("/v/_c.so", "v 1", {made::Sass(80), made::Sass(90)});
  const DeviceCodeJudgement both = JudgeDeviceCode({special, usual}, Cards({"8.0", "9.0"}), kDriver);
  ASSERT_THAT(Ids(both), ElementsAre("device-code-specialised"));
  // Alone, or where the others do not serve the card either, it may be left out there: a warning.
  EXPECT_THAT(Ids(JudgeDeviceCode({special}, Cards({"8.0", "9.0"}), kDriver)),
              ElementsAre("device-code-for-other-cards"));
  EXPECT_THAT(Ids(JudgeDeviceCode({special, usual}, Cards({"9.0", "12.0"}), kDriver)),
              ElementsAre("device-code-missing", "device-code-for-other-cards"));
  // A library with code for everybody is not special.
  const CodeFile generic = File("/v/_fa3.so", "v 1", {made::Sass(90)});
  EXPECT_THAT(Ids(JudgeDeviceCode({generic, usual}, Cards({"8.0", "9.0"}), kDriver)),
              ElementsAre("device-code-missing"));
  // Nor is one whose neighbours belong to another package, or to none.
  CodeFile stray = special, other = usual;
  stray.package = other.package = "";
  EXPECT_THAT(Ids(JudgeDeviceCode({stray, other}, Cards({"8.0", "9.0"}), kDriver)),
              ElementsAre("device-code-missing"));
}

TEST(JudgeDeviceCode, ACardThatNobodyNamedIsAWarningWhereAnotherIsServed) {
  const CodeFile file = File("/a/liba.so", "a 1", {made::Sass(80)});
  EXPECT_THAT(Ids(JudgeDeviceCode({file}, Cards({"8.0", "9.0"}, false), kDriver)),
              ElementsAre("device-code-missing-in-range"));
  EXPECT_THAT(Ids(JudgeDeviceCode({file}, Cards({"9.0", "12.0"}, false), kDriver)),
              ElementsAre("device-code-missing"));
}

TEST(JudgeDeviceCode, WhatCannotBeJudgedIsListed) {
  made::Entry empty = made::Sass(75);
  empty.body = made::EmptyCubin();
  CodeFile without;
  without.path = "/b/libb.so";
  without.needs_cuda = true;
  without.code.kind = DeviceCode::Kind::kLibrary;
  CodeFile damaged = File("/c/libc.so", "", {made::Sass(80)});
  damaged.code.problem = "a fatbin is cut off";
  CodeFile archive = File("/d/libd.a", "", {made::Sass(70)});
  archive.code.kind = DeviceCode::Kind::kObject;
  const DeviceCodeJudgement all = JudgeDeviceCode(
      {File("/a/libcufft.so", "fft 1", {empty}), without, damaged, archive}, Cards({"8.0"}), kDriver);
  ASSERT_THAT(Ids(all), ElementsAre("device-code-not-judged", "device-code-unreadable"));
  EXPECT_THAT(all.findings[0].detail,
              Mentions("/a/libcufft.so (fft 1): ", "no kernel", "/b/libb.so: ", "no device code"));
  EXPECT_THAT(all.findings[1].detail, HasSubstr("/c/libc.so: " + damaged.code.problem));
  EXPECT_EQ(all.judged, 1);
}

TEST(JudgeDeviceCode, ManyFilesAreManyWordsAndNoMore) {
  std::vector<CodeFile> files;
  for (int i = 0; i < 100; ++i)
    files.push_back(File("/a/lib" + std::to_string(i) + ".so", "", {made::Sass(80)}));
  const DeviceCodeJudgement all = JudgeDeviceCode(files, Cards({"9.0"}), kDriver);
  EXPECT_EQ(all.findings.size(), 17U);
  EXPECT_THAT(all.findings.back().detail, HasSubstr("84 more files"));
}

TEST(DeviceCodeTable, OneRowForEachFileTheWorstFirst) {
  const PromisedCards cards = Cards({"8.0", "9.0"});
  const DeviceCodeJudgement all = JudgeDeviceCode(
      {File("/a/good.so", "a 1", {made::Sass(80), made::Sass(90)}),
       File("/a/bad.so", "b 1", {made::Sass(80)}), File("/a/jit.so", "", {made::PtxEntry(80, 8, 7)})},
      cards, kDriver);
  const nlohmann::json table = nlohmann::json::parse(DeviceCodeTable(all, cards, {"/elsewhere", "/a"}));
  EXPECT_EQ(table["schema"], "cudnn-ci/table/1");
  EXPECT_EQ(table["columns"], nlohmann::json({"library", "package", "8.0", "9.0", "holds"}));
  ASSERT_EQ(table["rows"].size(), 3U);
  EXPECT_EQ(table["rows"][0][0], "bad.so");
  EXPECT_EQ(table["rows"][0][1], "b 1");
  EXPECT_EQ(table["rows"][0][2]["state"], "ok");
  EXPECT_EQ(table["rows"][0][3], nlohmann::json({{"text", "missing"}, {"state", "error"}}));
  EXPECT_EQ(table["rows"][1][2]["state"], "warning");
  EXPECT_EQ(table["rows"][2][4], "SASS 80 90");
}

// A table that is too long is dropped as a whole: what is red comes first, and the rest is counted.
TEST(DeviceCodeTable, IsCutToWhatATableMayHave) {
  std::vector<CodeFile> files;
  const std::string folder = "/a/" + std::string(150, 'x');
  for (int i = 0; i < 999; ++i)
    files.push_back(File(folder + std::to_string(i) + ".so", std::string(150, 'p'), {made::Sass(80)}));
  files.push_back(File("/a/bad.so", "b 1", {made::Sass(100)}));
  const PromisedCards cards = Cards({"8.0"});
  const std::string text = DeviceCodeTable(JudgeDeviceCode(std::move(files), cards, kDriver), cards, {});
  EXPECT_LE(text.size(), std::size_t{256} << 10);
  const nlohmann::json table = nlohmann::json::parse(text);
  EXPECT_EQ(table["rows"][0][0], "/a/bad.so");
  EXPECT_EQ(table["rows"].size() + table["left_out"].get<std::size_t>(), 1000U);
  EXPECT_GT(table["left_out"], 0);
}

// bitsandbytes has a library for each CUDA version, and opens that of PyTorch's.
TEST(JudgeDeviceCode, ALibraryOfAnotherCudaVersionIsAWarningWhereOneOfThemServesTheCard) {
  const CodeFile older = File("/b/libb_cuda118.so", "b 1", {made::Sass(80), made::Sass(90)});
  const CodeFile newer = File("/b/libb_cuda130.so", "b 1", {made::Sass(80), made::Sass(100)});
  EXPECT_THAT(Ids(JudgeDeviceCode({older, newer}, Cards({"8.0", "10.0"}), kDriver)),
              ElementsAre("device-code-for-other-cards"));
  EXPECT_THAT(Ids(JudgeDeviceCode({older, newer}, Cards({"8.0", "12.0"}), kDriver)),
              ElementsAre("device-code-missing", "device-code-missing"));
  // Another library of the package, or one of nobody's package, is no such choice.
  const CodeFile other = File("/b/libother.so", "b 1", {made::Sass(100)});
  EXPECT_THAT(Ids(JudgeDeviceCode({older, other}, Cards({"10.0"}), kDriver)),
              ElementsAre("device-code-missing"));
  const CodeFile stray = File("/b/libb_cuda118.so", "", {made::Sass(80)});
  const CodeFile twin = File("/b/libb_cuda130.so", "", {made::Sass(100)});
  EXPECT_THAT(Ids(JudgeDeviceCode({stray, twin}, Cards({"10.0"}), kDriver)),
              ElementsAre("device-code-missing"));
}

// flashinfer brings a .cubin for each card.
TEST(JudgeDeviceCode, DeviceCodeAloneIsChosenByTheCard) {
  CodeFile file = File("/f/kernel.cubin", "f 1", {made::Sass(103)});
  file.code.kind = DeviceCode::Kind::kCode;
  EXPECT_THAT(Ids(JudgeDeviceCode({file}, Cards({"9.0"}), kDriver)), ElementsAre("device-code-specialised"));
}

}  // namespace
}  // namespace cudnn_ci
