// The way of a plugin author: install cudnn-ci, find its package from a project of one's own, build a plugin
// in C and one in C++, and have the gate run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "install/command.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class SdkConsumer : public ::testing::Test {
 protected:
  // Once for all tests: building the plugins takes longer than everything else.
  static void SetUpTestSuite() {
    std::string folder = (fs::temp_directory_path() / "cudnn-ci-sdk-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder;
    fs::create_directory(root_ / "plugins");
    Require(Quoted(CUDNN_CI_CMAKE) + " --install " + Quoted(CUDNN_CI_BUILD_DIR) + " --prefix " +
            Quoted(Prefix()));
    BuildPlugin("c", "plain");
    BuildPlugin("cpp", "modern");
  }

  static void TearDownTestSuite() {
    std::error_code ignored;
    if (!root_.empty()) fs::remove_all(root_, ignored);
  }

  static fs::path Prefix() { return root_ / "prefix"; }

  static void Require(const std::string& command) {
    const CommandResult result = RunCommand(command);
    ASSERT_EQ(result.status, 0) << command << "\n" << result.output;
  }

  // Configures and builds a project of its own, with nothing of our tree in sight but the package.
  static void BuildPlugin(const std::string& project, const std::string& stem) {
    const fs::path build = root_ / project;
    Require(Quoted(CUDNN_CI_CMAKE) + " -S " + Quoted(fs::path(CUDNN_CI_CONSUMERS) / project) + " -B " +
            Quoted(build) + " -DCMAKE_PREFIX_PATH=" + Quoted(Prefix()) + " -DCMAKE_C_COMPILER=" +
            Quoted(CUDNN_CI_C_COMPILER) + " -DCMAKE_CXX_COMPILER=" + Quoted(CUDNN_CI_CXX_COMPILER) + " -G " +
            Quoted(CUDNN_CI_GENERATOR) + " --no-warn-unused-cli");
    Require(Quoted(CUDNN_CI_CMAKE) + " --build " + Quoted(build));
    const fs::path plugin = build / (stem + ".cci.so");
    ASSERT_TRUE(fs::is_regular_file(plugin));
    fs::copy_file(plugin, root_ / "plugins" / plugin.filename());
  }

  static CommandResult Gate(const std::string& arguments) {
    return RunCommand("cd " + Quoted(root_) + " && " + Quoted(Prefix() / "bin/cudnn-ci") + " " + arguments +
                      " --plugin-dir " + Quoted(root_ / "plugins"));
  }

  static CommandResult RunMatrix(const std::string& checks) {
    std::ofstream(root_ / "sdk.json")
        << R"({ "schema": "cudnn-ci/matrix/1", "name": "sdk", "checks": [)" << checks << "] }\n";
    return Gate("--matrix sdk.json");
  }

  static int ExitCode(const CommandResult& result) {
    return WIFEXITED(result.status) ? WEXITSTATUS(result.status) : -1;
  }

  static fs::path root_;
};

fs::path SdkConsumer::root_;

TEST_F(SdkConsumer, GateListsForeignPlugins) {
  const CommandResult listed = Gate("plugins");
  EXPECT_EQ(ExitCode(listed), 0) << listed.output;
  EXPECT_THAT(listed.output, HasSubstr("plain"));
  EXPECT_THAT(listed.output, HasSubstr("modern"));
}

TEST_F(SdkConsumer, GatePassesForeignChecks) {
  const CommandResult run = RunMatrix(R"({ "check": "plain.even" }, { "check": "modern.even" })");
  EXPECT_EQ(ExitCode(run), 0) << run.output;
}

TEST_F(SdkConsumer, GateStopsWhenACheckInCFails) {
  const CommandResult run =
      RunMatrix(R"({ "check": "plain.even", "params": { "n": 3 } }, { "check": "modern.even" })");
  EXPECT_EQ(ExitCode(run), 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("plain.even[n=3]"));
}

TEST_F(SdkConsumer, GateStopsWhenACheckInCxxFails) {
  const CommandResult run =
      RunMatrix(R"({ "check": "plain.even" }, { "check": "modern.even", "params": { "n": 3 } })");
  EXPECT_EQ(ExitCode(run), 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("modern.even[n=3]"));
}

// Configures the project that gates from ctest, for matrices separated by semicolons.
CommandResult Configure(const fs::path& root, const fs::path& prefix, const std::string& matrices,
                        const std::string& more = "") {
  fs::remove_all(root / "gated");
  return RunCommand(Quoted(CUDNN_CI_CMAKE) + " -S " + Quoted(fs::path(CUDNN_CI_CONSUMERS) / "ctest") +
                    " -B " + Quoted(root / "gated") + " -DCMAKE_PREFIX_PATH=" + Quoted(prefix) +
                    " -DPLUGINS=" + Quoted(root / "plugins") + " -DMATRICES=" + Quoted(matrices) + " " +
                    more + " 2>&1");
}

TEST_F(SdkConsumer, CtestGatesAgainstEveryMatrix) {
  const auto write = [](const char* name, int n) {
    std::ofstream(root_ / name) << R"({ "schema": "cudnn-ci/matrix/1", "name": "m", "checks": [)"
                                << R"({ "check": "plain.even", "params": { "n": )" << n << " } }] }\n";
  };
  write("sound.json", 2);
  write("broken.json", 3);
  const CommandResult configured =
      Configure(root_, Prefix(), (root_ / "sound.json").string() + ";" + (root_ / "broken.json").string());
  ASSERT_EQ(configured.status, 0) << configured.output;
  const std::string ctest = "cd " + Quoted(root_ / "gated") + " && " +
                            Quoted(fs::path(CUDNN_CI_CMAKE).parent_path() / "ctest") +
                            " --output-on-failure ";
  const CommandResult labelled = RunCommand(ctest + "-L nightly -L cudnn-ci -j 2");
  EXPECT_NE(labelled.status, 0);
  EXPECT_THAT(labelled.output, HasSubstr("1 tests failed out of 2")) << labelled.output;
  EXPECT_THAT(labelled.output, ::testing::ContainsRegex("cudnn-ci.sound [. ]*Passed")) << labelled.output;
  EXPECT_THAT(labelled.output, HasSubstr("plain.even[n=3]")) << labelled.output;
  EXPECT_TRUE(fs::exists(root_ / "gated/cudnn-ci-report/cudnn-ci.broken/junit.xml"));
}

