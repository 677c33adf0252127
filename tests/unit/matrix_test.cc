// The matrix: what is read, what is merged and what every mistake is answered with.
#include "model/matrix/matrix.h"

#include <gmock/gmock.h>

#include <set>

#include "golden_file.h"
#include "golden_messages.h"
#include "matrix_files.h"
#include "mentions.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

const char* const kMistakes[] = {
    R"("chekcs":[])",
    R"("checks":{})",
    R"("name":"n")",
    R"("runner":{"driver":525})",
    R"("runner":{"driver":">=525.x"})",
    R"("runner":{"driver":">= 525"})",
    R"("runner":{"driver":"~525"})",
    R"("runner":{"gpus":"absent"})",
    R"("image":{"cudn":">=9"})",
    R"("subjects":{})",
    R"("subjects":{"Torch":"loader"})",
    R"("defaults":{"timeout_s":0})",
    R"("defaults":{"timeout_s":1e-300})",
    R"("defaults":{"required":"yes"})",
    R"("shapes":{"a-b":{}})",
    R"("checks":[{}])",
    R"("checks":[{"check":"a.b","timeout":3}])",
    R"("checks":[{"check":"a.b","name":"a b"}])",
    R"("checks":[{"check":"a.b","axes":{"d":[]}}])",
    R"("checks":[{"check":"a.b","params":{"d":1},"axes":{"d":[1]}}])",
    R"("checks":[{"check":"a.b","axes":{"d":["x"]},"exclude":[{"e":1}]}])",
    R"("checks":[{"check":"a.b","axes":{"d":["float32"]},"exclude":[{"d":"float31"}]}])",
    R"("checks":[{"check":"a.b","axes":{"d":[{"x":1}]},"exclude":[{"d":{"x":1,"y":2}}]}])",
    R"("checks":[{"check":"a.b","axes":{"d":[{"x":1,"y":2}]},"exclude":[{"d":{"x":1,"z":2}}]}])",
    R"("checks":[{"check":"a.b","axes":{"d":["float32"]},"slow":[{"d":"float31"}]}])",
    R"("checks":[{"check":"a.b","slow":[{}]}])",
    R"("checks":[{"check":"a.b","allow_skip":["unsuported"]}])",
    R"("checks":[{"check":"a.b","subjects":["torch"]}])",
    R"("checks":[{"check":"a","id":"x"},{"check":"b","id":"x"}])",
    R"("waivers":[{"case":"*","slug":"s","reason":"r","owner":"o"}])",
    R"("waivers":[{"case":"*","slug":"s","reason":"r","owner":"o","expires":"2027-02-29"}])",
    R"("$schema":5)",
    R"("runner":{"driver":">=600 <500"})",
    R"("checks":[{"check":"a.b","include":[]}])",
    R"("defaults":{"timeout_s" /* the time */ /* in seconds */: 0 // none
})",
    R"("checks":[{"check":"a.b\u0000c"}])",
    R"("shapes":{"a\u0000b":{}})",
    R"("waivers":[{"case":"*","slug":"imag.x","reason":"r","owner":"o","expires":"2027-02-28"}])",
    R"("waivers":[{"case":"*","slug":"image.","reason":"r","owner":"o","expires":"2027-02-28"}])",
    R"("waivers":[{"case":"*","slug":"no_engine","reason":"r","owner":"o","expires":"2027-02-28"}])",
    R"("defaults":{},)",
    R"("defaults":{"a" 1})",
    R"("defaults":{'a':1})",
    "\"defaults\":\"\xFF\"",
    R"("defaults":{} "image":{})",
    R"("checks":[1,,2])",
    R"("checks":[1 2])",
    R"("defaults":{"required":True})",
    R"("defaults":{"timeout_s":01})",
    R"("defaults":{"timeout_s":1e999})",
    R"("defaults":{timeout_s:1})",
    R"("name2":"a\qb")",
    R"("name2":"a\ud800b")",
    R"("name2":"a\ud800\u0041b")",
    R"("name2":"\ud83d\ude00\q")",
    R"("name2":"a\u00g0b")",
    R"("name2":"\ud83d\ude00\/\n\u00e9")",
    "\"name2\":\"a\nb\"",
    "\"name2\":\"a\tb\"",
    "\"defaults\":{\xE2\x80\x9C"
    "a\xE2\x80\x9D:1}",
    R"("checks":[1}],)",
    R"("defaults":{} / 1)",
    R"("defaults":{"timeout_s":99999999999999999999})",
};

// Each with its place, what is wrong and what is expected.
TEST(MatrixMistakes, AreAnsweredAsTheGoldenFileHasIt) {
  std::string text;
  for (const char* mistake : kMistakes) text += GoldenRow(CleanLine(mistake, 500), ProblemsOf(mistake));
  ExpectGolden("messages/matrix.txt", text);
}

