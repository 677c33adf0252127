// Input that is not valid: exit 2, clear lines on stderr, nothing ran, and no report is left, not even an old
// one.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "gate_run.h"
#include "golden.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// What an earlier run left in `folder`: a head by which it is known as ours, and nothing behind it.
void LeaveReports(const GateRun& run, const std::string& folder) {
  constexpr char kJunit[] =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--cudnn-ci report-->\n<testsuites/>";
  fs::create_directory(run.Path(folder));
  run.Write(folder + "/junit.xml", kJunit);
  run.Write(folder + "/junit-2.xml", kJunit);
  run.Write(folder + "/report.json", "{\n \"schema\": \"cudnn-ci/report/1\"}");
  run.Write(folder + "/journal.jsonl", "{\"v\":\"journal/2\",\"seq\":1}\n");
}

const std::vector<std::string> kReports = {"junit.xml", "junit-2.xml", "report.json", "journal.jsonl"};

class BadInput : public testing::Test {
 protected:
  BadInput() { LeaveReports(run_, "report"); }
  // Returns the message.
  std::string ExpectRefused(const std::string& words, const std::vector<std::string>& arguments = {}) {
    const GateResult result = run_.Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_LT(std::count(result.err.begin(), result.err.end(), '\n'), 6) << result.err;
    for (const std::string& old : kReports) EXPECT_FALSE(run_.Exists("report/" + old)) << old;
    return result.err;
  }
  GateRun run_;
};

TEST_F(BadInput, AMissingMatrix) { ExpectRefused("matrix.json"); }

TEST_F(BadInput, AnInvalidMatrixLeavesNoFolderThatTheRunMade) {
  run_.Write("bad.json", "{");
  EXPECT_EQ(run_.Command({"--matrix", "bad.json", "--output-dir", run_.Path("made")}).exit_code, 2);
  EXPECT_FALSE(run_.Exists("made"));
  std::filesystem::create_directory(run_.Path("there"));
  EXPECT_EQ(run_.Command({"--matrix", "bad.json", "--output-dir", run_.Path("there")}).exit_code, 2);
  EXPECT_TRUE(run_.Exists("there"));
}

// The nearest by its number: of a CUDA that is newer than the matrices, the newest.
TEST_F(BadInput, AMatrixForANewerCuda) {
  run_.UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");
  EXPECT_THAT(run_.Command({"--matrix", "cu14", "--output-dir", "report"}).err,
              testing::EndsWith("\"cu13\"?\n"));
  EXPECT_THAT(run_.Command({"--matrix", "cu10", "--output-dir", "report"}).err,
              testing::EndsWith("\"cu11\"?\n"));
}

