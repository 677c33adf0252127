// What releases of cuDNN are known to get wrong: said of a convolution that fails, before one that may crash,
// and of an image in which nobody has met it yet.
#include <fstream>
#include <iterator>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// "warning known-regression", of every finding.
std::vector<std::string> Said(const CheckOutcome& r) {
  std::vector<std::string> said;
  for (const json& f : r.record["findings"])
    said.push_back(f["severity"].get<std::string>() + " " + f["slug"].get<std::string>());
  return said;
}

// The shipped table with a row before its first.
std::string TableWith(const std::string& effect, const std::string& hits) {
  std::ifstream file(CUDNN_CI_SOURCE_DIR "/knowledge/compatibility.json");
  std::string table(std::istreambuf_iterator<char>(file), {});
  const std::string list = "\"known_regressions\": [";
  const size_t at = table.find(list);
  EXPECT_NE(at, std::string::npos);
  return table.insert(at + list.size(),
                      R"({"id": "made", "library": "cudnn", "what": "made-up ones", "effect": ")" + effect +
                          R"(", "first": "9.19.0", "last": "9.19.0", "fixed": "9.19.1",
      "hits": )" + hits + R"(, "source": "https://example.org/made", "confidence": "sure"},)");
}

constexpr char kHalf3d[] =
    "; known: wrong in cuDNN 9.8.0 to 9.14.0, fixed in 9.15.0 (3-D forward convolutions of 16-bit types";

class KnownFaultsTest : public ConvTest {
 protected:
  CheckOutcome Volume(const std::string& dtype = "float16", const std::string& shape = "volume") {
    return Convolve("conv.forward", Params("implicit_gemm", dtype, shape));
  }
  // A convolution beside a row of this effect that hits `hits`.
  CheckOutcome Made(const std::string& effect, const std::string& hits = R"({"dtype": ["float32"]})",
                    const std::string& params = Params("gemm")) {
    gate().Write("table.json", TableWith(effect, hits));
    return Check("conv.forward", params, {"--compatibility", gate().Path("table.json")});
  }
};

TEST_F(KnownFaultsTest, AWrongConvolutionNamesItsRegressionAndTheRelease) {
  Set("FAKE_CUDNN_FAULT", "element:middle");
  Set("FAKE_CUDNN_VERSION", "91400");
  CheckOutcome r = Volume();
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(),
              AllOf(HasSubstr(kHalf3d), HasSubstr("https://github.com/pytorch/pytorch/issues/163539"),
                    HasSubstr("; install cuDNN 9.15.0 or later")));
  r = Volume("float16", "made");
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), Not(HasSubstr("known: "))) << "of another shape";
  Set("FAKE_CUDNN_VERSION", "91500");
  r = Volume();
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value")) << "what is not known is red all the same";
  EXPECT_THAT(r.Detail(), Not(HasSubstr("known: "))) << "of another release";
}

TEST_F(KnownFaultsTest, AnOutputThatIsNotWrittenNamesItToo) {
  Set("FAKE_CUDNN_FAULT", "unwritten:middle");
  Set("FAKE_CUDNN_VERSION", "91400");
  const CheckOutcome r = Volume();
  EXPECT_THAT(r.Slugs(), ElementsAre("output-not-written"));
  EXPECT_THAT(r.Detail(), HasSubstr(kHalf3d));
}

// Other bits at the next try are no library's doing.
TEST_F(KnownFaultsTest, AGpuThatErrsIsNotExplained) {
  Set("FAKE_CUDNN_FAULT", "element:middle");
  Set("FAKE_CUDNN_FAULT_RUNS", "1");
  Set("FAKE_CUDNN_VERSION", "91400");
  const CheckOutcome r = Volume();
  EXPECT_THAT(r.Slugs(), ElementsAre("gpu-computes-wrong"));
  EXPECT_THAT(r.Detail(), Not(HasSubstr("known: ")));
}

TEST_F(KnownFaultsTest, OfAnEngineIsSaidWhatIsKnownOfIt) {
  Set("FAKE_CUDNN_FAULT", "element:middle");
  const std::string auto_by_graph = Params("auto", "float32", "uneven", R"("api": "graph")");
  Set("FAKE_CUDNN_FAULT_ENGINE", "1");
  CheckOutcome r = Convolve("conv.backward_filter", auto_by_graph);
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), Mentions("; known: wrong", "cuDNN from 8.9.7", "no fix"));
  Set("FAKE_CUDNN_FAULT_ENGINE", "0");
  Set("FAKE_CUDNN_GRAPH_A", "0,1");
  r = Convolve("conv.backward_filter", auto_by_graph);
  EXPECT_THAT(r.Slugs(), ElementsAre("wrong-value"));
  EXPECT_THAT(r.Detail(), Not(HasSubstr("known: "))) << "that is known of engines 1, 18 and 20";
}

