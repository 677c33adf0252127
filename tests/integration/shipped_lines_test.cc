// The suggested command for cuDNN: only where a single package has the files, its manager is there, and the
// line is certain to fix what was named.
#include <fstream>
#include <iterator>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr char kPackage[] = "nvidia_cudnn_cu13-9.19.0.56";

class LinesTest : public EnvironmentsTest {
 protected:
  LinesTest() { UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"}); }
  // A virtual environment with pip, and the subject that means it.
  void Make(const std::string& name, const std::vector<std::string>& packages = {kPackage}) {
    MakeEnvironment(name, packages);
    fs::create_directory(Site(name) + "/pip");
    UseSubjects("{\"venv\": \"" + Python(name) + "\"}");
  }
  std::string Pip(const std::string& name) {
    return "RUN " + fs::canonical(gate().Path(name)).string() + "/bin/python -m pip install ";
  }
  // The line of the first finding of this slug; "(none)": it has none.
  static std::string Line(const CheckOutcome& r, const std::string& slug) {
    for (const json& f : r.record["findings"])
      if (f["slug"] == slug) return f.value("command", "(none)");
    ADD_FAILURE() << slug << " is not among " << r.record["findings"];
    return "";
  }
  // One part is an older release's.
  std::string LineForMixture(const std::string& name) {
    fs::copy_file(FakeFile("cudnn_old", "libcudnn_ops.so.9"), Cudnn(name) + "/libcudnn_ops.so.9",
                  fs::copy_options::overwrite_existing);
    return Line(Check("cudnn.load"), "cudnn-mixed-versions");
  }
};

TEST_F(LinesTest, AWheelIsInstalledAgain) {
  Make("venv");
  EXPECT_EQ(LineForMixture("venv"), Pip("venv") + "--force-reinstall --no-deps nvidia-cudnn-cu13==9.19.0.56");
}

TEST_F(LinesTest, NoneIsSaidOfFilesThatNobodyRecorded) {
  Make("venv", {});
  EXPECT_EQ(LineForMixture("venv"), "(none)");
}

TEST_F(LinesTest, NoneIsSaidOfAFolderThatTwoPackagesClaim) {
  Make("venv", {kPackage, "nvidia_cudnn_cu12-9.14.0.64"});
  EXPECT_EQ(LineForMixture("venv"), "(none)");
}

TEST_F(LinesTest, NoneIsSaidWithoutPip) {
  Make("venv");
  fs::remove(Site("venv") + "/pip");
  EXPECT_EQ(LineForMixture("venv"), "(none)");
}

TEST_F(LinesTest, NoneIsSaidOfANameThatWouldHaveToBeQuoted) {
  Make("my venv");
  EXPECT_EQ(LineForMixture("my venv"), "(none)");
  Make("venv", {"nvidia_cudnn_cu13-9.19.0.56;reboot"});
  EXPECT_EQ(LineForMixture("venv"), "(none)");
}

// The loader's words may be about another package's library.
TEST_F(LinesTest, NoneIsSaidOfWhatIsMissingBehindASoundFile) {
  Make("venv");
  fs::copy_file(FakeFile("cudnn_more", "libcudnn_engines_runtime_compiled.so.9"),
                Cudnn("venv") + "/libcudnn_engines_runtime_compiled.so.9",
                fs::copy_options::overwrite_existing);
  UseFakes({"cudart13", "nvrtc"});
  if (!Alone()) GTEST_SKIP() << "this machine's libraries cannot be hidden";
  EXPECT_EQ(Line(Check("cudnn.load", "", {"--stage", "static"}), "cudnn-sublibrary-unloadable"), "(none)");
}

// As the wheel of 9.20.0.48, whose graph library opens a part that it never had.
TEST_F(LinesTest, WhatThePackageNeverHadIsNotLacking) {
  Make("venv");
  fs::copy_file(FakeFile("cudnn_opens", "libcudnn_graph.so.9"), Cudnn("venv") + "/libcudnn_graph.so.9",
                fs::copy_options::overwrite_existing);
  const std::string slug = "cudnn-part-lacking", record = Site("venv") + "/" + kPackage + ".dist-info/RECORD",
                    main = "nvidia/cudnn/lib/libcudnn.so.9,,\n";
  EXPECT_EQ(Line(Check("cudnn.load"), slug), "(none)") << "nobody knows what the package has";
  std::ofstream(record) << main;
  EXPECT_THAT(Check("cudnn.load").AllSlugs(), ::testing::Not(::testing::Contains(slug)));
  std::ofstream(record) << main << "nvidia/cudnn/lib/libcudnn_engines_tensor_ir.so.9,,\n";
  EXPECT_EQ(Line(Check("cudnn.load"), slug),
            Pip("venv") + "--force-reinstall --no-deps nvidia-cudnn-cu13==9.19.0.56");
}

// pip and apt go by their records.
TEST_F(LinesTest, OfAnotherRecordedVersionThatOneIsInstalledIfItIsPromised) {
  const std::string recorded = "nvidia_cudnn_cu13-9.20.0.48", slug = "cudnn-outside-contract";
  Make("venv", {recorded});
  Promise("image.cudnn", ">=9.20 <10");
  EXPECT_EQ(Line(Check("cudnn.version"), slug),
            Pip("venv") + "--force-reinstall --no-deps nvidia-cudnn-cu13==9.20.0.48");
  Promise("image.cudnn", ">=9.21 <10");
  EXPECT_EQ(Line(Check("cudnn.version"), slug), "(none)") << "the record does not keep it";
}

TEST_F(LinesTest, NoneLeadsBackToARecordThatIsOlderOrNotPromised) {
  const std::string slug = "cudnn-package-mismatch";
  Promise("image.cudnn", ">=9.12 <9.25");
  Make("venv", {"nvidia_cudnn_cu13-9.20.0.48"});
  EXPECT_EQ(Line(Check("cudnn.version"), slug),
            Pip("venv") + "--force-reinstall --no-deps nvidia-cudnn-cu13==9.20.0.48");
  Make("older", {"nvidia_cudnn_cu13-9.14.0.64"});
  EXPECT_EQ(Line(Check("cudnn.version"), slug), "(none)");
  Make("newer", {"nvidia_cudnn_cu13-9.25.0.10"});
  EXPECT_EQ(Line(Check("cudnn.version"), slug), "(none)");
  Make("odd", {"nvidia_cudnn_cu13-9.20.x"});
  EXPECT_EQ(Line(Check("cudnn.version"), slug), "(none)") << "which is no version";
}

class KnownLinesTest : public LinesTest {
 protected:
  KnownLinesTest() {
    Make("venv");
    Set("FAKE_CC", "8.6");  // of which nothing else is known to go wrong
  }
  // The line of the warning, by the shipped table with these rows before its first.
  std::string LineOf(const std::string& rows) {
    std::ifstream file(CUDNN_CI_SOURCE_DIR "/knowledge/compatibility.json");
    std::string table(std::istreambuf_iterator<char>(file), {});
    const std::string list = "\"known_regressions\": [";
    gate().Write("table.json", table.insert(table.find(list) + list.size(), rows));
    return Line(Check("cudnn.version", "", {"--compatibility", gate().Path("table.json")}),
                "known-regression");
  }
  // One that every convolution of 9.19.0 has.
  static std::string Row(const std::string& id, const std::string& first, const std::string& last,
                         const std::string& fixed) {
    return R"({"id": ")" + id +
           R"(", "library": "cudnn", "what": "made-up ones", "effect": "wrong", "first": ")" + first +
           R"(", "last": ")" + last + R"(", "fixed": )" + fixed +
           R"(, "hits": {"dtype": ["float32"]}, "source": "https://example.org/made", "confidence": "sure"},)";
  }
};