TEST_F(BadInput, AMatrixThatNobodyShips) {
  run_.UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
  const GateResult result = run_.Command({"--matrix", "cu21", "--output-dir", "report"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, testing::ContainsRegex("^cu21: error: .* base, cu11, .*\"cu13\""));
  for (const std::string& old : kReports) EXPECT_FALSE(run_.Exists("report/" + old)) << old;
}

TEST_F(BadInput, AnImageWithoutItsDigest) {
  run_.Matrix(Entry("fixture.pass"));
  const std::string digits(63, 'a');
  for (const std::string& image :
       {std::string("team/image:1"), "team/image@sha256:" + digits, std::string("sha256:") + digits + "a",
        "team/image@sha256:" + digits + "A", "@sha256:" + digits + "a"}) {
    LeaveReports(run_, "report");
    ExpectRefused("--subject-image: " + image + " ", {"--subject-image", image});
  }
}

TEST_F(BadInput, AnImageConfigurationThatIsNone) {
  run_.Matrix(Entry("fixture.pass"));
  GateMessages golden(run_);
  const auto refused = [&](const std::string& file, const std::string& words) {
    LeaveReports(run_, "report");
    golden.Row("--image-config " + file, ExpectRefused("--image-config: " + words, {"--image-config", file}));
  };
  refused("missing.json", "missing.json: ");
  fs::create_directory(run_.Path("folder"));
  refused("folder", "folder: ");
  run_.Write("broken.json", "{\"Env\": [}");
  refused("broken.json", "broken.json:1:10: error: ");
  run_.Write("other.json", "{\"name\": \"package\"}");
  refused("other.json", "other.json:1:1: error: ");
}

TEST_F(BadInput, ATableOfVersionFactsThatIsNone) {
  run_.Matrix(Entry("fixture.pass"));
  GateMessages golden(run_);
  const auto refused = [&](const std::string& file, const std::string& words) {
    LeaveReports(run_, "report");
    golden.Row("--compatibility " + file, ExpectRefused(words, {"--compatibility", file}));
  };
  refused("missing.json", "missing.json: error: ");
  run_.Write("broken.json", "{\n  \"schema\": \"cudnn-ci/compatibility/1\", 7}");
  refused("broken.json", "broken.json:2:41: error: ");
  run_.Write("other.json", "{\"schema\": \"cudnn-ci/matrix/1\"}");
  refused("other.json", "other.json:1:12: error: ");
}

TEST_F(BadInput, AReportInThePlaceOfTheTableOfVersionFacts) {
  run_.Matrix(Entry("fixture.pass"));
  const GateResult result = run_.Run({"--compatibility", "report/report.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(GateMessages(run_).Row("--compatibility", result.err), HasSubstr(" report/report.json"));
  EXPECT_TRUE(run_.Exists("report/report.json")) << "an input is never taken away";
}

// A file of variables, given by mistake or broken, ends up in logs that many can read.
TEST_F(BadInput, AnImageConfigurationWhoseWordsAreSecret) {
  run_.Matrix(Entry("fixture.pass"));
  for (const std::string text :
       {"API_TOKEN=hunter2\n", "{\"Env\": [\"A=1\", hunter2]}",
        "{\"Config\": {\"Env\": {\"hunter2\": 1, \"hunter2\": 2}}}",
        "{\"Config\": {\"Env\": [\"API_TOKEN=hunter2\\u0000\"]}}", "{\"Env\": [{\"hunter2\": 1}]}"}) {
    run_.Write("config.json", text);
    const GateResult result = run_.Run({"--image-config", "config.json"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("config.json:1:"));
    EXPECT_EQ(result.err.find("hunter2"), std::string::npos) << result.err;
  }
}

TEST_F(BadInput, AReportInThePlaceOfTheImagesConfiguration) {
  run_.Matrix(Entry("fixture.pass"));
  run_.Write("report/report.json", "{\n \"schema\": \"cudnn-ci/report/1\"}");
  const GateResult result = run_.Run({"--image-config", "report/report.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(GateMessages(run_).Row("--image-config", result.err), HasSubstr(" report/report.json"));
  EXPECT_TRUE(run_.Exists("report/report.json")) << "an input is never taken away";
}

TEST_F(BadInput, ADirectory) {
  fs::create_directory(run_.Path("matrix.json"));
  ExpectRefused("directory");
}

TEST_F(BadInput, AnEmptyFile) {
  run_.Write("matrix.json", "");
  ExpectRefused("matrix.json:1:1: error:");
}

TEST_F(BadInput, InvalidUtf8) {
  run_.Write("matrix.json", "{\"schema\": \"cudnn-ci/matrix/1\", \"name\": \"\xff\xfe\", \"checks\": []}");
  ExpectRefused("matrix.json:1:");
}

TEST_F(BadInput, ATruncatedDocument) {
  run_.Write("matrix.json", "{\"schema\": \"cudnn-ci/matrix/1\",\n \"checks\": [{\"check\":");
  ExpectRefused("matrix.json:2:");
}

TEST_F(BadInput, ADocumentOfFiftyMegabytes) {
  run_.Write("matrix.json",
             "{\"schema\": \"cudnn-ci/matrix/1\", \"name\": \"" + std::string(50 << 20, 'x') + "\"}");
  ExpectRefused("matrix.json");
}

TEST_F(BadInput, ADeepDocument) {
  run_.Write("matrix.json", std::string(100000, '['));
  ExpectRefused("matrix.json:1:");
}

TEST_F(BadInput, ACycleOfExtends) {
  run_.Write("matrix.json", R"({"schema": "cudnn-ci/matrix/1", "extends": "other.json", "checks": []})");
  run_.Write("other.json", R"({"schema": "cudnn-ci/matrix/1", "extends": "matrix.json", "checks": []})");
  ExpectRefused("extends");
}

TEST_F(BadInput, AnUnknownKey) {
  run_.Matrix(Entry("fixture.pass", R"("parms": {"i": 1})"));
  ExpectRefused("\"params\"");
}

TEST_F(BadInput, ADuplicateKey) {
  run_.Matrix(Entry("fixture.pass", R"("params": {"i": 1, "i": 2})"));
  ExpectRefused("at matrix.json:1:");
}

TEST_F(BadInput, AnUnreadableVersionRange) {
  run_.Matrix(Entry("fixture.pass"), 20, R"(, "image": {"toolkit": ">=twelve"})");
  ExpectRefused(">=twelve");
}

TEST_F(BadInput, AnUnknownCheck) {
  run_.Matrix(Entry("fixture.pas"));
  ExpectRefused("\"fixture.pass\"");
}

TEST_F(BadInput, AnUnknownParameter) {
  run_.Matrix(Entry("fixture.pass", R"("params": {"jay": 1})"));
  ExpectRefused("no parameter \"jay\"");
}

TEST_F(BadInput, AValueThatIsNotAllowed) {
  run_.Matrix(Entry("fixture.skip", R"("params": {"kind": "unsuported"})"));
  ExpectRefused("\"unsupported\"");
}

TEST_F(BadInput, AValueOfTheWrongType) {
  run_.Matrix(Entry("fixture.pass", R"("params": {"i": "one"})"));
  ExpectRefused("matrix.json:1:");
}

TEST_F(BadInput, TheSameCaseTwice) {
  run_.Matrix(Entry("fixture.pass") + ", " + Entry("fixture.pass"));
  ExpectRefused("fixture.pass[i=0]");
}

TEST_F(BadInput, SeveralErrorsAreToldAtOnce) {
  run_.Matrix(Entry("fixture.pass", R"("parms": {}, "requird": true)"));
  const GateResult result = run_.Run();
  EXPECT_THAT(result.err, HasSubstr("parms"));
  EXPECT_THAT(result.err, HasSubstr("requird"));
}

TEST_F(BadInput, AnUnknownCaseOnTheCommandLine) {
  run_.Matrix(Entry("fixture.pass"));
  ExpectRefused("fixture.nothere", {"--case", "fixture.nothere"});
}

class BadFolder : public testing::Test {
 protected:
  void ExpectRefused(const std::string& words, const std::vector<std::string>& arguments = {}) {
    run_.Matrix(Entry("fixture.pass"));
    const GateResult result = run_.Run(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  GateRun run_;
};

TEST_F(BadFolder, ThatMayNotBeWrittenNamesUserAndMode) {
  if (geteuid() == 0) run_.Before({"setpriv", "--reuid", "65534", "--clear-groups"});
  fs::create_directory(run_.Path("report"));
  chmod(run_.Path("report").c_str(), 0555);
  chmod(run_.folder().c_str(), 0777);
  ExpectRefused("user " + std::to_string(geteuid() == 0 ? 65534 : geteuid()));
}

TEST_F(BadFolder, ThatIsAFile) {
  run_.Write("report", "a file");
  ExpectRefused("report");
}

TEST_F(BadFolder, WhereAReportIsADirectory) {
  fs::create_directories(run_.Path("report/junit.xml/inside"));
  ExpectRefused("a directory");
}

TEST_F(BadFolder, ThatCannotBeCreated) {
  run_.Matrix(Entry("fixture.pass"));
  const GateResult result = run_.Command({"--matrix", "matrix.json", "--output-dir", "/proc/no/such"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("/proc/no"));
}

// Command lines that are no run, though something of an earlier one lies where the run would have written.
struct BadLine {
  const char* name;
  std::vector<std::string> arguments;
};

class BadCommandLine : public testing::TestWithParam<BadLine> {};

TEST_P(BadCommandLine, IsOneLineExitTwoAndLeavesNoEarlierReport) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  LeaveReports(run, "report");
  LeaveReports(run, "cudnn-ci-report");
  LeaveReports(run, "elsewhere");
  const GateResult result = run.Command(GetParam().arguments);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  bool named = false;
  for (const std::string& word : GetParam().arguments)
    named = named || word.find("report") != std::string::npos;
  for (const std::string& old : kReports) {
    EXPECT_FALSE(run.Exists((named ? "report/" : "cudnn-ci-report/") + old)) << old;
    EXPECT_TRUE(run.Exists("elsewhere/" + old)) << old;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCommandLine,
    testing::Values(
        BadLine{"unknown_option", {"--matrix", "matrix.json", "--output-dir", "report", "--nonsense"}},
        BadLine{"unknown_option_first", {"--nonsense", "--output-dir=report"}},
        BadLine{"unknown_option_default_folder", {"--nonsense"}},
        BadLine{"unknown_word", {"nonsense", "--output-dir", "report"}},
        BadLine{"a_bad_number", {"--jobs", "0", "--output-dir", "report"}},
        BadLine{"a_bad_number_of_workers", {"--workers-per-gpu", "0", "--output-dir", "report"}},
        BadLine{"a_bad_shard", {"--shard", "3/2", "--output-dir", "report", "--matrix", "matrix.json"}},
        BadLine{"a_bad_choice", {"--isolation", "perhaps", "--output-dir", "report"}},
        BadLine{"a_bad_plugin_folder", {"--plugin-dir", "/nowhere", "--output-dir", "report"}},
        BadLine{"no_value", {"--output-dir", "report", "--matrix"}},
        BadLine{"matrix_and_auto", {"--matrix", "matrix.json", "--auto", "--output-dir", "report"}},
        BadLine{"an_image_by_digest_and_by_id",
                {"--matrix", "matrix.json", "--subject-image", "a@sha256:" + std::string(64, 'a'),
                 "--subject-id", "a@sha256:" + std::string(64, 'b'), "--output-dir", "report"}},
        BadLine{"a_device_that_is_none",
                {"--matrix", "matrix.json", "--device", "foo", "--output-dir", "report"}},
        BadLine{"an_empty_name", {"--output-dir", "report", "--matrix", ""}},
        BadLine{"an_empty_shard", {"--output-dir", "report", "--matrix", "matrix.json", "--shard", ""}},
        BadLine{"standard_output", {"--output-dir", "report", "--junit", "-", "--json", "-"}},
        BadLine{"two_matrices",
                {"--output-dir", "report", "--matrix", "matrix.json", "--matrix", "matrix.json"}},
        BadLine{"two_stages", {"--stage", "static", "--stage", "all", "--output-dir", "report"}},
        BadLine{"two_shards", {"--shard", "1/2", "--shard", "2/2", "--output-dir", "report"}}),
    [](const testing::TestParamInfo<BadLine>& row) { return std::string(row.param.name); });

TEST(BadUsage, SingleFilesOfAnEarlierRunGoToo) {
  GateRun run;
  LeaveReports(run, "report");
  run.Write("report/notes.xml", "somebody's");
  EXPECT_EQ(run.Command({"--junit", "report/junit.xml", "--json=report/notes.xml", "--nonsense"}).exit_code,
            2);
  EXPECT_FALSE(run.Exists("report/junit.xml"));
  EXPECT_FALSE(run.Exists("report/junit-2.xml"));
  EXPECT_TRUE(run.Exists("report/report.json")) << "nobody named it";
  EXPECT_EQ(run.Read("report/notes.xml"), "somebody's");
}

TEST(BadUsage, OfAnotherCommandOrADryRunTouchesNoReport) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"list", "--nonsense"},
                                                    {"explain"},
                                                    {"--dry-run", "--nonsense"},
                                                    {"report", "nowhere.jsonl", "--nonsense"}}) {
    GateRun run;
    LeaveReports(run, "cudnn-ci-report");
    EXPECT_EQ(run.Command(arguments).exit_code, 2);
    for (const std::string& old : kReports) EXPECT_TRUE(run.Exists("cudnn-ci-report/" + old)) << arguments[0];
  }
}

TEST(BadUsage, LeavesTheReportsOfARunThatIsGoingOn) {
  GateRun run;
  run.Matrix(Entry("fixture.held"));
  const pid_t first = run.Start();
  run.WaitForEvent("AttemptStarted");
  EXPECT_EQ(run.Command({"--output-dir", "report", "--nonsense"}).exit_code, 2);
  run.Release();
  const GateResult result = run.Wait(first);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.junit, HasSubstr("verdict"));
}

TEST(BadUsage, OptionsThatMayBeGivenTwiceAreTakenTogether) {
  GateRun run;
  run.Matrix(Entry("fixture.pass", R"("axes": {"i": [1, 2, 3]})"));
  const GateResult result =
      run.Run({"--fail-fast", "--fail-fast", "--case", "fixture.pass[i=1]", "--case", "fixture.pass[i=3]"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.report["cases"].size(), 2u);
}

TEST(BadUsage, AnOptionOfTheGateBeforeACommandThatDoesNotHaveItIsRefused) {
  GateRun run;
  LeaveReports(run, "cudnn-ci-report");
  const GateResult refused = run.Command({"--device", "7", "plugins"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, testing::ContainsRegex("^cudnn-ci: --device .*'plugins'\n$"));
  EXPECT_EQ(run.Command({"--fail-fast", "self-test"}).exit_code, 2);
  EXPECT_THAT(run.Command({"--json", "new.json", "plugins"}).err,
              testing::ContainsRegex("^cudnn-ci: --json .*'plugins'"));
  EXPECT_THAT(run.Command({"--output-dir", "a", "report", "nowhere.jsonl", "--output-dir", "b"}).err,
              testing::ContainsRegex("^cudnn-ci: --output-dir .*'report'"));
  EXPECT_EQ(run.Command({"--load-timeout", "20", "plugins", "--json"}).exit_code, 0) << "which it has";
  for (const std::string& old : kReports) EXPECT_TRUE(run.Exists("cudnn-ci-report/" + old)) << old;
}

TEST(BadUsage, AnOptionBeforeACommandIsReadAsTheCommandReadsIt) {
  GateRun run;
  run.Matrix(Entry("fixture.pass", R"("axes": {"i": [1, 2, 3]})"));
  const GateResult list = run.Command(
      {"--case", "fixture.pass[i=1]", "--case", "fixture.pass[i=3]", "--matrix", "matrix.json", "list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(list.out, "fixture.pass[i=1]\nfixture.pass[i=3]\n");
  // The gate may print a summary; a rebuilt one is always on the screen.
  const GateResult report = run.Command({"--summary", "-", "report", "nowhere.jsonl"});
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_EQ(report.err, run.Command({"report", "--summary", "-", "nowhere.jsonl"}).err);
}

TEST(BadUsage, DevicesHaveOneOfFourForms) {
  GateRun run;
  run.Matrix(Entry("fixture.pass"));
  for (const char* device : {"all", "0", "17", "gpu3", "GPU-5c4f1d1e-0000", "MIG-5c4f1d1e-0000"})
    EXPECT_EQ(run.Run({"--device", device}).exit_code, 0) << device;
  for (const char* device : {"", "foo", "gpu", "-1", "0x", "ALL", "GPU-", "gpu0 "})
    EXPECT_EQ(run.Run({"--device", device}).exit_code, 2) << device;
}

TEST(BadUsage, IsOneLineAndExitTwo) {
  GateRun run;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--nonsense"},
                                                    {"--jobs", "0"},
                                                    {"--workers-per-gpu", "many"},
                                                    {"--workers-per-gpu", "100"},
                                                    {"--shard", "3/2"},
                                                    {"nonsense"},
                                                    {"--isolation", "perhaps"},
                                                    {"explain"},
                                                    {"report", "nowhere.jsonl"}}) {
    const GateResult result = run.Command(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments[0];
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace cudnn_ci