TEST_F(KnownFaultsTest, OfAResultsTypeIsSaidWhatIsKnownOfIt) {
  Set("FAKE_CUDNN_FAULT", "element:middle");
  const auto fused = [this](const std::string& output_dtype) {
    return Convolve("conv.fused", Params("auto", "int8", "quads",
                                         R"("epilogue": "none", "output_dtype": ")" + output_dtype + '"'));
  };
  EXPECT_THAT(fused("int32").Detail(), HasSubstr("(int8 to int32 convolutions "));
  const CheckOutcome r = fused("float32");
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Detail(), Not(HasSubstr("known: ")));
}

TEST_F(KnownFaultsTest, AFailureAndARefusalNameTheirs) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:0:5000");
  CheckOutcome r = Made("failure");
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-failed"));
  EXPECT_THAT(r.Detail(), Mentions("; known: fails", "cuDNN 9.19.0, fixed in 9.19.1",
                                   "(made-up ones; https://example.org/made); ", "cuDNN 9.19.1 or later"));
  EXPECT_THAT(Made("wrong").Detail(), Not(HasSubstr("known: "))) << "numbers are not what failed";
  Set("FAKE_CUDNN_FAULT", "");
  Set("FAKE_CUDNN_REFUSES", "2");
  r = Made("refused");
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("seen"), Mentions("; known: refused", "cuDNN 9.19.0, fixed in 9.19.1"));
  EXPECT_THAT(Made("failure").Skip("seen"), Not(HasSubstr("known: ")));
}

TEST_F(KnownFaultsTest, AnErrorOfTheDriverNamesItsRegression) {
  Set("FAKE_CUDA_FAULT", "call:cuEventSynchronize:1:700");
  const CheckOutcome r = Made("failure", R"({"algo": ["gemm"]})");
  EXPECT_THAT(r.Detail(), Mentions("; known: fails", "cuDNN 9.19.0")) << ::testing::PrintToString(r);
}

TEST_F(KnownFaultsTest, AWriteOutsideNamesItsRegression) {
  Set("FAKE_CUDNN_FAULT", "guard:behind-y");
  CheckOutcome r = Made("overwrite");
  EXPECT_THAT(r.Slugs(), ElementsAre("out-of-bounds-write"));
  EXPECT_THAT(r.Detail(), Mentions("; known: writes outside", "cuDNN 9.19.0"));
  EXPECT_THAT(Made("wrong").Detail(), Not(HasSubstr("known: "))) << "its numbers are right";
  EXPECT_THAT(Made("overwrite", R"({"algo": ["fft"]})").Detail(), Not(HasSubstr("known: ")))
      << "another one ran";
}

TEST_F(KnownFaultsTest, TooLittleMemoryNamesItsRegression) {
  Set("FAKE_FREE_MB", "200");
  const CheckOutcome r = Made("memory", "{}");
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), ContainsRegex("; known: [a-z ]*memory in cuDNN 9\\.19\\.0"));
}

// It is said before: afterwards nobody is left to say it.
TEST_F(KnownFaultsTest, ACrashIsExplainedByTheNoteBeforeIt) {
  CheckOutcome r = Made("crash");
  ExpectPassed(r);
  EXPECT_THAT(Said(r), ElementsAre("note known-crash"));
  Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:1:abort");
  r = Made("crash");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(Said(r), ElementsAre("note known-crash", "error crashed"));
  EXPECT_THAT(r.Detail(), Mentions("known: crashes", "cuDNN 9.19.0, fixed in 9.19.1"));
  EXPECT_THAT(Said(Made("crash", R"({"dtype": ["float16"]})")), ElementsAre("error crashed"));
}

// A named algorithm is no other; a GPU is one that the row means.
TEST_F(KnownFaultsTest, RowsOfOtherAlgorithmsAndGpusAreNotMeant) {
  EXPECT_THAT(Said(Made("crash", R"({"algo": ["gemm"]})")), ElementsAre("note known-crash"));
  EXPECT_THAT(Said(Made("crash", R"({"algo": ["fft"]})")), IsEmpty());
  EXPECT_THAT(Said(Made("crash", R"({"algo": ["fft"]})", Params("auto"))), ElementsAre("note known-crash"));
  EXPECT_THAT(Said(Made("crash", R"({"compute_capability_min": "9.0"})")), ElementsAre("note known-crash"));
  EXPECT_THAT(Said(Made("crash", R"({"compute_capability_min": "9.1"})")), IsEmpty());
}

