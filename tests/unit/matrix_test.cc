// The matrix: what is read, what is merged and what every mistake is answered with.
#include "model/matrix.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/version.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

// The problems of a file, one a line, with the scratch folder cut off.
std::string Problems(const Scratch& scratch, const std::string& path) {
  const auto loaded = LoadMatrix(path);
  if (std::holds_alternative<Matrix>(loaded)) return "none";
  std::vector<std::string> lines;
  for (const Problem& problem : std::get<std::vector<Problem>>(loaded)) {
    std::string line = ToString(problem);
    for (size_t at; (at = line.find(scratch.path() + "/")) != line.npos;)
      line.erase(at, scratch.path().size() + 1);
    lines.push_back(line);
  }
  return Join(lines, "\n");
}

// What is wrong with a matrix of these keys, besides schema and name. They stand in line 2.
std::string ProblemsOf(const std::string& keys) {
  const Scratch scratch;
  return Problems(
      scratch, scratch.Write("m.json", "{\"schema\":\"cudnn-ci/matrix/1\",\"name\":\"m\",\n" + keys + "}\n"));
}

Matrix Load(const std::string& path) {
  auto loaded = LoadMatrix(path);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
    for (const Problem& problem : *problems) ADD_FAILURE() << ToString(problem);
    return {};
  }
  return std::get<Matrix>(std::move(loaded));
}

struct Mistake {
  const char* text;
  const char* message;
};

class MatrixMistake : public testing::TestWithParam<Mistake> {};

TEST_P(MatrixMistake, IsNamedAtItsPlace) { EXPECT_EQ(ProblemsOf(GetParam().text), GetParam().message); }

