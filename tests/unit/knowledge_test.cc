// Files of knowledge: what is refused and where, and what a later file may do to an earlier one.
#include "model/knowledge/knowledge.h"

#include <cudnn_ci/facts.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "base/time.h"
#include "golden_messages.h"
#include "mentions.h"
#include "model/knowledge/knowledge_format.h"
#include "model/record/notice_list.h"
#include "model/record/version.h"
#include "scratch.h"
#include "shipped_knowledge.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Of this day, so that no file that comes with cudnn-ci is newer.
std::string Head(const std::string& day = UtcDate()) {
  return R"("as_of": ")" + day + R"(", "sources": {"team": "https://example.org/team"})";
}
constexpr char kFrom[] = R"("source": "team", "confidence": "sure")";

class KnowledgeTest : public ::testing::Test {
 protected:
  // A file of `schema` with the members `lists` behind its head.
  std::string Write(const std::string& name, const std::string& schema, const std::string& lists,
                    const std::string& head = Head()) {
    std::string path = scratch_.File(name);
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
  // The text of the only problem.
  std::string Only(const std::string& schema, const std::string& lists, const std::string& head = Head()) {
    const std::vector<std::string> texts = Problems(Write("f.json", schema, lists, head));
    EXPECT_THAT(texts, SizeIs(1));
    return golden_.Row(CleanLine(schema + " " + lists, 100), texts.empty() ? "" : texts[0]);
  }
  Knowledge Load(const std::vector<KnowledgePlace>& places) {
    auto loaded = LoadKnowledge(CUDNN_CI_KNOWLEDGE_FOLDER, places, &table_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded))
      for (const Problem& problem : *problems) ADD_FAILURE() << ToString(problem);
    else
      return std::get<Knowledge>(loaded);
    return {};
  }
  void LoadTable() {
    table_ = std::get<Compatibility>(LoadCompatibility(CUDNN_CI_KNOWLEDGE_FOLDER "/compatibility.json"));
  }
  // Releases of cuDNN for CUDA 12, which support cards up to `highest`.
  static std::string Releases(const std::string& from, const std::string& to, const std::string& highest) {
    return Row(
        R"("cudnn_from": ")" + from + R"(", "cudnn_to": ")" + to +
        R"(", "cuda_major": 12, "cuda": ["12.8"], "driver_min": null, "compute_capability_min": "7.5", )" +
        R"("compute_capability_max": ")" + highest + '"');
  }
  // The highest cards of the rows that speak of a release for CUDA 12.
  std::vector<std::string> HighestOf(const std::string& release) {
    std::vector<std::string> found;
    for (int i = 0;; ++i) {
      const std::string row = CCI_COMPATIBILITY_CUDNN "12." + std::to_string(i);
      const auto from = table_.entries.find(row + CCI_COMPATIBILITY_CUDNN_FROM);
      if (from == table_.entries.end()) return found;
      if (Compare(*ParseVersion(from->second), *ParseVersion(release)) <= 0 &&
          Compare(*ParseVersion(release),
                  *ParseVersion(table_.entries.at(row + CCI_COMPATIBILITY_CUDNN_TO))) <= 0)
        found.push_back(table_.entries.at(row + CCI_COMPATIBILITY_CUDNN_HIGHEST));
    }
  }
  static std::string RowsIn(const Notice& notice) { return std::get<std::string>(notice.args.at("rows")); }
  static std::string Row(const std::string& fields) { return "{" + fields + ", " + kFrom + "}"; }

  Scratch scratch_;
  Compatibility table_;
  GoldenMessages golden_{"knowledge.txt", {{UtcDate(2), "DAY"}, {CUDNN_CI_KNOWLEDGE_FOLDER, "KNOWLEDGE"}}};
};

const KnowledgeRow* Find(const Knowledge& knowledge, const std::string& list, const std::string& key) {
  for (const KnowledgeRow* row : knowledge.Rows(list))
    if (row->key == key) return row;
  return nullptr;
}

