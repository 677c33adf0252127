// Files of knowledge: what is refused and where, and what a later file may do to an earlier one.
#include "model/knowledge/knowledge.h"

#include <cudnn_ci/facts.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/text.h"
#include "model/knowledge/knowledge_format.h"
#include "model/record/notice_list.h"
#include "scratch.h"
#include "shipped_knowledge.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kHead[] = R"("as_of": "2026-12-01", "sources": {"team": "https://example.org/team"})";
constexpr char kFrom[] = R"("source": "team", "confidence": "sure")";

class KnowledgeTest : public ::testing::Test {
 protected:
  // A file of `schema` with the members `lists` behind its head.
  std::string Write(const std::string& name, const std::string& schema, const std::string& lists,
                    const std::string& head = kHead) {
    const std::string path = scratch_.File(name);
    std::ofstream(path) << "{\"schema\": \"cudnn-ci/" << schema << "\", " << head
                        << (lists.empty() ? "" : ",\n") << lists << "}\n";
    return path;
  }
  // The texts of the problems, without the folder.
  std::vector<std::string> Problems(const std::string& path) {
    std::vector<std::string> texts;
    auto loaded = LoadKnowledge(CUDNN_CI_KNOWLEDGE_FOLDER, {{path, "--knowledge"}}, &table_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded))
      for (const Problem& problem : *problems)
        texts.push_back(ToString(problem).substr(problem.position.file.rfind('/') + 1));
    return texts;
  }
  std::string Only(const std::string& schema, const std::string& lists, const std::string& head = kHead) {
    const std::vector<std::string> texts = Problems(Write("f.json", schema, lists, head));
    EXPECT_THAT(texts, SizeIs(1));
    return texts.empty() ? "" : texts[0];
  }
  Knowledge Load(const std::vector<KnowledgePlace>& places) {
    auto loaded = LoadKnowledge(CUDNN_CI_KNOWLEDGE_FOLDER, places, &table_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded))
      for (const Problem& problem : *problems) ADD_FAILURE() << ToString(problem);
    else
      return std::get<Knowledge>(loaded);
    return {};
  }
  static std::string Row(const std::string& fields) { return "{" + fields + ", " + kFrom + "}"; }

  Scratch scratch_;
  Compatibility table_;
};

const KnowledgeRow* Find(const Knowledge& knowledge, const std::string& list, const std::string& key) {
  for (const KnowledgeRow* row : knowledge.Rows(list))
    if (row->key == key) return row;
  return nullptr;
}

TEST_F(KnowledgeTest, WhatComesWithCudnnCiIsReadWhole) {
  const Knowledge knowledge = Load({});
  ASSERT_THAT(knowledge.files, SizeIs(3));
  EXPECT_EQ(knowledge.files[0].schema, "cudnn-ci/packages/1");
  EXPECT_THAT(knowledge.files[0].sha256, SizeIs(64));
  EXPECT_EQ(knowledge.files[0].from, "");
  EXPECT_THAT(knowledge.notices, IsEmpty());
  for (const KnowledgeRow& row : knowledge.rows) {
    EXPECT_NE(row.source, "") << row.list << " " << row.key;
    EXPECT_LE(row.entry.size(), kMaxKnowledgeEntry);
    EXPECT_TRUE(IsPrintableAscii(row.entry)) << row.entry;
  }
  size_t bytes = 0;
  for (const auto& [key, value] : EntriesOf(knowledge)) bytes += key.size() + value.size();
  EXPECT_LT(bytes, size_t{32} * 1024) << "every worker is told of it";
}

TEST_F(KnowledgeTest, EveryMistakeHasItsPlace) {
  EXPECT_EQ(Only("packages/1", R"("package": [])"),
            "f.json:2:1: error: unknown key \"package\" in the file; did you mean \"packages\"?");
  EXPECT_EQ(
      Only("packages/1", R"("packages": [{"manager": "pip", "name": "x", )" + std::string(kFrom) + "}]"),
      "f.json:2:26: error: \"manager\" must be one of \"python\", \"conda\", \"distribution\", found the "
      "string \"pip\"; known are \"python\", \"conda\", \"distribution\"");
  EXPECT_EQ(
      Only("packages/1", R"("packages": [{"manager": "conda", "name": "x", "confidence": "sure"}])"),
      "f.json:2:14: error: \"source\" is missing in a row of \"packages\"; name one of \"sources\", or a "
      "page");
}

