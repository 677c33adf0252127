// Notices as sentences.
#include "model/record/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_file.h"
#include "model/record/notice_list.h"

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
  EXPECT_EQ(undeclared("timed-out"), undeclared("") + "; did you mean \"timed-out\"?");
  const auto copy = [](const char* version) {
    return SentenceOf({NoticeCode::kCudnnNotUsed,
                       {{"version", version}, {"path", "/l"}, {"origin", "o"}, {"subject", "path:/"}}});
  };
  EXPECT_THAT(copy("9.1.0"), HasSubstr("cuDNN 9.1.0 at /l (o)"));
  EXPECT_THAT(copy(""), ::testing::AllOf(HasSubstr("unknown"), HasSubstr(" /l (o)")));
}

TEST(NoticeTest, ASentenceCounts) {
  const auto speed = [](int64_t cases) {
    return SentenceOf({NoticeCode::kSpeedNotCompared, {{"cases", cases}, {"why", "w"}}});
  };
  EXPECT_THAT(speed(1), HasSubstr(" 1 case "));
  EXPECT_THAT(speed(2), HasSubstr(" 2 cases "));
  const auto promise = [](Texts subjects) {
    return SentenceOf(
        {NoticeCode::kPromiseNotJudged, {{"key", "k"}, {"range", ">=1"}, {"subjects", std::move(subjects)}}});
  };
  EXPECT_EQ(promise({"a"}), promise({}) + " for the subject \"a\"");
  EXPECT_EQ(promise({"a", "b"}), promise({}) + " for the subjects \"a\", \"b\"");
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

TEST(NoticeTest, EverySentenceIsTheGoldenOne) {
  std::string text;
  for (const NoticeText& notice : kNotices) {
    Params args = ArgumentsOf(notice.sentence);
    for (auto& [name, value] : args) value = "<" + name + ">";
    if (args.count("subjects") > 0) args["subjects"] = Texts{"a", "b"};
    text += GoldenRow(notice.name, SentenceOf({notice.code, args}));
  }
  ExpectGolden("messages/notices.txt", text);
}

TEST(NoticeTest, OneOfALaterVersionIsOther) {
  EXPECT_EQ(MakeNotice("new-kind", {{"a", "b"}}).code, NoticeCode::kOther);
  EXPECT_EQ(MakeNotice("plugin-writable", {}).code, NoticeCode::kOther) << "without its arguments";
  Notices notices = {MakeNotice("new-kind", {{"a", "b"}}), {NoticeCode::kStaticStage}};
  ASSERT_TRUE(TakeSentences(Texts{"new words", "static stage"}, &notices));
  EXPECT_THAT(SentencesOf(notices), ElementsAre("new words", "static stage"));
  EXPECT_THAT(CodesOf(notices), ElementsAre("other", "static-stage"));
  Notices partial = {MakeNotice("new-kind", {}), {NoticeCode::kStaticStage}};
  ASSERT_TRUE(TakePartialText("new words, static stage", &partial));
  EXPECT_EQ(PartialText(partial), "new words, static stage");
}

TEST(NoticeTest, NoticesAndSentencesBelongTogether) {
  Notices notices = {{NoticeCode::kStaticStage}}, none;
  EXPECT_FALSE(TakeSentences({}, &notices));
  EXPECT_FALSE(TakeSentences({"filtered", "static stage"}, &notices));
  Notices unknown = {MakeNotice("new-kind", {})};
  EXPECT_FALSE(TakePartialText("", &unknown));
  EXPECT_FALSE(TakePartialText("filtered", &none));
  EXPECT_TRUE(TakeSentences({}, &none) && TakePartialText("", &none));
}

}  // namespace
}  // namespace cudnn_ci