std::string Waiver(const std::string& reason) {
  return R"({"case":"*","slug":"s","owner":"o","expires":"2027-01-01","reason":")" + reason + "\"}";
}

// What is read must fit into a message to a worker and into a line of the journal.
TEST(MatrixBounds, OnTextsAreToldAtTheirPlaces) {
  GoldenMessages golden("matrix_files.txt");
  const std::string name(201, 'n'), text(4001, 't');
  EXPECT_THAT(ProblemsOf(R"("checks":[{"check":"a.b","id":")" + name + "\"}]", &golden),
              Mentions("m.json:2:31:", "\"id\"", "200"));
  EXPECT_THAT(ProblemsOf(R"("checks":[{"check":")" + name + "\"}]", &golden),
              Mentions("m.json:2:20:", "\"check\"", "200"));
  EXPECT_THAT(ProblemsOf(R"("checks":[{"check":"a.b","name":")" + name + "\"}]", &golden),
              Mentions("m.json:2:33:", "\"name\"", "200"));
  EXPECT_THAT(ProblemsOf(R"("runner":{"driver":")" + std::string(200, ' ') + "1\"}", &golden),
              Mentions("m.json:2:20:", "\"runner.driver\"", "200"));
  EXPECT_THAT(ProblemsOf("\"shapes\":{\"" + name + "\":{}}", &golden), Mentions("m.json:2:11:", "200"));
  EXPECT_THAT(ProblemsOf("\"subjects\":{\"" + name + "\":\"loader\"}", &golden),
              Mentions("m.json:2:13:", "200"));
  EXPECT_THAT(ProblemsOf(R"("subjects":{"a":"path:/)" + text + "\"}", &golden),
              Mentions("m.json:2:17:", "\"subjects.a\"", "4000"));
  EXPECT_THAT(ProblemsOf(R"("waivers":[)" + Waiver(text) + "]", &golden),
              Mentions("m.json:2:79:", "\"reason\"", "4000"));
  // Characters are counted, not bytes.
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\xC3\xA4";
  EXPECT_EQ(ProblemsOf(R"("checks":[{"check":"a.b","id":")" + umlauts + "\"}]"), "none");
}

TEST(MatrixBounds, OnCountsAreToldAtTheirPlaces) {
  GoldenMessages golden("matrix_files.txt");
  std::string subjects, waivers, long_waivers;
  for (int i = 0; i < 33; ++i) subjects += (i == 0 ? "\"s" : ",\"s") + std::to_string(i) + "\":\"loader\"";
  EXPECT_THAT(ProblemsOf("\"subjects\":{" + subjects + "}", &golden), Mentions("m.json:2:12:"));
  for (int i = 0; i < 1001; ++i) waivers += (i == 0 ? "" : ",") + Waiver("r");
  EXPECT_THAT(ProblemsOf("\"waivers\":[" + waivers + "]", &golden), Mentions("m.json:2:11:", "1000"));
  for (int i = 0; i < 70; ++i) long_waivers += (i == 0 ? "" : ",") + Waiver(std::string(4000, 'r'));
  EXPECT_THAT(ProblemsOf("\"waivers\":[" + long_waivers + "]", &golden), Mentions("m.json:2:11:", "262144"));
}

TEST(MatrixBounds, AKindOfSkipCountsOnce) {
  const Scratch scratch;
  const Matrix matrix = Load(scratch.Write("m.json", R"({"schema":"cudnn-ci/matrix/1","name":"m","checks":
    [{"check":"a.b","allow_skip":["memory","absent","memory"]}]})"));
  EXPECT_EQ(matrix.entries.at(0).allow_skip, (std::vector<SkipKind>{SkipKind::kMemory, SkipKind::kAbsent}));
}