TEST_F(KnowledgeTest, WhatComesWithCudnnCiIsReadWhole) {
  const Knowledge knowledge = Load({});
  // Each adapter is a row and its code.
  EXPECT_EQ(knowledge.files.size(), 3 + 2 * knowledge.Rows("adapters").size());
  EXPECT_EQ(knowledge.files[0].schema, "cudnn-ci/packages/1");
  EXPECT_THAT(knowledge.files[0].sha256, SizeIs(64));
  EXPECT_EQ(knowledge.files[0].from, "");
  EXPECT_THAT(knowledge.notices, IsEmpty());
  for (const KnowledgeRow& row : knowledge.rows) {
    EXPECT_NE(row.source, "") << row.list << " " << row.key;
    // The code of an adapter, which has a limit of its own, is part of its row.
    EXPECT_LE(row.entry.size(), kMaxKnowledgeEntry + (row.list == "adapters" ? kMaxAdapterBytes : 0));
    EXPECT_TRUE(IsPrintableAscii(row.entry)) << row.entry;
  }
  size_t adapters = 0, others = 0;
  for (const auto& [key, value] : EntriesOf(knowledge)) {
    (IsEntryOfAdapters(key) ? adapters : others) += key.size() + value.size();
  }
  EXPECT_LT(others, size_t{40} * 1024) << "every worker is told of it";
  EXPECT_LT(adapters, size_t{64} * 1024) << "every worker of the plugin kernels is";
}

TEST_F(KnowledgeTest, EveryMistakeHasItsPlace) {
  EXPECT_THAT(Only("packages/1", R"("package": [])"), Mentions("f.json:2:1:", "\"package\"", "\"packages\""));
  EXPECT_THAT(
      Only("packages/1", R"("packages": [{"manager": "pip", "name": "x", )" + std::string(kFrom) + "}]"),
      Mentions("f.json:2:26:", "\"manager\"", "\"python\"", "\"conda\"", "\"distribution\"", "\"pip\""));
  EXPECT_THAT(Only("packages/1", R"("packages": [{"manager": "conda", "name": "x", "confidence": "sure"}])"),
              Mentions("f.json:2:14:", "\"source\"", "\"packages\"", "\"sources\""));
}

TEST_F(KnowledgeTest, AFileOfAnotherKindIsRefused) {
  EXPECT_THAT(Only("packages/2", "").substr(0, 60), Mentions("f.json:1:12:", "\"cudnn-ci/packages/2\""));
  EXPECT_TRUE(Only("packages/2", "\"needs\": []")
                  .ends_with("write \"schema\": \"cudnn-ci/compilers/1\", the schema of its lists"));
  EXPECT_TRUE(Only("matrix/1", "\"known_regressions\": []")
                  .ends_with("write \"schema\": \"cudnn-ci/compatibility/1\", the schema of its lists"));
  const std::string empty = scratch_.File("empty.json");
  std::ofstream(empty) << "\n";
  EXPECT_THAT(
      Problems(empty),
      ElementsAre(
          "empty.json:1:1: error: the file is empty; a file of knowledge begins with {\"schema\": \"cudnn-ci/packages/1\""));
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
  EXPECT_THAT(Only("compilers/1", "\"users\": [" + rows + "]"),
              Mentions("f.json:2:10:", "\"users\"", "1000"));
  const std::string name(121, 'a');
  EXPECT_THAT(
      Only("compilers/1", "\"users\": [" + Row(R"("feature": "triton", "package": ")" + name + '"') + "]")
          .substr(0, 54),
      Mentions("f.json:2:44:", "\"package\""));
  std::string steps;
  for (int i = 0; i < 60; ++i)
    steps +=
        std::string(i == 0 ? "" : ", ") +
        R"({"open": "libaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.so", "in": ["aaaaaaaaaaaa/lib"], "need": "tried"})";
  EXPECT_THAT(
      Only("imports/1",
           R"("imports": [)" +
               Row(R"("import": "x", "title": "X", "marker": "x/y.so", "packages": ["x"], "main": [)" +
                   steps + "]") +
               "]"),
      Mentions("f.json:2:13:", "\"imports\"", "4000"));
}

TEST_F(KnowledgeTest, RowsAreOfSomethingThatIsThereAndOnce) {
  EXPECT_THAT(Only("packages/1",
                   "\"packages\": [" + Row(R"("manager": "python", "name": "x", "library": "cudn")") + "]"),
              Mentions("f.json:2:14:", "\"library\"", "\"cudn\"", "\"libraries\"", "\"cudnn\""));
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
  ASSERT_THAT(knowledge.notices, SizeIs(1));
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeNotTaken);
  EXPECT_EQ(RowsIn(knowledge.notices[0]), "driver_libraries libcublas.so, libcuda.so");
}

// A remedy has words and a command, and nothing that a verdict depends on.
TEST_F(KnowledgeTest, NoFileChangesSeverityOrBlame) {
  for (const std::string key : {"severity", "blame", "summary"})
    EXPECT_THAT(
        Only("remedies/1",
             "\"remedies\": [" +
                 Row(R"("finding": "driver-too-old", "remedy": "do", ")" + key + R"(": "note")") + "]"),
        AllOf(StartsWith("f.json:2:60: error: "), HasSubstr(" \"" + key + "\" ")));
}

