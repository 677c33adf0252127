// The rule itself: what is a search of a message, and what is none.
#include "message_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Found(const std::string& text) {
  return SearchedMessages("harness/exec/x.cc", text);
}

TEST(MessageRules, FindASearchInAMessage) {
  for (const char* code :
       {"if (finding.detail.find(\"subject\") == 0) return;", "f(b->reason.rfind(x));",
        "missing.detail.compare(0, n, head)", "return (skipped.need + skipped.seen).find(memory);",
        "result.error().starts_with(path)", "if (sentence.find(kind.words)) return;",
        "rest.find(kShardWords)", "text.find(std::string(\", \").append(words))", "note.text.contains(word)",
        "SentenceOf(notice).ends_with(x)", "if (finding.detail == \"gone\") f();",
        "x = std::string(e.what).find(y);", "std::regex_search(a, b)", "strstr(a, b)"})
    EXPECT_EQ(Found(code).size(), 1u) << code;
  EXPECT_THAT(Found("a;\n\nx.detail.find(y);"), ElementsAre(HasSubstr("harness/exec/x.cc:3: searches")));
}

TEST(MessageRules, LeaveAloneWhatIsNone) {
  for (const char* code :
       {"const size_t at = text.find(':');", "summary.Find(ref)", "path.find('/')",
        "f.detail == other.detail", "if (finding.detail.empty()) return;", "detail.append(x)",
        "// finding.detail.find(x)", "f(\"finding.detail.find(x)\")", "args.find(name)",
        "if (detail == \"\") return;", "kinds.find(kind)->second.detail",
        "std::find(messages.begin(), messages.end(), m)"})
    EXPECT_THAT(Found(code), IsEmpty()) << code;
  EXPECT_THAT(SearchedMessages("plugins/conv/x.cc", "e.detail.find(x)"), IsEmpty()) << "a library's words";
}

TEST(MessageRules, KnowWhoMay) {
  for (const MessageReader& reader : MessageReaders())
    EXPECT_THAT(SearchedMessages(reader.path, "x.detail.find(y);"), IsEmpty()) << reader.path;
}

}  // namespace
}  // namespace cudnn_ci