class KnownRegressionTest : public ShippedTest {
 protected:
  CheckOutcome Version(const std::string& version, const std::vector<std::string>& arguments = {}) {
    Set("FAKE_CUDNN_VERSION", version);
    return Check("cudnn.version", "", arguments);
  }
  CheckOutcome Beside(const std::string& effect, const std::string& hits) {
    gate().Write("table.json", TableWith(effect, hits));
    return Version("91900", {"--compatibility", gate().Path("table.json")});
  }
  std::string Attached(const CheckOutcome& r) {
    for (const json& attachment : r.record["attachments"])
      if (attachment["name"] == "known-regressions.txt")
        return gate().Read("report/" + attachment["path"].get<std::string>());
    return "";
  }
};

TEST_F(KnownRegressionTest, AReleaseThatIsKnownToBeWrongIsOneWarning) {
  const CheckOutcome r = Version("91400");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r), ElementsAre("warning known-regression"));
  EXPECT_THAT(r.Detail(), AllOf(Mentions("2 known", "cuDNN 9.14.0", "version facts as of", "(wrong; ",
                                         "cuDNN 9.15.0 or later); ", "with TF32"),
                                Not(HasSubstr("int8"))));
  EXPECT_THAT(Attached(r), AllOf(Mentions("half_3d_forward: known: wrong", "cuDNN 9.8.0 to 9.14.0, "),
                                 HasSubstr("\ntf32_3d_forward: known: wrong"),
                                 HasSubstr("\nint8_nchw: known: wrong"), Not(HasSubstr("8.9.6"))));
}

// Nobody can heed a warning that every newer release has, too.
TEST_F(KnownRegressionTest, WithoutAReleaseThatIsBetterThereIsNoWarning) {
  Set("FAKE_CC", "8.6");
  for (const char* version : {"91600", "91900", "92800"}) {
    const CheckOutcome r = Version(version);
    EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
    EXPECT_THAT(Said(r), IsEmpty()) << version;
  }
  EXPECT_THAT(Said(Version("91500")), ElementsAre("warning known-regression")) << "TF32 in 3-D";
}

TEST_F(KnownRegressionTest, OnlyWrongNumbersAndCrashesWarn) {
  Set("FAKE_CC", "8.6");  // of which nothing else is known
  for (const char* effect : {"failure", "refused", "slow", "memory"})
    EXPECT_THAT(Said(Beside(effect, "{}")), IsEmpty()) << effect;
  for (const char* effect : {"wrong", "overwrite", "crash"})
    EXPECT_THAT(Beside(effect, "{}").Detail(), Mentions("1 known", "cuDNN 9.19.0")) << effect;
}

TEST_F(KnownRegressionTest, OnlyWhatCanHappenOnTheseGpusWarns) {
  Set("FAKE_CC", "8.0,12.0");
  Set("FAKE_DEVICE_COUNT", "2");
  EXPECT_THAT(Said(Beside("wrong", R"({"compute_capability_max": "8.9"})")),
              ElementsAre("warning known-regression"));
  EXPECT_THAT(Said(Beside("wrong", R"({"compute_capability_max": "7.9"})")), IsEmpty());
  EXPECT_THAT(Said(Beside("wrong", R"({"compute_capability_min": "8.6", "compute_capability_max": "8.9"})")),
              IsEmpty())
      << "both are limits of one GPU";
}

TEST_F(KnownRegressionTest, AGpuThatTheMachineLacksWarnsOfNothing) {
  UseFakes({"cudart13", "nvrtc", "cudnn"});
  EXPECT_THAT(Said(Beside("wrong", R"({"compute_capability_max": "8.9"})")), IsEmpty());
  EXPECT_THAT(Said(Beside("wrong", "{}")), ElementsAre("warning known-regression"));
}

// The pair of versions and the number of GPUs are all that can be known before a program does it.
TEST_F(KnownRegressionTest, APlanOfSeveralGpusIsNamedBesideAnOlderCudnn) {
  const char several[] = "on several GPUs";
  Set("FAKE_CC", "8.6");
  EXPECT_THAT(Version("91000").Detail(), Not(HasSubstr(several))) << "one GPU";
  Set("FAKE_DEVICE_COUNT", "2");
  EXPECT_THAT(Version("91000").Detail(), HasSubstr(several));
  EXPECT_THAT(Version("91001").Detail(), Not(HasSubstr(several))) << "fixed";
  EXPECT_THAT(Said(Beside("wrong", R"({"cublaslt_min": "13.1"})")), ElementsAre("warning known-regression"));
  EXPECT_THAT(Said(Beside("wrong", R"({"cublaslt_min": "13.2"})")), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
