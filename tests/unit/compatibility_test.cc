// The table of version facts: what entries it gives, and what is said of a mistake. Which tables are refused
// at all is held against the schema by tests/schemas.
#include "model/matrix/compatibility.h"

#include <gmock/gmock.h>

#include <map>

#include "base/file.h"
#include "base/text.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;

constexpr char kShipped[] = CUDNN_CI_MATRICES "/../knowledge/compatibility.json";

// The problems of the shipped table with one text replaced, one a line, without the folder.
std::string ProblemsWith(const std::string& before, const std::string& after) {
  const Scratch scratch;
  std::string text = ReadSmallFile(kShipped, 1 << 20);
  const size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  if (at != std::string::npos) text.replace(at, before.size(), after);
  const auto loaded = LoadCompatibility(scratch.Write("t.json", text));
  if (std::holds_alternative<Compatibility>(loaded)) return "none";
  std::vector<std::string> lines;
  for (const Problem& problem : std::get<std::vector<Problem>>(loaded))
    lines.push_back(ToString(problem).substr(scratch.path().size() + 1));
  return Join(lines, "\n");
}

TEST(CompatibilityTest, TheShippedTableGivesItsEntries) {
  const auto loaded = LoadCompatibility(kShipped);
  ASSERT_TRUE(std::holds_alternative<Compatibility>(loaded))
      << ToString(std::get<std::vector<Problem>>(loaded)[0]);
  const Compatibility& table = std::get<Compatibility>(loaded);
  const auto entry = [&](const std::string& key) {
    const auto it = table.entries.find(key);
    return it == table.entries.end() ? "(none)" : it->second;
  };
  EXPECT_EQ(table.identity.path, kShipped);
  EXPECT_EQ(table.identity.sha256, Sha256Hex(ReadSmallFile(kShipped, 1 << 20)));
  EXPECT_EQ(entry("as_of"), table.identity.as_of);
  EXPECT_EQ(entry("driver_floor.12"), "525.60.13");
  EXPECT_EQ(entry("driver_floor.10"), "(none)");
  EXPECT_EQ(entry("toolkit_driver.13.0.2"), "580.95.05");
  EXPECT_EQ(entry("toolkit_driver.13.4.2"), "(none)") << "its driver is not known";
  EXPECT_EQ(entry("driver_branch.580"), "13.0");
  EXPECT_THAT(entry("driver_branches"), HasSubstr("575 580 590"));
  EXPECT_EQ(entry("forward.13-0"), "535 570");
  EXPECT_EQ(entry("forward.12-2"), "none");
  EXPECT_EQ(entry("first_toolkit.9.0"), "11.8");
  EXPECT_EQ(entry("newest.toolkit"), "13.4.2");
  EXPECT_EQ(entry("newest.cudnn"), "9.27.0");
  EXPECT_EQ(entry("cudnn_library.libcudnn_ext.so.9"), "9.22.0");
  EXPECT_EQ(entry("cudnn.cu13.0.from"), "9.12.0");
  EXPECT_EQ(entry("cudnn.cu13.0.to"), "9.16.0");
  EXPECT_EQ(entry("cudnn.cu13.0.toolkits"), "13.0");
  EXPECT_EQ(entry("cudnn.cu13.0.driver"), "580.65.06");
  EXPECT_EQ(entry("cudnn.cu13.0.compute_capability_min"), "7.5");
  EXPECT_EQ(entry("cudnn.cu13.0.compute_capability_max"), "12.0");
  EXPECT_EQ(entry("cudnn.cu10.0.driver"), "(none)");
  EXPECT_EQ(entry("cudnn.cu13.4.from"), "9.26.0");
  EXPECT_EQ(entry("cudnn.cu13.5.from"), "(none)");
}