TEST_F(KnowledgeTest, AFileOfAnotherKindIsRefused) {
  EXPECT_EQ(Only("packages/2", "").substr(0, 60),
            "f.json:1:12: error: the schema \"cudnn-ci/packages/2\" is not ");
  const std::string path = scratch_.File("f.json");
  std::ofstream(path) << "[]";
  EXPECT_THAT(
      Problems(path),
      ElementsAre(
          "f.json:1:1: error: a file of knowledge must be an object in braces { }, found an empty list"));
  EXPECT_THAT(Problems(scratch_.File("none.json")),
              ElementsAre("none.json: error: No such file or directory"));
}

// Paths lead nowhere but below the folders of packages; patterns take no time.
TEST_F(KnowledgeTest, NoRowNamesAFileOutsideOfThePackages) {
  const auto problems = [&](const std::string& step) {
    return Problems(
        Write("f.json", "imports/1",
              R"("imports": [{"import": "x", "title": "X", "marker": "x/y.so", "packages": ["x"], )" +
                  (R"("main": [)" + step + "], " + kFrom) + "}]"));
  };
  EXPECT_THAT(problems(R"({"open": "a*.so", "in": ["x/lib"], "need": "must"})"), IsEmpty());
  for (const char* bad :
       {R"({"open": "../a.so", "need": "must"})", R"({"open": "/lib/a.so", "need": "must"})",
        R"({"open": "a.so", "in": ["/etc"], "need": "must"})",
        R"({"open": "a.so", "in": ["x/../.."], "need": "must"})",
        R"({"open": "a.so", "in": ["x//y"], "need": "must"})",
        R"({"open": "a.so", "in": [], "need": "must"})", R"({"open": "*a*a*a*a*a.so", "need": "must"})",
        R"({"open": "a?.so", "need": "must"})", R"({"open": "a.so", "need": "perhaps"})",
        R"({"open": "a.so"})"})
    EXPECT_THAT(problems(bad), SizeIs(1)) << bad;
}

TEST_F(KnowledgeTest, BoundsHold) {
  std::string rows;
  for (size_t i = 0; i <= kMaxKnowledgeRows; ++i)
    rows += (i == 0 ? "" : ",") + Row(R"("feature": "triton", "package": "p)" + std::to_string(i) + '"');
  EXPECT_EQ(Only("compilers/1", "\"users\": [" + rows + "]"),
            "f.json:2:10: error: \"users\" has more than 1000 rows");
  const std::string name(121, 'a');
  EXPECT_EQ(
      Only("compilers/1", "\"users\": [" + Row(R"("feature": "triton", "package": ")" + name + '"') + "]")
          .substr(0, 54),
      "f.json:2:44: error: \"package\" must be a name of letter");
  std::string steps;
  for (int i = 0; i < 60; ++i)
    steps +=
        std::string(i == 0 ? "" : ", ") +
        R"({"open": "libaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.so", "in": ["aaaaaaaaaaaa/lib"], "need": "tried"})";
  EXPECT_EQ(Only("imports/1",
                 R"("imports": [)" +
                     Row(R"("import": "x", "title": "X", "marker": "x/y.so", "packages": ["x"], "main": [)" +
                         steps + "]") +
                     "]"),
            "f.json:2:13: error: a row of \"imports\" takes more than 4000 bytes");
}

TEST_F(KnowledgeTest, RowsAreOfSomethingThatIsThereAndOnce) {
  EXPECT_EQ(Only("packages/1",
                 "\"packages\": [" + Row(R"("manager": "python", "name": "x", "library": "cudn")") + "]"),
            "f.json:2:14: error: \"library\" \"cudn\" is none of \"libraries\"; did you mean \"cudnn\"?");
  const std::string row = Row(R"("feature": "triton", "package": "p")");
  EXPECT_EQ(Only("compilers/1", "\"users\": [" + row + "," + row + "]").substr(0, 15), "f.json:2:89: er");
}

// Who adds a library of the driver would hide that one is missing.
TEST_F(KnowledgeTest, TheDriversLibrariesAreNotATeamsToName) {
  const std::string path =
      Write("f.json", "packages/1",
            "\"driver_libraries\": [" + Row(R"("file": "libcublas.so", "functions": "cublas")") + ", " +
                Row(R"("file": "libcuda.so", "functions": "c")") + "]");
  const Knowledge base = Load({}), knowledge = Load({{path, "--knowledge"}});
  EXPECT_EQ(EntriesOf(knowledge), EntriesOf(base));
  ASSERT_THAT(knowledge.notices, SizeIs(2));
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeNotTaken);
  EXPECT_EQ(std::get<std::string>(knowledge.notices[0].args.at("row")), "driver_libraries libcublas.so");
}