const Mistake kMistakes[] = {
    {R"("chekcs":[])", "m.json:2:1: error: unknown key \"chekcs\" in the matrix; did you mean \"checks\"?"},
    {R"("checks":{})", "m.json:2:10: error: \"checks\" must be a list, found an object"},
    {R"("name":"n")",
     "m.json:2:1: error: the key \"name\" was given before, at m.json:1:31; remove one of them"},
    {R"("runner":{"driver":525})",
     "m.json:2:20: error: \"runner.driver\" must be a range such as \">=12.0 <13\", found the integer 525"},
    {R"("runner":{"driver":">=525.x"})",
     "m.json:2:20: error: \"runner.driver\" is not a range: \"525.x\" in \">=525.x\" is not a version; write "
     "numbers "
     "and dots, as in \"12.0\""},
    {R"("runner":{"driver":">= 525"})",
     "m.json:2:20: error: \"runner.driver\" is not a range: \">=\" is not followed by a version; write it "
     "without a "
     "blank, as in \">=12.0\""},
    {R"("runner":{"driver":"~525"})",
     "m.json:2:20: error: \"runner.driver\" is not a range: \"~\" in \"~525\" is no operator; use >=, >, <=, "
     "<, = or "
     "!="},
    {R"("runner":{"gpus":"absent"})",
     "m.json:2:18: error: \"runner.gpus\" cannot be \"absent\"; only what an image holds can be"},
    {R"("image":{"cudn":">=9"})",
     "m.json:2:10: error: unknown key \"cudn\" in \"image\"; did you mean \"cudnn\"?"},
    {R"("subjects":{})",
     "m.json:2:12: error: \"subjects\" is empty; leave it out to judge what the loader finds"},
    {R"("subjects":{"Torch":"loader"})",
     "m.json:2:13: error: the subject name \"Torch\" must be lower-case letters, digits and \"_\", and begin "
     "with a "
     "letter"},
    {R"("subjects":{"t":"python:/opt/venv/bin/python"})",
     "m.json:2:17: error: the subject \"python:/opt/venv/bin/python\" is not supported by this version; name "
     "the folder "
     "of the interpreter's libraries with \"path:DIR\""},
    {R"("subjects":{"t":"path:lib"})",
     "m.json:2:17: error: the subject \"path:lib\" needs an absolute directory, as in "
     "\"path:/opt/cudnn/lib\""},
    {R"("defaults":{"timeout_s":0})",
     "m.json:2:25: error: \"timeout_s\" must be a number of seconds above 0 and at most 604800 (a week), "
     "found the "
     "integer 0"},
    {R"("defaults":{"required":"yes"})",
     "m.json:2:24: error: \"required\" must be true or false, found the string \"yes\""},
    {R"("shapes":{"a-b":{}})",
     "m.json:2:11: error: the shape name \"a-b\" stands in case ids and so must be made of letters, digits, "
     "\"_\", "
     "\".\" and \"+\""},
    {R"("checks":[{}])",
     "m.json:2:11: error: \"check\" is missing in an entry of \"checks\"; name the check, as in \"check\": "
     "\"driver.load\""},
    {R"("checks":[{"check":"a.b","timeout":3}])",
     "m.json:2:26: error: unknown key \"timeout\" in an entry of \"checks\"; did you mean \"timeout_s\"?"},
    {R"("checks":[{"check":"a.b","name":"a b"}])",
     "m.json:2:33: error: the name \"a b\" stands in case ids and so must be made of letters, digits, \"_\", "
     "\".\" and "
     "\"+\""},
    {R"("checks":[{"check":"a.b","axes":{"d":[]}}])",
     "m.json:2:38: error: \"axes.d\" must be a list of at least one value, found an empty list"},
    {R"("checks":[{"check":"a.b","params":{"d":1},"axes":{"d":[1]}}])",
     "m.json:2:51: error: \"d\" is an axis here and a parameter at m.json:2:40; remove one of them"},
    {R"("checks":[{"check":"a.b","axes":{"d":["x"]},"exclude":[{"e":1}]}])",
     "m.json:2:57: error: \"exclude\" speaks of \"e\", which is no axis of this entry; known are \"d\""},
    {R"("checks":[{"check":"a.b","axes":{"d":["float32"]},"exclude":[{"d":"float31"}]}])",
     "m.json:2:67: error: \"exclude\" leaves out the string \"float31\", which the axis \"d\" does not have; "
     "did you mean "
     "\"float32\"?"},
    {R"("checks":[{"check":"a.b","allow_skip":["unsuported"]}])",
     "m.json:2:40: error: \"unsuported\" is no kind of skip; did you mean \"unsupported\"?"},
    {R"("checks":[{"check":"a.b","subjects":["torch"]}])",
     "m.json:2:38: error: \"torch\" is no subject of the matrix; known are \"system\""},
    {R"("checks":[{"check":"a","id":"x"},{"check":"b","id":"x"}])",
     "m.json:2:34: error: the id \"x\" is taken by the entry at m.json:2:11; choose another"},
    {R"("waivers":[{"case":"*","slug":"s","reason":"r","owner":"o"}])",
     "m.json:2:12: error: \"expires\" is missing in a waiver; give its last day, as in \"2027-03-31\""},
    {R"("waivers":[{"case":"*","slug":"s","reason":"r","owner":"o","expires":"2027-02-29"}])",
     "m.json:2:70: error: \"expires\" must be a day of the calendar such as \"2027-03-31\", found "
     "\"2027-02-29\""},
    {R"("defaults":{},)",
     "m.json:2:15: error: this is not JSON: unexpected \"}\"; a comma or a value before it is one too many "
     "or missing"},
    {R"("defaults":{"a" 1})", "m.json:2:17: error: this is not JSON: unexpected \"1\"; expected here: ':'"},
    {R"("defaults":{'a':1})",
     "m.json:2:13: error: this is not JSON: unexpected \"'\"; strings stand in double quotes"},
    {"\"defaults\":\"\xFF\"", "m.json:2:13: error: the byte \\xFF is not UTF-8; save the file in UTF-8"},
    {R"("defaults":{"timeout_s":99999999999999999999})",
     "m.json:2:25: error: the integer 99999999999999999999 is too large for 64 bits"},
};
INSTANTIATE_TEST_SUITE_P(All, MatrixMistake, testing::ValuesIn(kMistakes));

