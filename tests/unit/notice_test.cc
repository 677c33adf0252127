// Notices as sentences, and what records of earlier versions say in words only.
#include "model/record/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/record/notice_list.h"
#include "model/record/old_words.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Texts = std::vector<std::string>;

TEST(NoticeTest, ASentenceTakesItsArguments) {
  EXPECT_EQ(SentenceOf({NoticeCode::kPluginOwner,
                        {{"path", "/p/a.cci.so"}, {"owner", int64_t{12345}}, {"user", int64_t{0}}}}),
            "/p/a.cci.so is owned by user 12345, neither root nor user 0");
  EXPECT_EQ(SentenceOf({NoticeCode::kDriversDiffer, {{"drivers", Texts{"1 (1/2)", "2 (2/2)"}}}}),
            "the shards ran with different drivers: 1 (1/2), 2 (2/2)");
}

TEST(NoticeTest, ASentenceWithoutAnArgumentSaysNothingOfIt) {
  const auto undeclared = [](const char* near) {
    return SentenceOf({NoticeCode::kWaiverWithoutFinding,
                       {{"place", "m.json:3:5"}, {"finding", "timed-uot"}, {"near", near}}});
  };
  const std::string head = "m.json:3:5: the waiver names the finding \"timed-uot\", which nobody declares";
  EXPECT_EQ(undeclared("timed-out"), head + "; did you mean \"timed-out\"?");
  EXPECT_EQ(undeclared(""), head);
  const auto copy = [](const char* version) {
    return SentenceOf({NoticeCode::kCudnnNotUsed,
                       {{"version", version}, {"path", "/l"}, {"origin", "o"}, {"subject", "path:/"}}});
  };
  EXPECT_THAT(copy("9.1.0"), HasSubstr("cuDNN 9.1.0 at /l (o) is used by no subject; a subject \"path:/\""));
  EXPECT_THAT(copy(""), HasSubstr("cuDNN of unknown version at /l"));
}

TEST(NoticeTest, ASentenceCounts) {
  const auto speed = [](int64_t cases) {
    return SentenceOf({NoticeCode::kSpeedNotCompared, {{"cases", cases}, {"why", "w"}}});
  };
  EXPECT_EQ(speed(1), "speed of 1 case held to the baseline, not compared: w");
  EXPECT_EQ(speed(2), "speed of 2 cases held to the baseline, not compared: w");
  const auto promise = [](Texts subjects) {
    return SentenceOf(
        {NoticeCode::kPromiseNotJudged, {{"key", "k"}, {"range", ">=1"}, {"subjects", std::move(subjects)}}});
  };
  const std::string head = "k >=1 is promised, and no required check of this selection judges it";
  EXPECT_EQ(promise({}), head + ": it is not gated");
  EXPECT_EQ(promise({"a"}), head + " for the subject \"a\": it is not gated");
  EXPECT_EQ(promise({"a", "b"}), head + " for the subjects \"a\", \"b\": it is not gated");
}

// Every value a text that is in no sentence.
Params ArgumentsOf(const std::string& sentence) {
  Params args;
  for (size_t open = 0; (open = sentence.find('{', open)) != std::string::npos; ++open) {
    const size_t begin = sentence[open + 1] == '"' ? open + 2 : open + 1;
    const size_t end = sentence.find_first_of("|?:}", begin);
    args[sentence.substr(begin, end - begin)] = "value";
  }
  return args;
}

TEST(NoticeTest, EveryOneIsReadBackByNameAndArguments) {
  for (const NoticeText& text : kNotices) {
    const Notice notice = MakeNotice(text.name, ArgumentsOf(text.sentence));
    EXPECT_EQ(notice.code, text.code) << text.sentence;
    EXPECT_THAT(SentenceOf(notice), Not(testing::AnyOf(HasSubstr("{"), HasSubstr("}")))) << text.sentence;
  }
}

TEST(NoticeTest, OneOfALaterVersionIsOther) {
  EXPECT_EQ(MakeNotice("new-kind", {{"a", "b"}}).code, NoticeCode::kOther);
  EXPECT_EQ(MakeNotice("plugin-writable", {}).code, NoticeCode::kOther) << "without its arguments";
  Notices notices = {MakeNotice("new-kind", {{"a", "b"}}), {NoticeCode::kStaticStage}};
  CompleteOld(Texts{"new words", "static stage"}, &notices);
  EXPECT_THAT(SentencesOf(notices), ElementsAre("new words", "static stage"));
  EXPECT_THAT(CodesOf(notices), ElementsAre("other", "static-stage"));
}

TEST(OldWords, SentencesHaveTheirCodes) {
  const Texts sentences = {
      "image.cudnn is not promised by the matrix: cuDNN's version is not gated",
      "k >=1 is promised, and no required check of this selection judges it: it is not gated",
      "gpu1 (T4) is visible and was not used; --device all judges every GPU",
      "cuDNN 9 at /l (o) is used by no subject; a subject \"path:/\" judges it",
      "speed of 2 cases held to the baseline, not compared: there is no --baseline",
      "m.json:1:2: the waiver for \"x\" matches no case",
      "m: the waiver names the finding \"x\", which nobody declares",
      "m: the waiver names the finding \"x\", which is never reported with that blame; it is \"y\"",
      "and 3 more such warnings about waivers",
      "the case x of the earlier run is gone from the plan",
      "/t is missing: versions are judged without a table; repair the installation",
      "LD_X is set, with which no program runs: taken out of every process's environment",
      "/p is writable by others: chmod go-w it",
      "/p is owned by user 1, neither root nor user 2",
      "--auto: the loader finds no cuDNN; judged: the Python environment /v",
      "\"subjects\": \"auto\": 33 Python environments bring a cuDNN, of which 31 are judged; name those",
      "subject a: /f is not searched: its name holds a separator",
      "subject a: its folders hold more entries than are looked at",
      "the image is unidentified: nobody knows",
      "the shards ran with different drivers: 1 (1/2), 2 (2/2)",
      "new words"};
  Notices notices;
  CompleteOld(sentences, &notices);
  EXPECT_EQ(SentencesOf(notices), sentences);
  EXPECT_THAT(CodesOf(notices),
              ElementsAre("version-not-promised", "promise-not-judged", "gpu-not-used", "cudnn-not-used",
                          "speed-not-compared", "waiver-without-case", "waiver-without-finding",
                          "waiver-blame", "waivers-cut", "case-gone", "no-version-table", "variable-removed",
                          "plugin-writable", "plugin-owner", "auto-elsewhere", "environments-cut",
                          "subject-cut", "subject-cut", "image-unidentified", "drivers-differ", "other"));
}

TEST(OldWords, ReasonsOfAPartialRunHaveTheirCodes) {
  const auto codes = [](const std::string& text) {
    Notices partial;
    CompleteOldPartial(text, &partial);
    EXPECT_EQ(PartialText(partial), text);
    return CodesOf(partial);
  };
  EXPECT_THAT(codes(""), testing::IsEmpty());
  EXPECT_THAT(codes("of another version"), ElementsAre("other"));
  EXPECT_THAT(codes("static stage, isolation none"), ElementsAre("static-stage", "isolation-none"));
  EXPECT_THAT(
      codes("filtered, shard 2/4, without --disturb (a.static, b.filtered), rerun of what did not pass"),
      ElementsAre("filtered", "shard", "without-disturb", "rerun"));
}

}  // namespace
}  // namespace cudnn_ci
