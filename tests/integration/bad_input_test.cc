// Input that is not valid: exit 2, clear lines on stderr, nothing ran, and no report is left, not even an old
// one.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class BadInput : public testing::Test {
 protected:
  // Something of an earlier run lies there.
  BadInput() {
    fs::create_directory(run_.Path("report"));
    for (const char* old :
         {"report/junit.xml", "report/report.json", "report/journal.jsonl", "report/junit-2.xml"})
      run_.Write(old, "old");
  }
  void ExpectRefused(const std::string& words, const std::vector<std::string>& arguments = {}) {
    const GateResult result = run_.Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_LT(std::count(result.err.begin(), result.err.end(), '\n'), 6) << result.err;
    for (const char* old :
         {"report/junit.xml", "report/report.json", "report/journal.jsonl", "report/junit-2.xml"})
      EXPECT_FALSE(run_.Exists(old)) << old;
  }
  GateRun run_;
};

TEST_F(BadInput, AMissingMatrix) { ExpectRefused("matrix.json"); }

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
  ExpectRefused("did you mean");
}

TEST_F(BadInput, ADuplicateKey) {
  run_.Matrix(Entry("fixture.pass", R"("params": {"i": 1, "i": 2})"));
  ExpectRefused("was given before, at matrix.json:1:");
}

TEST_F(BadInput, AnUnreadableVersionRange) {
  run_.Matrix(Entry("fixture.pass"), 20, R"(, "image": {"toolkit": ">=twelve"})");
  ExpectRefused(">=twelve");
}

TEST_F(BadInput, AnUnknownCheck) {
  run_.Matrix(Entry("fixture.pas"));
  ExpectRefused("did you mean");
}

TEST_F(BadInput, AnUnknownParameter) {
  run_.Matrix(Entry("fixture.pass", R"("params": {"j": 1})"));
  ExpectRefused("j");
}

TEST_F(BadInput, AValueThatIsNotAllowed) {
  run_.Matrix(Entry("fixture.skip", R"("params": {"kind": "unsuported"})"));
  ExpectRefused("did you mean");
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

TEST_F(BadInput, NoMatrixAtAll) {
  const GateResult result = run_.Command({"--output-dir", "report"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("no matrix given. Found:"));
  EXPECT_FALSE(run_.Exists("report/junit.xml"));
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
  ExpectRefused("Permission denied (we are user ");
}

TEST_F(BadFolder, ThatIsAFile) {
  run_.Write("report", "a file");
  ExpectRefused("report");
}

TEST_F(BadFolder, WhereAReportIsADirectory) {
  fs::create_directories(run_.Path("report/junit.xml/inside"));
  ExpectRefused("it is a directory");
}

TEST_F(BadFolder, ThatCannotBeCreated) {
  run_.Matrix(Entry("fixture.pass"));
  const GateResult result = run_.Command({"--matrix", "matrix.json", "--output-dir", "/proc/no/such"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("/proc/no"));
}

TEST(BadUsage, IsOneLineAndExitTwo) {
  GateRun run;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--nonsense"},
                                                    {"--jobs", "0"},
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
