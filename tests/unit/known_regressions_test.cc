// Which rows of the table of known regressions are a release's, and how they are told.
#include "common/known_regressions.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "dotted_versions.h"

namespace cudnn_ci {
namespace {

using Row = std::map<std::string, std::string>;

// Those of a table of these rows, without "known.N", that hit the release.
std::string KnownOf(const std::string& version, const std::vector<Row>& rows) {
  const TableEntry entry = [&rows](const std::string& key) -> std::string {
    if (key == "as_of") return "2026-11-20";
    const std::size_t row = static_cast<std::size_t>(std::stoi(key.substr(6)));
    const std::string end = key.substr(key.rfind('.'));
    if (row >= rows.size()) return "";
    return end == ".id" ? "row" : rows[row].count(end) ? rows[row].at(end) : "";
  };
  std::string text;
  for (const KnownRegression& known : KnownRegressionsOf(version, entry, Within)) text += known.Text() + "\n";
  return text;
}

TEST(KnownRegressionsTest, AreThoseOfTheRelease) {
  const auto hits = [](const std::string& version, const std::string& first, const std::string& last,
                       const std::string& fixed) {
    return !KnownOf(version, {Row{{".first", first}, {".last", last}, {".fixed", fixed}}}).empty();
  };
  for (const char* version : {"9.8.0", "9.10.2", "9.14.0", "9.14.1"})
    EXPECT_TRUE(hits(version, "9.8.0", "9.14.0", "9.15.0")) << version;
  for (const char* version : {"9.7.1", "9.15.0", "9.28.0", "", "unknown"})
    EXPECT_FALSE(hits(version, "9.8.0", "9.14.0", "9.15.0")) << version;
  EXPECT_TRUE(hits("9.14.0", "9.8.0", "9.14.0", ""));
  EXPECT_FALSE(hits("9.14.1", "9.8.0", "9.14.0", "")) << "nothing is known of later ones";
  EXPECT_TRUE(hits("9.99.0", "9.14.0", "", "")) << "open";
  EXPECT_FALSE(hits("9.13.0", "9.14.0", "", ""));
  EXPECT_TRUE(hits("8.0.0", "", "8.9.6", "8.9.7"));
  EXPECT_FALSE(hits("8.9.7", "", "8.9.6", "8.9.7"));
}

TEST(KnownRegressionsTest, AreNamedWithReleasesSourceAndRemedy) {
  EXPECT_EQ(KnownOf("9.9.0", {Row{{".first", "9.8.0"},
                                  {".last", "9.14.0"},
                                  {".fixed", "9.15.0"},
                                  {".effect", "wrong"},
                                  {".what", "volumes"},
                                  {".source", "https://example.org"},
                                  {".confidence", "likely"}},
                              Row{{".first", "9.10.0"}, {".last", "9.14.0"}},
                              Row{{".first", "9.9.0"},
                                  {".effect", "crash"},
                                  {".what", "lines"},
                                  {".source", "words"},
                                  {".confidence", "sure"}}}),
            "known: wrong in cuDNN 9.8.0 to 9.14.0, fixed in 9.15.0 (volumes; https://example.org; likely); "
            "install cuDNN 9.15.0 or later\n"
            "known: crashes in cuDNN from 9.9.0 on, no fix known as of 2026-11-20 (lines; words)\n");
  const auto releases = [](const std::string& first, const std::string& last, const std::string& fixed) {
    KnownRegression row;
    row.first = first, row.last = last, row.fixed = fixed;
    return row.Releases();
  };
  EXPECT_EQ(releases("8.2.1", "8.2.1", ""), "8.2.1");
  EXPECT_EQ(releases("", "8.9.6", "8.9.7"), "up to 8.9.6, fixed in 8.9.7");
  EXPECT_EQ(releases("8.7.0", "", "8.9.0"), "from 8.7.0 on, fixed in 8.9.0");
}

TEST(KnownRegressionsTest, AreThoseOfTheLibrary) {
  const TableEntry entry = [](const std::string& key) -> std::string {
    if (key == "known.0.id") return "row";
    if (key == "known.0.hits") return "library=cublas operation=matmul";
    if (key == "known.0.library") return kCublas;
    return key == "known.0.fixed" ? "12.9.2" : "";
  };
  EXPECT_TRUE(KnownRegressionsOf("12.8.4", entry, Within).empty()) << "cuDNN's";
  const std::vector<KnownRegression> rows = KnownRegressionsOf("12.8.4", entry, Within, kCublas);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].Remedy(), "install cuBLAS 12.9.2 or later");
  EXPECT_EQ(rows[0].hits, (Predicates{{"operation", {"matmul"}}}));
}

// Asked of the table's ranges, such a version would end the check.
TEST(KnownRegressionsTest, NothingIsKnownOfWhatIsNoVersion) {
  const TableEntry entry = [](const std::string& key) { return key == "as_of" ? "2026-11-20" : "row"; };
  const Satisfies refuses = [](const std::string& version, const std::string&) -> bool {
    throw std::invalid_argument(version);
  };
  for (const char* version : {"", "unknown", "v9-evil", "9..1", ".9", "9.", "9.19 "})
    EXPECT_TRUE(KnownRegressionsOf(version, entry, refuses).empty()) << version;
}

TEST(KnownRegressionsTest, LimitsOfGpus) {
  const auto fits = [](const Predicates& hits, const std::string& gpu) { return FitsGpu(hits, gpu, Within); };
  const Predicates volta = {{"compute_capability_min", {"7.0"}}, {"compute_capability_max", {"7.9"}}};
  EXPECT_TRUE(fits(volta, "7.5"));
  EXPECT_FALSE(fits(volta, "6.2"));
  EXPECT_FALSE(fits(volta, "8.0"));
  EXPECT_FALSE(fits(volta, "")) << "not known";
  EXPECT_TRUE(fits({{"dims", {"3"}}}, ""));
}

// The harness says how messages call another library than cuDNN; of one that it does not know there is no
// row.
TEST(KnownRegressionsTest, AreThoseOfTheirLibraryByItsTitle) {
  const auto of = [](const std::string& library, const std::string& hits, const std::string& title) {
    const TableEntry entry = [&](const std::string& key) -> std::string {
      return key == "known.0.id"        ? "row"
             : key == "known.0.hits"    ? hits
             : key == "known.0.library" ? title
             : key == "known.0.effect"  ? "hang"
                                        : "";
    };
    const auto rows = KnownRegressionsOf("2.0", entry, Within, library);
    return rows.size() == 1 && rows[0].hits.count("library") == 0 &&
           rows[0].Text().find("known: hangs in " + library + " all releases") == 0;
  };
  EXPECT_TRUE(of("NCCL", "library=nccl operation=collective", "NCCL"));
  EXPECT_TRUE(of(kCublas, "library=cublas", kCublas));
  EXPECT_TRUE(of("MXNet", "library=mxnet", "MXNet")) << "one that a team has added";
  EXPECT_FALSE(of(kCudnn, "library=nccl", "NCCL"));
  EXPECT_FALSE(of(kCudnn, "library=mxnet", "")) << "of an older harness";
  EXPECT_TRUE(of(kCudnn, "operation=forward", ""));
}

}  // namespace
}  // namespace cudnn_ci
