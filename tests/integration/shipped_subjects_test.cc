// What a run says of subjects that are interpreters: their names, their folders, and what is left ungated.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class SubjectsTest : public EnvironmentsTest {
 protected:
  SubjectsTest() {
    Promise("image.cudnn", ">=9.12 <10");
    MakeEnvironment("one");
  }
  // Of report.json; null: there is no such subject.
  static json Judged(const GateResult& r, const std::string& name) {
    for (const json& subject : r.report["judged"]["subjects"])
      if (subject["name"] == name) return subject;
    return nullptr;
  }
};

TEST_F(SubjectsTest, EachInterpreterIsJudgedByItsOwnAndSaysWhereItLies) {
  MakeEnvironment("two");
  UseSubjects("{\"system\": \"loader\", \"one\": \"" + Python("one") + "\", \"two\": \"" + Python("two") +
              "\"}");
  const GateResult r = Run(Entry("cudnn.load") + ", " + Entry("cudnn.version"));
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  for (const char* name : {"one", "two"}) {
    EXPECT_EQ(r.Outcome("cudnn.load[subject=" + std::string(name) + "]"), "passed");
    const json subject = Judged(r, name);
    EXPECT_THAT(subject["cudnn_path"].get<std::string>(),
                HasSubstr(std::string("/") + name + "/lib/python3.11/"));
    EXPECT_EQ(subject["folders"], json::array({Cudnn(name)}));
    EXPECT_FALSE(subject.contains("late_folders"));
  }
  EXPECT_FALSE(Judged(r, "system").contains("folders"));
  // A record that is read again says the same.
  const std::string report = gate().Read("report/report.json");
  EXPECT_EQ(gate().Command({"report", "report/journal.jsonl"}).exit_code, 0);
  EXPECT_EQ(gate().Read("report/report.json"), report);
}

// The example of matrices/README.md.
TEST_F(SubjectsTest, TheDocumentedExampleIsAMatrix) {
  std::ifstream file(CUDNN_CI_SOURCE_DIR "/matrices/README.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t section = page.find("### Subjects"), begin = page.find("```json\n", section) + 8;
  ASSERT_NE(section, std::string::npos);
  std::string example = page.substr(begin, page.find("```", begin) - begin);
  const std::string parent = "builtin:cu13";
  ASSERT_NE(example.find(parent), std::string::npos);
  gate().Write("example.json", example.replace(example.find(parent), parent.size(),
                                               CUDNN_CI_SOURCE_DIR "/matrices/cu13.json"));
  const GateResult r = gate().Command(
      {"list", "--matrix", gate().Path("example.json"), "--plugin-dir", CUDNN_CI_STAGE_PLUGINS});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("cudnn.load[subject=system]"), HasSubstr("cudnn.load[subject=train]")));
}

TEST_F(SubjectsTest, OneThatIsBrokenIsRedAloneAndACopyThatNobodyUsesIsNotGated) {
  MakeEnvironment("two");
  MakeEnvironment("spare");
  Set("VIRTUAL_ENV", gate().Path("spare"));
  fs::resize_file(Cudnn("two") + "/libcudnn_ops.so.9", 100);
  UseSubjects("{\"one\": \"" + Python("one") + "\", \"two\": \"" + Python("two") + "\"}");
  const GateResult r = Run(Entry("cudnn.load") + ", " + Entry("cudnn.version"));
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.Outcome("cudnn.load[subject=one]"), "passed");
  EXPECT_EQ(r.Errors("cudnn.load[subject=two]"), "image.cudnn-sublibrary-unloadable");
  const std::string not_gated = r.report["not_gated"].dump();
  EXPECT_THAT(not_gated, HasSubstr(fs::canonical(Cudnn("spare")).string()));
  EXPECT_THAT(not_gated, Not(HasSubstr(fs::canonical(Cudnn("one")).string())));
}

