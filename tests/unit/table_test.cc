// Tables that checks attach: what is one, and what it becomes.
#include "model/record/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Document(const std::string& rest) { return R"({"schema":"cudnn-ci/table/1",)" + rest + "}"; }

TEST(Table, CellsAreTextsWithOrWithoutAState) {
  const Result<AttachedTable> table = ParseTable(Document(
      R"("title":"t","columns":["a","b"],"rows":[["x",{"text":"y","state":"error"}],[{"text":"z"},""]],"left_out":3)"));
  ASSERT_TRUE(table.ok()) << table.error();
  EXPECT_EQ(table->title, "t");
  EXPECT_THAT(table->columns, ElementsAre("a", "b"));
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].cells[1].text, "y");
  EXPECT_EQ(table->rows[0].cells[1].state, CellState::kError);
  EXPECT_EQ(table->rows[1].cells[0].state, CellState::kNone);
  EXPECT_EQ(table->left_out, 3);
}

TEST(Table, TextsAreCleanedAndCut) {
  const Result<AttachedTable> table =
      ParseTable(Document(R"("columns":["a\nb"],"rows":[[")" + std::string(5000, 'x') + R"("]])"));
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->columns[0].find('\n'), std::string::npos);
  EXPECT_LE(table->rows[0].cells[0].text.size(), kMostTableText + 20);
}

TEST(Table, WhatIsNoneIsSaid) {
  const auto why = [](const std::string& text) {
    const Result<AttachedTable> table = ParseTable(text);
    return table.ok() ? std::string("a table") : table.error();
  };
  EXPECT_THAT(why("no JSON"), HasSubstr("no JSON object"));
  EXPECT_THAT(why("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(why(R"({"columns":["a"],"rows":[]})"), HasSubstr("schema"));
  EXPECT_THAT(why(R"({"schema":"cudnn-ci/table/2","columns":["a"],"rows":[]})"), HasSubstr("schema"));
  for (const char* columns : {R"([])", R"("a")", R"([1])"})
    EXPECT_THAT(why(Document(std::string("\"columns\":") + columns + ",\"rows\":[]")), HasSubstr("columns"));
  EXPECT_THAT(why(Document(R"("columns":["a"])")), HasSubstr("rows"));
  for (const char* row : {R"([])", R"(["a","b"])", R"("a")"})
    EXPECT_THAT(why(Document(std::string(R"("columns":["a"],"rows":[)") + row + "]")),
                HasSubstr("each column"));
  for (const char* cell : {"1", "null", R"({"state":"ok"})", R"({"text":1})",
                           R"({"text":"a","state":"fine"})", R"({"text":"a","state":1})"})
    EXPECT_THAT(why(Document(std::string(R"("columns":["a"],"rows":[[)") + cell + "]]")),
                HasSubstr("a cell"));
  std::string rows = "[\"\"]", columns = "\"a\"";
  for (int i = 0; i < 1000; ++i) rows += ",[\"\"]";
  EXPECT_THAT(why(Document("\"columns\":[\"a\"],\"rows\":[" + rows + "]")), HasSubstr("1000 rows"));
  for (int i = 0; i < 32; ++i) columns += ",\"a\"";
  EXPECT_THAT(why(Document("\"columns\":[" + columns + "],\"rows\":[]")), HasSubstr("1 to 32"));
  EXPECT_THAT(why(std::string(300 << 10, ' ')), HasSubstr("256 KiB"));
}

}  // namespace
}  // namespace cudnn_ci