TEST(CompatibilityTest, KnownRegressionsAreNumberedEntries) {
  const auto loaded = LoadCompatibility(kShipped);
  ASSERT_TRUE(std::holds_alternative<Compatibility>(loaded));
  const std::map<std::string, std::string>& entries = std::get<Compatibility>(loaded).entries;
  const auto entry = [&](const std::string& key) { return entries.count(key) ? entries.at(key) : "(none)"; };
  EXPECT_EQ(entry("known.0.id"), "half_3d_forward");
  EXPECT_EQ(entry("known.0.effect"), "wrong");
  EXPECT_EQ(entry("known.0.what"), "3-D forward convolutions of 16-bit types with kernels other than 1x1x1");
  EXPECT_EQ(entry("known.0.first"), "9.8.0");
  EXPECT_EQ(entry("known.0.last"), "9.14.0");
  EXPECT_EQ(entry("known.0.fixed"), "9.15.0");
  EXPECT_EQ(entry("known.0.hits"), "operation=forward dtype=float16,bfloat16 dims=3 pointwise=false");
  EXPECT_EQ(entry("known.0.source"), "https://github.com/pytorch/pytorch/issues/163539");
  EXPECT_EQ(entry("known.0.confidence"), "likely");
  EXPECT_EQ(entry("known.1.fixed"), "(none)") << "null is not known";
  EXPECT_THAT(entry("known.2.source"), HasSubstr("on an H200")) << "the words of a named source";
  EXPECT_EQ(entry("known.3.hits"),
            "operation=backward_filter api=graph dtype=float32,float16,bfloat16,float64 engine=1,18,20 "
            "uneven_pads=true");
  EXPECT_EQ(entry("known.12.hits"), "gpus_min=2 cublaslt_min=12.9");
  EXPECT_EQ(entry("known.26.hits"), "operation=forward api=graph dtype=int8 output_dtype=int32 engine=0,28");
  EXPECT_EQ(entry("known.27.effect"), "overwrite");
  EXPECT_EQ(entry("known.29.hits"),
            "operation=backward_data api=graph dtype=float8_e4m3 engine=4 stride_over_kernel=true");
  EXPECT_EQ(entry("known.30.hits"), "library=cublas operation=matmul algorithm=66") << "a library of its own";
  EXPECT_EQ(entry("known.31.hits"), "library=cublas operation=grouped_matmul empty_group=true");
  EXPECT_EQ(entry("known.33.hits"),
            "library=cublas operation=matmul dtype=float32 algorithm=68 wide_span=true");
  EXPECT_EQ(entry("known.37.id"), "attention_dq_nan");
  EXPECT_EQ(entry("known.44.effect"), "hang");
  EXPECT_EQ(entry("known.46.hits"), "library=nccl operation=collective processor=aarch64");
  EXPECT_EQ(entry("known.61.hits"),
            "library=tensorflow operation=compile compute_capability_min=12.0 compute_capability_max=12.9");
  EXPECT_EQ(entry("known.62.id"), "(none)");
}