TEST(MatrixFile, ThatCannotBeReadIsOneClearProblem) {
  const Scratch scratch;
  scratch.Write("matrix.json", "{}");
  EXPECT_EQ(Problems(scratch, scratch.File("matrx.json")),
            "matrx.json: error: No such file or directory; did you mean \"matrix.json\"?");
  EXPECT_EQ(Problems(scratch, scratch.path() + "/."),
            ".: error: is a directory, not a file; name the matrix file in it");
  EXPECT_EQ(Problems(scratch, scratch.Write("empty", " \n")),
            "empty:1:1: error: the file is empty; a matrix begins with {\"schema\": \"cudnn-ci/matrix/1\"");
  EXPECT_EQ(Problems(scratch, scratch.Write("comment", "// nothing\n")),
            "comment:2:1: error: the file holds no value; a matrix is an object in braces { }");
  EXPECT_EQ(Problems(scratch, scratch.Write("list", "[]")),
            "list:1:1: error: a matrix must be an object in braces { }, found an empty list");
  EXPECT_EQ(Problems(scratch, scratch.Write("cut", "{\"schema\":\n [1, 2")),
            "cut:2:7: error: the file ends inside the list that begins at cut:2:2; is its ] missing?");
  EXPECT_EQ(Problems(scratch, scratch.Write("deep", std::string(40, '['))),
            "deep:1:33: error: nested deeper than 32 levels; a matrix needs no more than five");
  EXPECT_EQ(
      Problems(scratch, scratch.Write("big", std::string(4 * 1024 * 1024 + 1, ' '))),
      "big: error: the file is larger than the limit of 4 MiB; split it, or let an axis make the cases");
  EXPECT_EQ(Problems(scratch, scratch.Write("schema", "{\"schema\":\"cudnn-ci/matrix/2\",\"name\":\"m\"}")),
            "schema:1:11: error: \"schema\" must be \"cudnn-ci/matrix/1\", found the string "
            "\"cudnn-ci/matrix/2\"; this "
            "version of cudnn-ci reads no other");
}

TEST(MatrixFile, AllProblemsComeAtOnceInOrder) {
  EXPECT_EQ(
      ProblemsOf(
          "\"checks\":[{\"check\":1},\n{\"check\":\"a.b\",\"nam\":\"x\"}],\"image\":{\"toolkit\":true}"),
      "m.json:2:20: error: \"check\" must be a string that is not empty, found the integer 1\n"
      "m.json:3:16: error: unknown key \"nam\" in an entry of \"checks\"; did you mean \"name\"?\n"
      "m.json:3:47: error: \"image.toolkit\" must be a range such as \">=12.0 <13\", found true");
}

TEST(MatrixFile, ValuesArriveWithTheirPositions) {
  const Scratch scratch;
  const Matrix matrix = Load(scratch.Write("m.json", R"({ // a comment with "quotes" and {
  "schema": "cudnn-ci/matrix/1", "name": "m\"é",  /* another ] */
  "image": { "cudnn": "absent" },
  "shapes": { "a.b+c": { "x": [1, -2], "y": 1.5 } },
  "checks": [ { "check": "a.b", "timeout_s": 2.5, "required": false, "allow_flaky": true,
                "allow_skip": ["memory"] } ]
})"));
  EXPECT_EQ(matrix.name, "m\"é");
  EXPECT_EQ(matrix.contract.at("image.cudnn"), "absent");
  EXPECT_EQ(matrix.subjects, (std::vector<SubjectInfo>{{"system", "loader"}}));
  ASSERT_EQ(matrix.shapes.size(), 1u);
  EXPECT_EQ(ToString(matrix.shapes[0].position), scratch.File("m.json") + ":4:15");
  EXPECT_EQ(ToString(matrix.shapes[0].fields[1].value.position), scratch.File("m.json") + ":4:45");
  ASSERT_EQ(matrix.entries.size(), 1u);
  EXPECT_EQ(ToString(matrix.entries[0].check_position), scratch.File("m.json") + ":5:26");
  EXPECT_EQ(matrix.entries[0].timeout_s, 2.5);
  EXPECT_EQ(matrix.entries[0].required, false);
  EXPECT_EQ(matrix.entries[0].allow_flaky, true);
  EXPECT_EQ(matrix.entries[0].allow_skip, std::vector<SkipKind>{SkipKind::kMemory});
}