TEST_F(KnowledgeTest, ALaterFileAddsRowsBehindAndReplacesThemInTheirPlace) {
  const std::string path =
      Write("f.json", "packages/1",
            "\"packages\": [" + Row(R"("manager": "python", "name": "torch", "framework": "Our PyTorch")") +
                ", " + Row(R"("manager": "python", "name": "acme-infer", "framework": "Acme")") + "]");
  const Knowledge base = Load({}), knowledge = Load({{path, "--knowledge"}});
  ASSERT_EQ(knowledge.files.size(), base.files.size() + 1);
  EXPECT_EQ(knowledge.files.back().from, "--knowledge");
  EXPECT_EQ(knowledge.rows.size(), base.rows.size() + 1);
  EXPECT_EQ(Knowledge::Value(*Find(knowledge, "packages", "python torch"), "framework"), "Our PyTorch");
  EXPECT_EQ(knowledge.Rows("packages").back()->key, "python acme-infer");
  for (size_t i = 0; i < base.rows.size(); ++i) EXPECT_EQ(knowledge.rows[i].key, base.rows[i].key);
  ASSERT_THAT(SentencesOf(knowledge.notices), SizeIs(1)) << "what is replaced is said";
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeReplaced);
  EXPECT_EQ(std::get<std::string>(knowledge.notices[0].args.at("rows")), "packages python torch");
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
  const size_t base = Load({}).files.size();
  ASSERT_EQ(knowledge.files.size(), base + 2);
  EXPECT_EQ(knowledge.files[base].path, scratch_.File("d") + "/a.json");
  mkdir(scratch_.File("empty").c_str(), 0755);
  EXPECT_THAT(Problems(scratch_.File("empty")), ElementsAre(testing::StartsWith("empty: error: ")));
}

TEST_F(KnowledgeTest, FactsAndKnownFaultsAreAddedToTheTable) {
  LoadTable();
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
  EXPECT_EQ(std::get<std::string>(knowledge.notices[0].args.at("rows")), "driver_floor 12");
}

// A fault of a library that nobody knew is data alone.
TEST_F(KnowledgeTest, AKnownFaultIsOfALibraryThatARowNames) {
  const auto fault = [](const std::string& library) {
    return "\"known_regressions\": [\n" +
           Row(R"("id": "team_fault", "library": ")" + library +
               R"(", "what": "w", "effect": "crash", "first": "2.1", "last": null, "fixed": "2.2", "hits": {})") +
           "]";
  };
  EXPECT_THAT(Only("compatibility/1", fault("ncl")), Mentions("f.json:3:1:", "\"library\"", "\"ncl\"",
                                                              "\"team_fault\"", "\"libraries\"", "\"nccl\""));
  table_ = {};
  const std::string library =
                        Write("a.json", "packages/1",
                              "\"libraries\": [" + Row(R"("library": "mxnet", "title": "MXNet")") + "]"),
                    row = Write("b.json", "compatibility/1", fault("mxnet"));
  Load({{library, ""}, {row, ""}});
  EXPECT_EQ(table_.entries.at("known.0.library"), "MXNet");
  EXPECT_EQ(table_.entries.at("known.0.hits"), "library=mxnet ");
  EXPECT_EQ(Knowledge::Value(FaultRows(table_).front(), "library"), "mxnet");
}

// Two rows of 9.10 for CUDA 12 come with cudnn-ci; the widest bounds of all count.
TEST_F(KnowledgeTest, ReleasesOfCudnnReplaceTheRowsThatTheyOverlap) {
  LoadTable();
  ASSERT_THAT(HighestOf("9.10.1"), ElementsAre("12.0", "9.0"));
  const std::string path = Write("f.json", "compatibility/1",
                                 "\"cudnn\": [" + Releases("9.9.9", "9.10.9", "8.6") + ", " +
                                     Releases("9.90.0", "9.91.0", "12.1") + "]");
  const Knowledge knowledge = Load({{path, ""}});
  EXPECT_THAT(HighestOf("9.10.1"), ElementsAre("8.6"));
  EXPECT_THAT(HighestOf("9.9.0"), ElementsAre("12.0"));
  EXPECT_THAT(HighestOf("9.90.0"), ElementsAre("12.1"));
  ASSERT_THAT(knowledge.notices, SizeIs(1));
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeReplaced);
  EXPECT_EQ(RowsIn(knowledge.notices[0]), "cudnn of CUDA 12 9.10.0 to 9.10.2");
}