// A remedy has words and a command, and nothing that a verdict depends on.
TEST_F(KnowledgeTest, NoFileChangesSeverityOrBlame) {
  for (const std::string key : {"severity", "blame", "summary"})
    EXPECT_EQ(Only("remedies/1",
                   "\"remedies\": [" +
                       Row(R"("finding": "driver-too-old", "remedy": "do", ")" + key + R"(": "note")") + "]")
                  .find("f.json:2:60: error: unknown key \"" + key + "\" in a row of \"remedies\""),
              0U);
}

TEST_F(KnowledgeTest, ALaterFileAddsRowsBehindAndReplacesThemInTheirPlace) {
  const std::string path =
      Write("f.json", "packages/1",
            "\"packages\": [" + Row(R"("manager": "python", "name": "torch", "framework": "Our PyTorch")") +
                ", " + Row(R"("manager": "python", "name": "acme-infer", "framework": "Acme")") + "]");
  const Knowledge base = Load({}), knowledge = Load({{path, "--knowledge"}});
  ASSERT_THAT(knowledge.files, SizeIs(4));
  EXPECT_EQ(knowledge.files[3].from, "--knowledge");
  EXPECT_EQ(knowledge.rows.size(), base.rows.size() + 1);
  EXPECT_EQ(Knowledge::Value(*Find(knowledge, "packages", "python torch"), "framework"), "Our PyTorch");
  EXPECT_EQ(knowledge.Rows("packages").back()->key, "python acme-infer");
  for (size_t i = 0; i < base.rows.size(); ++i) EXPECT_EQ(knowledge.rows[i].key, base.rows[i].key);
  ASSERT_THAT(SentencesOf(knowledge.notices), SizeIs(1)) << "what is replaced is said";
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeReplaced);
  EXPECT_EQ(std::get<std::string>(knowledge.notices[0].args.at("row")), "packages python torch");
}

TEST_F(KnowledgeTest, AnOlderFileAddsRowsAndReplacesNone) {
  const std::string path =
      Write("f.json", "packages/1",
            "\"packages\": [" + Row(R"("manager": "python", "name": "torch", "framework": "Our PyTorch")") +
                ", " + Row(R"("manager": "python", "name": "acme-infer", "framework": "Acme")") + "]",
            R"("as_of": "2020-01-01", "sources": {"team": "words"})");
  const Knowledge knowledge = Load({{path, ""}});
  EXPECT_EQ(Knowledge::Value(*Find(knowledge, "packages", "python torch"), "framework"), "PyTorch");
  EXPECT_NE(Find(knowledge, "packages", "python acme-infer"), nullptr);
  ASSERT_THAT(knowledge.notices, SizeIs(1));
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeOutdated);
}

// A newer copy of the files says most of what they say.
TEST_F(KnowledgeTest, TheSameRowAgainIsNoReplacement) {
  const Knowledge knowledge = Load({{CUDNN_CI_KNOWLEDGE_FOLDER "/packages.json", ""}});
  EXPECT_THAT(knowledge.notices, IsEmpty());
  EXPECT_EQ(knowledge.rows.size(), Load({}).rows.size());
}