TEST_F(SubjectsTest, WhatLdLibraryPathHidesIsAWarningUnlessItIsOlder) {
  fs::create_directories(Site("one") + "/torch/lib");
  fs::copy_file(FakeFile("torch_runpath", "libtorch_cuda.so.2"), Site("one") + "/torch/lib/libtorch_cuda.so");
  UseSubjects("{\"one\": \"" + Python("one") + "\"}");
  CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  ASSERT_EQ(r.record["findings"].size(), 1u);
  EXPECT_EQ(r.record["findings"][0]["slug"], "cudnn-overridden");
  EXPECT_EQ(r.record["findings"][0]["severity"], "warning");
  EXPECT_FALSE(r.record["findings"][0].contains("command")) << "others may mean the one that hides it";
  EXPECT_THAT(Judged(r.gate, "one")["late_folders"].dump(), HasSubstr(Cudnn("one")));
  fs::copy_file(FakeFile("cudnn_new", "libcudnn_graph.so.9"), Cudnn("one") + "/libcudnn_graph.so.9",
                fs::copy_options::overwrite_existing);
  r = Check("cudnn.load");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-overridden-by-older"));
  // A program may have been built with either.
  UseSubjects("{\"one\": \"program:" + Site("one") + "/torch/lib/libtorch_cuda.so\"}");
  r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.record["findings"][0]["slug"], "cudnn-overridden");
}

TEST_F(SubjectsTest, PartsThatNobodyIsKnownToTakeAreAWarningWithoutALine) {
  UseSubjects("{\"one\": \"" + Python("one") + "\"}");
  TakeCudnn();
  Take("cudnn_old", "libcudnn_ops.so.9");
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  ASSERT_EQ(r.record["findings"].size(), 1u);
  EXPECT_EQ(r.record["findings"][0]["slug"], "cudnn-parts-overridden");
  EXPECT_FALSE(r.record["findings"][0].contains("command")) << "others may mean those parts";
}

TEST_F(SubjectsTest, AutoNamesEnvironmentsByTheirPathAndTakesTheSystemWhereItHasACudnn) {
  Set("VIRTUAL_ENV", gate().Path("one"));
  UseSubjects("\"auto\"");
  const GateResult r = Run(Entry("cudnn.load") + ", " + Entry("cudnn.version"));
  EXPECT_EQ(r.Outcome("cudnn.load[subject=" + NameOf("one") + "]"), "passed") << r.out << r.err;
  EXPECT_EQ(r.Outcome("cudnn.load[subject=system]"), "passed");
  EXPECT_EQ(Judged(r, NameOf("one"))["spec"], Python("one"));
  const GateResult list = gate().Command(
      {"list", "--matrix", gate().Path("matrix.json"), "--plugin-dir", CUDNN_CI_STAGE_PLUGINS});
  EXPECT_THAT(list.out, HasSubstr("cudnn.load[subject=" + NameOf("one") + "]"));
  for (const auto& entry : fs::recursive_directory_iterator(Site("one"))) {
    if (entry.path().string().find(".so") == std::string::npos || entry.is_directory()) continue;
    std::ifstream whole(entry.path(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(whole)), std::istreambuf_iterator<char>());
    fs::remove(entry.path());
    if (bytes.size() > 18) bytes[18] = static_cast<char>(243);  // EM_RISCV, of no machine that runs this
    std::ofstream(entry.path(), std::ios::binary) << bytes;
  }
  const GateResult foreign = Run(Entry("cudnn.load") + ", " + Entry("cudnn.version"));
  EXPECT_EQ(foreign.exit_code, 1) << foreign.out << foreign.err;
  EXPECT_EQ(foreign.report["root_cause"]["slug"], "subject-for-other-processor") << foreign.out;
}

TEST_F(SubjectsTest, AutoLeavesTheSystemOutWhereItHasNoCudnn) {
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "hiding the loader's cache needs a mount namespace";
  gate().Before(words);
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  UseSubjects("\"auto\"");
  Set("VIRTUAL_ENV", gate().Path("one"));
  GateResult r = Run(Entry("cudnn.load") + ", " + Entry("cudnn.version"));
  EXPECT_EQ(r.Outcome("cudnn.load[subject=" + NameOf("one") + "]"), "passed") << r.out << r.err;
  EXPECT_EQ(r.Outcome("cudnn.load[subject=system]"), "");
  EXPECT_TRUE(Judged(r, "system").is_null());
  if (r.report["judged"]["subjects"].size() > 1) GTEST_SKIP() << "this machine has environments of its own";
  EXPECT_EQ(r.exit_code, 0) << r.out;
  Set("VIRTUAL_ENV", "/nowhere");
  r = Run(Entry("cudnn.load") + ", " + Entry("cudnn.version"));
  EXPECT_EQ(r.Errors("cudnn.load[subject=system]"), "image.cudnn-missing")
      << "nothing else is found: it is judged";
}

}  // namespace
}  // namespace cudnn_ci