TEST(CompatibilityTest, AMistakeInAKnownRegressionIsNamed) {
  EXPECT_THAT(ProblemsWith("\"dims\": [3], \"pointwise\"", "\"dims\": [4], \"pointwise\""),
              HasSubstr("error: \"dims\" must be a list of numbers from 1 to 3, found the integer 4 in it"));
  EXPECT_THAT(ProblemsWith("\"dtype\": [\"float16\", \"bfloat16\"]", "\"dtype\": [\"half\"]"),
              HasSubstr("\"dtype\" must be a list of float32, float16, "));
  EXPECT_THAT(ProblemsWith("\"pointwise\": false", "\"pointwise\": \"no\""),
              HasSubstr("\"pointwise\" must be true or false"));
  EXPECT_THAT(ProblemsWith("\"pointwise\"", "\"pointwice\""),
              HasSubstr("unknown key \"pointwice\" in \"hits\"; did you mean \"pointwise\"?"));
  EXPECT_THAT(ProblemsWith("\"library\": \"cudnn\"", "\"library\": \"MX Net\""),
              HasSubstr("\"library\" must be a name of small letters, digits and \"_.-\""));
  EXPECT_THAT(
      ProblemsWith("\"effect\": \"wrong\"", "\"effect\": \"bad\""),
      HasSubstr("\"effect\" must be one of wrong, overwrite, crash, hang, failure, refused, slow, memory"));
  EXPECT_THAT(ProblemsWith("\"first\": \"9.8.0\"", "\"first\": \"9.14.1\""),
              HasSubstr("\"first\" 9.14.1 is later than \"last\" 9.14.0"));
  EXPECT_THAT(ProblemsWith("\"fixed\": \"9.15.0\"", "\"fixed\": \"9.14\""),
              HasSubstr("\"fixed\" 9.14 is not later than \"last\" 9.14.0"));
  EXPECT_THAT(ProblemsWith("\"id\": \"int8_nchw\"", "\"id\": \"half_3d_forward\""),
              HasSubstr("two rows of \"known_regressions\" are called \"half_3d_forward\""));
  EXPECT_THAT(ProblemsWith("\"batch_min\": 65536", "\"batch_min\": 0"),
              HasSubstr("\"batch_min\" must be a number from 1 on"));
  EXPECT_THAT(ProblemsWith("\"cublaslt_min\": \"12.9\"", "\"cublaslt_min\": 12"),
              HasSubstr("\"cublaslt_min\" must be a version such as \"9.0\""));
}

TEST(CompatibilityTest, AMistakeIsNamedWithItsPlaceAndRemedy) {
  EXPECT_EQ(ProblemsWith("cudnn-ci/compatibility/1", "cudnn-ci/compatibility/2"),
            "t.json:5:13: error: the schema \"cudnn-ci/compatibility/2\" is not known; write \"schema\": "
            "\"cudnn-ci/compatibility/1\"");
  EXPECT_THAT(ProblemsWith("\"as_of\": \"2026-11-27\"", "\"as_of\": \"2026-02-30\""),
              HasSubstr("t.json:6:12: error: \"as_of\" must be a day of the calendar"));
  EXPECT_THAT(ProblemsWith("\"525.60.13\"", "\"525.60.x\""),
              HasSubstr("\"driver\" must be a version such as \"580.65.06\", found the string \"525.60.x\""));
  EXPECT_THAT(ProblemsWith("\"source\": \"release-notes-13.4\"", "\"source\": \"release-notes-13.3\""),
              testing::ContainsRegex("\"release-notes-13.3\".*\"sources\".*\"release-notes-13.2\""));
  EXPECT_THAT(ProblemsWith("\"driver_floor\"", "\"driver_flor\""),
              HasSubstr("unknown key \"driver_flor\" in the table; did you mean \"driver_floor\"?"));
  EXPECT_THAT(ProblemsWith("\"12-9\": [535, 570]", "\"12-9\": [535, \"570\"]"),
              HasSubstr("must be a list of driver branches"));
}

TEST(CompatibilityTest, AFileThatIsNoTableIsSaidToBeNone) {
  const Scratch scratch;
  const auto said = [](const std::string& path) {
    const auto loaded = LoadCompatibility(path);
    const auto* problems = std::get_if<std::vector<Problem>>(&loaded);
    return problems ? ToString((*problems)[0]) : "none";
  };
  EXPECT_EQ(said("/no/such.json"),
            "/no/such.json: error: No such file or directory; name a table of cudnn-ci/compatibility/1");
  EXPECT_EQ(
      said(scratch.Write("a.json", "[]")),
      scratch.File("a.json") + ":1:1: error: the table must be an object in braces { }, found an empty list");
  EXPECT_THAT(said(scratch.Write("b.json", "{\n  \"schema\" 1}")), HasSubstr("b.json:2:12: error: "));
}

}  // namespace
}  // namespace cudnn_ci