TEST_F(KnowledgeTest, APartOfARowOfReleasesIsRefused) {
  LoadTable();
  EXPECT_THAT(Only("compatibility/1", "\"cudnn\": [" + Releases("9.20.0", "9.20.0", "12.1") + "]"),
              Mentions("f.json:2:11:", "9.20.0", "9.18.0", "9.24.1"));
  LoadTable();
  Load({{Write("f.json", "compatibility/1",
               "\"cudnn\": [" + Releases("9.18.0", "9.19.9", "9.0") + ", " +
                   Releases("9.20.0", "9.24.1", "12.1") + "]"),
         ""}});
  EXPECT_THAT(HighestOf("9.18.1"), ElementsAre("9.0"));
  EXPECT_THAT(HighestOf("9.20.0"), ElementsAre("12.1"));
}

TEST_F(KnowledgeTest, OlderReleasesOfCudnnReplaceNone) {
  LoadTable();
  const Knowledge knowledge =
      Load({{Write("f.json", "compatibility/1", "\"cudnn\": [" + Releases("9.20.0", "9.20.0", "12.1") + "]",
                   Head("2020-01-01")),
             ""}});
  EXPECT_THAT(HighestOf("9.20.0"), ElementsAre("12.0"));
  ASSERT_THAT(knowledge.notices, SizeIs(1));
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeOutdated);
}

// The later of two added files is held against the earlier one, and the table's own day says nothing of it.
TEST_F(KnowledgeTest, AddedFactsHaveTheDayOfTheirOwnFile) {
  LoadTable();
  table_.identity.as_of = "2020-01-01";
  const auto fault = [](const std::string& what) {
    return "\"known_regressions\": [" +
           Row(R"("id": "team_fault", "library": "torch", "what": ")" + what +
               R"(", "effect": "crash", "first": "2.1", "last": null, "fixed": "2.2", "hits": {})") +
           "], \"driver_floor\": {\"14\": " + Row(R"("driver": "700.1")") + "}";
  };
  const std::string newer = Write("a.json", "compatibility/1", fault("new"), Head("2026-11-20")),
                    older = Write("b.json", "compatibility/1", fault("old"), Head("2026-11-19"));
  const Knowledge knowledge = Load({{newer, ""}, {older, ""}});
  ASSERT_THAT(knowledge.notices, SizeIs(1));
  EXPECT_EQ(knowledge.notices[0].code, NoticeCode::kKnowledgeOutdated);
  EXPECT_EQ(RowsIn(knowledge.notices[0]), "known_regressions team_fault");
  EXPECT_EQ(std::get<std::string>(knowledge.notices[0].args.at("earlier")), newer);
  EXPECT_EQ(std::get<std::string>(knowledge.notices[0].args.at("earlier_as_of")), "2026-11-20");
  EXPECT_EQ(FaultRows(table_).back().position.file, newer);
  EXPECT_EQ(table_.FileOf("driver_floor.14").path, newer);
  EXPECT_EQ(table_.FileOf("driver_floor.12").path, table_.identity.path);
}

TEST_F(KnowledgeTest, NothingIsReplacedUnnamed) {
  const auto packages = [&](const std::string& name, const std::string& title, size_t count) {
    std::string rows;
    for (size_t i = 0; i < count; ++i)
      rows += (i == 0 ? "" : ",") + Row(R"("manager": "conda", "name": "package)" + std::to_string(i) +
                                        R"(", "framework": ")" + title + '"');
    return KnowledgePlace{Write(name, "packages/1", "\"packages\": [" + rows + "]"), ""};
  };
  const Knowledge knowledge = Load({packages("a.json", "A", 300), packages("b.json", "B", 300)});
  std::string named;
  for (const Notice& notice : knowledge.notices) {
    EXPECT_EQ(notice.code, NoticeCode::kKnowledgeReplaced);
    EXPECT_LT(RowsIn(notice).size(), 1100U);
    named += RowsIn(notice) + ", ";
  }
  EXPECT_LT(knowledge.notices.size(), 10U);
  for (int i = 0; i < 300; ++i)
    EXPECT_NE(named.find("conda package" + std::to_string(i) + ","), std::string::npos) << i;
  const auto crowd =
      LoadKnowledge(CUDNN_CI_KNOWLEDGE_FOLDER,
                    {packages("a.json", "A", 300), packages("b.json", "B", 300), packages("c.json", "C", 300),
                     packages("d.json", "D", 300), packages("e.json", "E", 300)},
                    &table_);
  const auto* problems = std::get_if<std::vector<Problem>>(&crowd);
  ASSERT_NE(problems, nullptr) << "more than anybody reads";
  EXPECT_EQ(problems->front().position.file, scratch_.File("e.json"));
}

