// The table of version facts: what entries it gives, and what is said of a mistake. Which tables are refused
// at all is held against the schema by tests/schemas.
#include "model/matrix/compatibility.h"

#include <gmock/gmock.h>
#include <string.h>

#include <map>
#include <regex>

#include "base/file.h"
#include "base/text.h"
#include "golden_messages.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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

// A text of the shipped table, what stands in its place, and what the one problem names.
struct Mistake {
  const char* before;
  const char* after;
  std::vector<const char*> names;
};

const Mistake kMistakes[] = {
    {R"("dims": [3], "pointwise")", R"("dims": [4], "pointwise")", {R"("dims")", "1 to 3", " 4 "}},
    {R"("dtype": ["float16", "bfloat16"])", R"("dtype": ["half"])", {R"("dtype")", "float32, float16, "}},
    {R"("pointwise": false)", R"("pointwise": "no")", {R"("pointwise")", "true"}},
    {R"("pointwise")", R"("pointwice")", {R"("pointwice")", R"("hits")", R"("pointwise")"}},
    {R"("library": "cudnn")", R"("library": "MX Net")", {R"("library")", R"("_.-")"}},
    {R"("effect": "wrong")", R"("effect": "bad")", {R"("effect")", " crash,"}},
    {R"("first": "9.8.0")", R"("first": "9.14.1")", {R"("first" 9.14.1)", R"("last" 9.14.0)"}},
    {R"("fixed": "9.15.0")", R"("fixed": "9.14")", {R"("fixed" 9.14 )", R"("last" 9.14.0)"}},
    {R"("id": "int8_nchw")",
     R"("id": "half_3d_forward")",
     {R"("known_regressions")", R"("half_3d_forward")"}},
    {R"("batch_min": 65536)", R"("batch_min": 0)", {R"("batch_min")", "at least 1"}},
    {R"("cublaslt_min": "12.9")", R"("cublaslt_min": 12)", {R"("cublaslt_min")", R"("9.0")"}},
    {"cudnn-ci/compatibility/1",
     "cudnn-ci/compatibility/2",
     {"t.json:5:13: ", "compatibility/2", "compatibility/1"}},
    {R"("as_of": "2026-11-27")", R"("as_of": "2026-02-30")", {"t.json:6:12: ", R"("as_of")"}},
    {R"("525.60.13")", R"("525.60.x")", {R"("driver")", R"("580.65.06")", R"("525.60.x")"}},
    {R"("source": "release-notes-13.4")",
     R"("source": "release-notes-13.3")",
     {R"("release-notes-13.3")", R"("sources")", R"("release-notes-13.2")"}},
    {R"("driver_floor")", R"("driver_flor")", {R"("driver_flor")", R"("driver_floor")"}},
    {R"("12-9": [535, 570])", R"("12-9": [535, "570"])", {R"("branches.12-9")"}},
};

TEST(CompatibilityTest, AMistakeIsNamedWithItsPlaceAndRemedy) {
  GoldenMessages golden("compatibility.txt");
  for (const Mistake& mistake : kMistakes) {
    const std::string problem = ProblemsWith(mistake.before, mistake.after);
    for (const char* name : mistake.names) EXPECT_THAT(problem, HasSubstr(name)) << mistake.after;
    // The table grows.
    golden.Row(mistake.after, std::regex_replace(problem, std::regex(R"(t\.json:\d+:)"), "t.json:LINE:"));
  }
}

TEST(CompatibilityTest, AFileThatIsNoTableIsSaidToBeNone) {
  const Scratch scratch;
  const auto said = [](const std::string& path) {
    const auto loaded = LoadCompatibility(path);
    const auto* problems = std::get_if<std::vector<Problem>>(&loaded);
    return problems ? ToString((*problems)[0]) : "none";
  };
  GoldenMessages golden("compatibility.txt", {{scratch.path(), "FOLDER"}});
  const std::string missing = golden.Row("no file", said(scratch.File("none.json")));
  EXPECT_THAT(missing, StartsWith(scratch.File("none.json") + ": error: " + strerror(ENOENT)));
  EXPECT_THAT(golden.Row("a list", said(scratch.Write("a.json", "[]"))), HasSubstr("a.json:1:1: error: "));
  EXPECT_THAT(golden.Row("no JSON", said(scratch.Write("b.json", "{\n  \"schema\" 1}"))),
              HasSubstr("b.json:2:12: error: "));
}

}  // namespace
}  // namespace cudnn_ci