TEST_F(KnownLinesTest, TheReleaseThatHasAllFixedIsTaken) {
  const std::string one = Row("one", "9.19.0", "9.19.0", "\"9.19.1\""),
                    two = Row("two", "9.18.0", "9.20.0", "\"9.20.1\"");
  EXPECT_EQ(LineOf(one), Pip("venv") + "--no-deps 'nvidia-cudnn-cu13==9.19.1.*'");
  EXPECT_EQ(LineOf(two + one), Pip("venv") + "--no-deps 'nvidia-cudnn-cu13==9.20.1.*'");
  Promise("image.cudnn", ">=9.12 <9.20");
  EXPECT_EQ(LineOf(two + one), "(none)") << "which the matrix does not want";
}

TEST_F(KnownLinesTest, NoneIsSaidWhereAReleaseIsNotKnownOrHasAnother) {
  const std::string one = Row("one", "9.19.0", "9.19.0", "\"9.19.1\"");
  EXPECT_EQ(LineOf(one + Row("two", "9.19.0", "9.19.0", "null")), "(none)");
  EXPECT_EQ(LineOf(one + Row("two", "9.19.1", "9.19.1", "\"9.19.2\"")), "(none)");
}

TEST_F(KnownLinesTest, NoneIsSaidOfAPackageWithAnotherRecordedVersion) {
  Make("copied", {"nvidia_cudnn_cu13-9.18.0.77"});
  EXPECT_EQ(LineOf(Row("one", "9.19.0", "9.19.0", "\"9.19.1\"")), "(none)");
}

}  // namespace
}  // namespace cudnn_ci