TEST_F(SdkConsumer, CtestKnowsAMatrixByItsName) {
  const CommandResult configured = Configure(root_, Prefix(), "cu13");
  ASSERT_EQ(configured.status, 0) << configured.output;
  const std::string listed = RunCommand("cat " + Quoted(root_ / "gated/CTestTestfile.cmake")).output;
  EXPECT_THAT(listed, HasSubstr("\"--matrix\" \"cu13\"")) << listed;
}

TEST_F(SdkConsumer, CtestRefusesAMatrixThatIsNotThere) {
  const CommandResult configured = Configure(root_, Prefix(), "matrices/typo.json");
  EXPECT_NE(configured.status, 0);
  EXPECT_THAT(configured.output, HasSubstr("cudnn_ci_add_test: no file"));
}

std::string CommandsOfCtest(const fs::path& root) {
  return RunCommand("cat " + Quoted(root / "gated/CTestTestfile.cmake")).output;
}

TEST_F(SdkConsumer, CtestRefusesWhatRunsNoGateAndTimesThatAreNone) {
  for (const char* argument :
       {"--dry-run", "--dry-run=true", "--report-only=1", "--help", "-h", "--version"}) {
    const CommandResult configured =
        Configure(root_, Prefix(), "cu13", "-DARGUMENTS=" + std::string(argument));
    EXPECT_NE(configured.status, 0) << argument;
    EXPECT_THAT(configured.output, HasSubstr(std::string(argument) + " runs no gate"));
  }
  for (const char* seconds : {"0", "1.5", "abc", "-3"}) {
    const CommandResult configured =
        Configure(root_, Prefix(), "cu13", "'-DOPTIONS=TIMEOUT;" + std::string(seconds) + "'");
    EXPECT_NE(configured.status, 0) << seconds;
    EXPECT_THAT(configured.output, HasSubstr("is no whole number of seconds")) << seconds;
  }
}

TEST_F(SdkConsumer, CtestTakesPathsAsTheyAre) {
  const fs::path odd = root_ / "a b \u00e9;c.json";
  std::ofstream(odd) << "{}\n";
  std::string escaped = odd.string();
  escaped.insert(escaped.find(';'), "\\");
  CommandResult configured = Configure(root_, Prefix(), escaped, "'-DOPTIONS=OUTPUT_DIR;reports;NAME;odd'");
  ASSERT_EQ(configured.status, 0) << configured.output;
  EXPECT_THAT(CommandsOfCtest(root_),
              testing::AllOf(HasSubstr("\"--matrix\" \"" + odd.string() + "\""),
                             HasSubstr("\"--output-dir\" \"" + (root_ / "gated/reports").string() + "\"")));
  // A folder of a matrix's name is no matrix.
  fs::create_directories(root_ / "source/cu13");
  fs::copy_file(fs::path(CUDNN_CI_CONSUMERS) / "ctest/CMakeLists.txt", root_ / "source/CMakeLists.txt",
                fs::copy_options::overwrite_existing);
  configured = Configure(root_, Prefix(), "cu13", "-S " + Quoted(root_ / "source"));
  ASSERT_EQ(configured.status, 0) << configured.output;
  EXPECT_THAT(CommandsOfCtest(root_), HasSubstr("\"--matrix\" \"cu13\""));
}

TEST_F(SdkConsumer, CtestRunsTheProgramOfThePackageThatIsFoundNow) {
  ASSERT_EQ(Configure(root_, Prefix(), "cu13").status, 0);
  const fs::path other = root_ / "other";
  fs::create_directory_symlink(Prefix(), other);
  const CommandResult again =
      RunCommand(Quoted(CUDNN_CI_CMAKE) + " -DCudnnCi_DIR=" + Quoted(other / "lib/cmake/CudnnCi") + " " +
                 Quoted(root_ / "gated"));
  ASSERT_EQ(again.status, 0) << again.output;
  EXPECT_THAT(CommandsOfCtest(root_), HasSubstr(other.string() + "/bin/cudnn-ci"));
}

TEST_F(SdkConsumer, AParameterOfAnotherTypeIsRefusedInOneSentence) {
  std::ifstream original(fs::path(CUDNN_CI_CONSUMERS) / "cpp/modern.cc");
  std::string source((std::istreambuf_iterator<char>(original)), {});
  const std::string before = "std::int64_t n = 0;";
  ASSERT_NE(source.find(before), std::string::npos);
  source.replace(source.find(before), before.size(), "int n = 0;");
  std::ofstream(root_ / "narrow.cc") << source;
  const CommandResult result = RunCommand(Quoted(CUDNN_CI_CXX_COMPILER) + " -std=c++17 -fsyntax-only -I " +
                                          Quoted(Prefix() / "include") + " " + Quoted(root_ / "narrow.cc"));
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("a parameter is a bool, std::int64_t, double, std::string"));
  size_t errors = 0;
  for (size_t at = 0; (at = result.output.find("error:", at)) != std::string::npos; ++at) ++errors;
  // One sentence of ours; clang adds one about the use of the type.
  EXPECT_LE(errors, 2u) << result.output;
}

}  // namespace
}  // namespace cudnn_ci