TEST_F(KnowledgeTest, AFolderIsReadByNameWithoutSchemas) {
  mkdir(scratch_.File("d").c_str(), 0755);
  Write("d/b.json", "packages/1", "");
  Write("d/a.json", "imports/1", "");
  Write("d/a.schema.json", "no/1", "");
  std::ofstream(scratch_.File("d/README.md")) << "words";
  const Knowledge knowledge = Load({{scratch_.File("d"), "--knowledge"}});
  ASSERT_THAT(knowledge.files, SizeIs(5));
  EXPECT_EQ(knowledge.files[3].path, scratch_.File("d") + "/a.json");
  mkdir(scratch_.File("empty").c_str(), 0755);
  EXPECT_THAT(Problems(scratch_.File("empty")),
              ElementsAre("empty: error: the folder holds no file of knowledge (*.json)"));
}

TEST_F(KnowledgeTest, FactsAndKnownFaultsAreAddedToTheTable) {
  table_ =
      std::get<Compatibility>(LoadCompatibility(CUDNN_CI_KNOWLEDGE_FOLDER "/../matrices/compatibility.json"));
  const auto before = table_.entries;
  int known = 0;
  while (before.count(CCI_COMPATIBILITY_KNOWN + std::to_string(known) + CCI_COMPATIBILITY_KNOWN_ID) > 0)
    ++known;
  const std::string fault =
      R"("id": "team_fault", "library": "torch", "what": "w", "effect": "crash", "first": "2.1", "last": null, "fixed": "2.2", "hits": {})";
  const std::string path = Write("f.json", "compatibility/1",
                                 "\"known_regressions\": [" + Row(fault) +
                                     "], \"driver_floor\": {\"14\": " + Row(R"("driver": "700.1")") +
                                     ", \"12\": " + Row(R"("driver": "500.1")") +
                                     "}, \"driver_branches\": {\"branches\": {\"700\": \"14.0\"}, " + kFrom +
                                     "}, \"cards\": {\"capabilities\": [\"8.0\", \"11.0\"], " + kFrom + "}");
  const Knowledge knowledge = Load({{path, ""}});
  const std::string row = CCI_COMPATIBILITY_KNOWN + std::to_string(known);
  EXPECT_EQ(table_.entries.at(row + CCI_COMPATIBILITY_KNOWN_ID), "team_fault");
  EXPECT_EQ(table_.entries.at(row + CCI_COMPATIBILITY_KNOWN_FIXED), "2.2");
  EXPECT_EQ(table_.entries.at("driver_floor.14"), "700.1");
  EXPECT_EQ(table_.entries.at("driver_floor.12"), "500.1");
  EXPECT_EQ(table_.entries.at(CCI_COMPATIBILITY_DRIVER_BRANCHES),
            before.at(CCI_COMPATIBILITY_DRIVER_BRANCHES) + " 700");
  EXPECT_EQ(table_.entries.at(CCI_COMPATIBILITY_CARDS),
            "6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 10.3 11.0 12.0");
  EXPECT_EQ(table_.entries.at(CCI_COMPATIBILITY_AS_OF), before.at(CCI_COMPATIBILITY_AS_OF));
  ASSERT_THAT(knowledge.notices, SizeIs(1)) << "a lower driver is said";
  EXPECT_EQ(std::get<std::string>(knowledge.notices[0].args.at("row")), "driver_floor.12");
}

TEST_F(KnowledgeTest, AFileThatOthersMayWriteIsNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = Write("f.json", "packages/1", "");
  ASSERT_EQ(chown(path.c_str(), 12345, 0), 0);
  EXPECT_THAT(Problems(path), IsEmpty());
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_THAT(Problems(path),
              ElementsAre("f.json: error: refused: writable by others and owned by user 12345, not by "
                          "user 0; chmod go-w it"));
}

}  // namespace
}  // namespace cudnn_ci