TEST_F(KnowledgeTest, ARemedyIsOfAFindingThatIsDeclared) {
  EXPECT_THAT(
      Only("remedies/1",
           "\"remedies\": [" + Row(R"("finding": "image.library-missing", "remedy": "do")") + "]"),
      Mentions("f.json:2:26:", "\"finding\"", "\"library-missing\"", "120", "\"image.library-missing\""));
  const Knowledge knowledge =
      Load({{Write("f.json", "remedies/1",
                   "\"remedies\": [" + Row(R"("finding": "driver-too-old", "remedy": "do")") + ",\n" +
                       Row(R"("finding": "library-mising", "remedy": "do")") + "]"),
             ""}});
  const std::vector<Problem> problems = CheckRemedies(knowledge, {"driver-too-old", "library-missing"});
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].position.line, 3);
  EXPECT_EQ(problems[0].position.column, 1);
  EXPECT_EQ(problems[0].message,
            "no plugin declares the finding \"library-mising\"; did you mean \"library-missing\"?");
}

TEST_F(KnowledgeTest, ARemedyIsReplacedAsAWhole) {
  const Knowledge knowledge =
      Load({{Write("f.json", "remedies/1",
                   "\"remedies\": [" + Row(R"("finding": "driver-too-old", "remedy": "ask us")") + "]"),
             ""}});
  FindingInfo finding;
  finding.slug = "driver-too-old";
  finding.remedy = "update";
  finding.link = "https://example.org";
  finding.command = "apt-get install";
  finding.where = Where::kHost;
  ApplyRemedy(knowledge, &finding);
  EXPECT_EQ(finding.remedy, "ask us");
  EXPECT_EQ(finding.link, "");
  EXPECT_EQ(finding.command, "");
  EXPECT_EQ(finding.where, Where::kNone);
}

TEST_F(KnowledgeTest, WhatSaysNothingIsRefused) {
  const auto remedy = [&](const std::string& fields) {
    return Only("remedies/1", "\"remedies\": [" + Row(R"("finding": "driver-too-old", )" + fields) + "]");
  };
  EXPECT_EQ(
      remedy(R"("remedy": "  ")"),
      "f.json:2:54: error: \"remedy\" must be words on one line, of at most 1000 bytes, found the string \"\"");
  EXPECT_EQ(remedy(R"("remedy": "do", "command": "x")"),
            "f.json:2:71: error: \"command\" says nothing without \"where\"; write both, or none");
  EXPECT_EQ(remedy(R"("remedy": "do", "where": "host")"),
            "f.json:2:69: error: \"where\" says nothing without \"command\"; write both, or none");
  EXPECT_THAT(Only("packages/1", "", Head(UtcDate(2))), Mentions("f.json:1:44:", "\"as_of\""));
}

TEST_F(KnowledgeTest, PatternsAreOfFewPackages) {
  const auto package = [&](const std::string& manager, const std::string& name) {
    return Problems(
        Write("f.json", "packages/1",
              "\"packages\": [" + Row(R"("manager": ")" + manager + R"(", "name": ")" + name + '"') + "]"));
  };
  for (const char* good : {"x", "acme-infer", "acme-cu#*", "acme-*"})
    EXPECT_THAT(package("python", good), IsEmpty()) << good;
  for (const char* bad :
       {"*", "a*", "#*", "##*", "*a", "Acme", "acme_infer", "acme.infer", "acme--infer", "acme+1"})
    EXPECT_THAT(package("python", bad), SizeIs(1)) << bad;
  EXPECT_TRUE(
      package("python", "Acme_Infer")[0].ends_with("found the string \"Acme_Infer\"; write \"acme-infer\""));
  EXPECT_THAT(package("conda", "acme_infer"), IsEmpty());
  EXPECT_THAT(package("conda", "*"), SizeIs(1));
}

TEST_F(KnowledgeTest, SeedsOfTheFuzzerAreAccepted) {
  for (const auto& seed : std::filesystem::directory_iterator(CUDNN_CI_FUZZ_SEEDS))
    EXPECT_THAT(Problems(seed.path()), IsEmpty()) << seed.path();
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