TEST(MatrixFile, ThatCannotBeReadIsOneClearProblem) {
  GoldenMessages golden("matrix_files.txt");
  const Scratch scratch;
  scratch.Write("matrix.json", "{}");
  EXPECT_THAT(Problems(scratch, scratch.File("matrx.json"), &golden),
              Mentions("matrx.json:", "\"matrix.json\""));
  EXPECT_THAT(Problems(scratch, scratch.path() + "/.", &golden), Mentions(".:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("empty", " \n"), &golden),
              Mentions("empty:1:1:", "\"schema\"", "\"cudnn-ci/matrix/1\""));
  EXPECT_THAT(Problems(scratch, scratch.Write("comment", "// nothing\n"), &golden), Mentions("comment:2:1:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("open", "{\"schema\": \"cudnn"), &golden),
              Mentions("open:1:12:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("open_comment", "{\n/* a"), &golden),
              Mentions("open_comment:2:1:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("two", "{} {}"), &golden), Mentions("two:1:4:", "\"{\""));
  EXPECT_THAT(Problems(scratch, scratch.Write("nul", std::string("{}\n\0{\"a\":1}", 11)), &golden),
              Mentions("nul:2:1:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("list", "[]"), &golden), Mentions("list:1:1:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("cut", "{\"schema\":\n [1, 2"), &golden), Mentions("cut:2:7:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("deep", std::string(40, '[')), &golden),
              Mentions("deep:1:33:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("big", std::string(4 * 1024 * 1024 + 1, ' ')), &golden),
              Mentions("big:"));
  EXPECT_THAT(Problems(scratch, scratch.Write("schema", "{\"schema\":\"cudnn-ci/matrix/2\",\"name\":\"m\"}"),
                       &golden),
              Mentions("schema:1:11:", "\"schema\"", "\"cudnn-ci/matrix/1\"", "\"cudnn-ci/matrix/2\""));
}

TEST(MatrixFile, AllProblemsComeAtOnceInOrder) {
  GoldenMessages golden("matrix_files.txt");
  EXPECT_THAT(
      ProblemsOf(
          "\"checks\":[{\"check\":1},\n{\"check\":\"a.b\",\"nam\":\"x\"}],\"image\":{\"toolkit\":true}",
          &golden),
      Mentions("m.json:2:20:", "\"check\"", "m.json:3:16:", "\"nam\"", "\"checks\"", "\"name\"",
               "m.json:3:47:", "\"image.toolkit\"", "\">=12.0 <13\""));
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

// What is wrong in the files of an image is red whichever matrix was named.
TEST(ShippedMatrices, EveryContractLooksAtWhatStaticLooksAt) {
  const auto looks = [](const std::string& name) {
    std::set<std::string> checks;
    for (const Entry& entry : Load(std::string(CUDNN_CI_MATRICES) + "/" + name + ".json").entries)
      if (entry.required.value_or(true)) checks.insert(entry.check);
    return checks;
  };
  for (const char* name : {"cu11", "cu12", "cu13"})
    for (const std::string& check : looks("static"))
      EXPECT_EQ(looks(name).count(check), 1u) << name << " " << check;
}

TEST(ShippedMatrices, AreValid) {
  for (const char* name : {"base", "cu11", "cu12", "cu13", "thorough", "nightly"}) {
    const Matrix matrix = Load(std::string(CUDNN_CI_MATRICES) + "/" + name + ".json");
    EXPECT_EQ(matrix.name, name);
    EXPECT_GE(matrix.shapes.size(), 12u);
  }
  EXPECT_EQ(Load(CUDNN_CI_MATRICES "/frameworks.json").name, "frameworks");
  std::string error;
  const auto range = ParseRange(Load(CUDNN_CI_MATRICES "/cu11.json").contract.at("image.cudnn"), &error);
  EXPECT_TRUE(Contains(*range, *ParseVersion("9.10.2")));
  EXPECT_FALSE(Contains(*range, *ParseVersion("9.11.0")));
}

TEST(Version, ComparesPartByPart) {
  EXPECT_EQ(Compare(*ParseVersion("12"), *ParseVersion("12.0.0")), 0);
  EXPECT_LT(Compare(*ParseVersion("535.9"), *ParseVersion("535.10")), 0);
  for (const char* bad : {"", ".", "1.", "1..2", "-1", "+1", "1.x", " 1", "1000000000"}) {
    EXPECT_FALSE(ParseVersion(bad)) << bad;
  }
}

// Reports print the blame before the slug; who copies it from there means the same finding.
TEST(MatrixFile, ObjectsAreTheSameInAnyOrder) {
  EXPECT_EQ(ProblemsOf(
                R"("checks":[{"check":"a.b","axes":{"d":[{"x":1,"y":2}]},"exclude":[{"d":{"y":2,"x":1}}]}])"),
            "none");
}

TEST(MatrixFile, TakesAWaiversSlugAsReportsPrintIt) {
  const Scratch scratch;
  const std::string rest = R"("reason":"r","owner":"o","expires":"2027-02-28"})";
  const Matrix matrix = Load(scratch.Write(
      "m.json",
      R"({"schema":"cudnn-ci/matrix/1","name":"m","waivers":[{"case":"*","slug":"image.no-engine",)" + rest +
          R"(,{"case":"*","slug":"undetermined.flaky",)" + rest + R"(,{"case":"*","slug":"2nd",)" + rest +
          "]}"));
  ASSERT_EQ(matrix.waivers.size(), 3u);
  EXPECT_EQ(matrix.waivers[0].waiver.slug, "no-engine");
  EXPECT_EQ(matrix.waivers[0].waiver.blame, "image");
  EXPECT_EQ(matrix.waivers[1].waiver.blame, "undetermined");
  EXPECT_EQ(matrix.waivers[2].waiver.blame, "");
  EXPECT_EQ(matrix.waivers[1].waiver.slug, "flaky");
  EXPECT_EQ(matrix.waivers[2].waiver.slug, "2nd");
}

TEST(MatrixFile, MayNameItsSchema) { EXPECT_EQ(ProblemsOf(R"("$schema":"./matrix.schema.json")"), "none"); }

struct Boundary {
  const char* range;
  const char* version;
  bool contains;
};

TEST(VersionRange, EveryOperatorAtItsBoundary) {
  for (const Boundary& b : std::initializer_list<Boundary>{
           {">=12.1", "12.0.9", false}, {">=12.1", "12.1", true},    {">=12.1", "12.1.0", true},
           {">=12.1", "12.1.1", true},  {">12.1", "12.1", false},    {">12.1", "12.1.0", false},
           {">12.1", "12.1.1", true},   {"<=12.1", "12.1", true},    {"<=12.1", "12.1.0", true},
           {"<=12.1", "12.1.1", false}, {"<=12.1", "12.0.9", true},  {"<12.1", "12.1", false},
           {"<12.1", "12.1.0", false},  {"<12.1", "12.0.9", true},   {"=12.1", "12.1.0", true},
           {"=12.1", "12.1.1", false},  {"=12.1", "12.0.9", false},  {"==12.1", "12.1.0", true},
           {"==12.1", "12.1.1", false}, {"==12.1", "12.0.9", false}, {"!=12.1", "12.1.0", false},
           {"!=12.1", "12.1.1", true},  {"!=12.1", "12.0.9", true}}) {
    std::string error;
    EXPECT_EQ(Contains(*ParseRange(b.range, &error), *ParseVersion(b.version)), b.contains)
        << b.range << " " << b.version;
  }
}

TEST(VersionRange, ABareVersionIsItsSeries) {
  for (const Boundary& b : std::initializer_list<Boundary>{{"12", "12.0", true},
                                                           {"12", "12.9.1", true},
                                                           {"12", "11.9", false},
                                                           {"12", "13.0", false},
                                                           {"8.9", "8.9.7", true},
                                                           {"8.9", "8.8.9", false},
                                                           {"8.9", "8.10", false},
                                                           {"9.12.1", "9.12.1", true},
                                                           {"9.12.1", "9.12.1.4", true},
                                                           {"9.12.1", "9.12.2", false},
                                                           {"9.12.1", "9.12.0", false},
                                                           {"12 !=12.3", "12.4", true},
                                                           {"12 !=12.3", "12.3", false}}) {
    std::string error;
    EXPECT_EQ(Contains(*ParseRange(b.range, &error), *ParseVersion(b.version)), b.contains)
        << b.range << " " << b.version;
    EXPECT_EQ(Contains(*ParseRange(InBounds(b.range), &error), *ParseVersion(b.version)), b.contains)
        << InBounds(b.range) << " " << b.version;
  }
}

TEST(VersionRange, IsShownWithItsBounds) {
  EXPECT_EQ(InBounds("12"), ">=12 <13");
  EXPECT_EQ(InBounds("535.104.05"), ">=535.104.05 <535.104.6");
  EXPECT_EQ(InBounds(" 8.9  !=8.9.2"), ">=8.9 <8.10 !=8.9.2");
  EXPECT_EQ(InBounds(">=12.0 <13 =12.3 ==12.3"), ">=12.0 <13 =12.3 ==12.3");
  EXPECT_EQ(InBounds("absent"), "absent");
  std::string error;
  EXPECT_TRUE(ParseRange(InBounds("999999999"), &error)) << error;
}

TEST(VersionRange, ThatNothingSatisfiesIsTold) {
  std::string error;
  for (const char* text :
       {">=600 <500", ">=12 <12", ">12 <12", ">12 <=12", "=12 =13", "=12 !=12.0", ">=12 <=12 !=12", "=12 <12",
        "=12 >12", ">=13 12.9", "12 13", "8.9 >=8.10", "<0", "<=0 !=0"}) {
    EXPECT_FALSE(IsSatisfiable(*ParseRange(text, &error))) << text;
  }
  for (const char* text : {">=500 <600", ">=12 <=12", "=12 >=12 <=12", ">12 <12.1", "12 =12.0", "!=12", "<=0",
                           ">0", "<1", ">=12.0 <13 !=12.3", ">12 !=13"}) {
    EXPECT_TRUE(IsSatisfiable(*ParseRange(text, &error))) << text;
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
  EXPECT_TRUE(Contains(*ParseRange("==9.19.0", &error), *ParseVersion("9.19")));
  EXPECT_FALSE(ParseRange("absent", &error));
  EXPECT_FALSE(ParseRange("  ", &error));
}

}  // namespace
}  // namespace cudnn_ci