TEST(MatrixExtends, MergesSectionsAppendsEntriesAndReplacesById) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.File("sub"));
  const std::string parent =
      R"({"schema":"cudnn-ci/matrix/1","name":"base","image":{"toolkit":">=12","cudnn":">=8"},
    "shapes":{"a":{"x":[1],"pad":3}},"checks":[{"id":"one","check":"p.one"},{"check":"p.two"}]})";
  const std::string child = R"({"schema":"cudnn-ci/matrix/1","name":"child","extends":"../base.json",
    "image":{"cudnn":">=9"},"shapes":{"a":{"x":[2]},"b":{}},
    "checks":[{"check":"p.three"},{"id":"one","check":"p.uno"}]})";
  scratch.Write("base.json", parent);
  const Matrix matrix = Load(scratch.Write("sub/child.json", child));
  EXPECT_EQ(matrix.name, "child");
  EXPECT_EQ(matrix.contract,
            (std::map<std::string, std::string>{{"image.toolkit", ">=12"}, {"image.cudnn", ">=9"}}));
  ASSERT_EQ(matrix.shapes.size(), 2u);
  EXPECT_EQ(matrix.shapes[0].fields.size(), 1u) << "a shape is replaced as a whole";
  ASSERT_EQ(matrix.entries.size(), 3u);
  EXPECT_EQ(matrix.entries[0].check, "p.uno");
  EXPECT_EQ(matrix.entries[1].check, "p.two");
  EXPECT_EQ(matrix.entries[2].check, "p.three");
  EXPECT_EQ(matrix.sha256, Sha256Hex(parent + child));
}

TEST(MatrixExtends, NamesTheCircle) {
  const Scratch scratch;
  const auto file = [](const char* parent) {
    return std::string("{\"schema\":\"cudnn-ci/matrix/1\",\"name\":\"m\",\n\"extends\":\"") + parent + "\"}";
  };
  scratch.Write("b.json", file("c.json"));
  scratch.Write("c.json", file("./a.json"));
  EXPECT_EQ(Problems(scratch, scratch.Write("a.json", file("b.json"))),
            "c.json:2:11: error: \"extends\" goes in a circle: a.json -> b.json -> c.json -> a.json; remove "
            "one of them");
}

TEST(MatrixExtends, AMissingParentIsReportedWhereItIsNamed) {
  const Scratch scratch;
  EXPECT_EQ(Problems(scratch,
                     scratch.Write("a.json", "{\"schema\":\"cudnn-ci/matrix/1\",\"extends\":\"base.json\"}")),
            "a.json:1:41: error: cannot extend \"base.json\": No such file or directory; check the path");
}

TEST(ShippedMatrices, AreValid) {
  for (const char* name : {"base", "cu11", "cu12", "cu13", "nightly"}) {
    const Matrix matrix = Load(std::string(CUDNN_CI_MATRICES) + "/" + name + ".json");
    EXPECT_EQ(matrix.name, name);
    EXPECT_GE(matrix.shapes.size(), 12u);
  }
  std::string error;
  const auto range = ParseRange(Load(CUDNN_CI_MATRICES "/cu11.json").contract.at("image.cudnn"), &error);
  EXPECT_TRUE(Contains(*range, *ParseVersion("9.10.2")));
  EXPECT_FALSE(Contains(*range, *ParseVersion("9.11.0")));
}

TEST(Version, ComparesPartByPart) {
  EXPECT_EQ(Compare(*ParseVersion("12"), *ParseVersion("12.0.0")), 0);
  EXPECT_LT(Compare(*ParseVersion("535.9"), *ParseVersion("535.10")), 0);
  for (const char* bad : {"", ".", "1.", "1..2", "-1", "+1", "1.x", " 1", "99999999999"}) {
    EXPECT_FALSE(ParseVersion(bad)) << bad;
  }
}

TEST(VersionRange, AllTermsMustHold) {
  std::string error;
  const auto range = ParseRange(">=12.0  <13 !=12.3", &error);
  ASSERT_TRUE(range) << error;
  EXPECT_TRUE(Contains(*range, *ParseVersion("12.4")));
  EXPECT_FALSE(Contains(*range, *ParseVersion("12.3.0")));
  EXPECT_FALSE(Contains(*range, *ParseVersion("13.0")));
  EXPECT_TRUE(Contains(*ParseRange("9.19.0", &error), *ParseVersion("9.19")));
  EXPECT_FALSE(ParseRange("absent", &error));
  EXPECT_FALSE(ParseRange("  ", &error));
}

}  // namespace
}  // namespace cudnn_ci
