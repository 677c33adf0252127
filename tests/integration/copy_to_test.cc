// copy-to: a copy of the installed tree that runs, made without shell or cp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "../install/command.h"
#include "../unit/scratch.h"
#include "golden_messages.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CopyTo : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"bin", "libexec", "plugins/sub", "matrices", "knowledge/findings",
                               "knowledge/adapters", "share/doc/cudnn-ci", "share/doc/other", "include"})
      fs::create_directories(tree_ / folder);
    fs::copy(CUDNN_CI_TREE "/bin/cudnn-ci", tree_ / "bin/cudnn-ci");
    fs::copy(CUDNN_CI_TREE "/libexec/cudnn-ci-worker", tree_ / "libexec/cudnn-ci-worker");
    fs::copy(CUDNN_CI_FIXTURES "/fixture/fixture.cci.so", tree_ / "plugins/fixture.cci.so");
    Write("bin/other", "not ours");
    Write("plugins/sub/deep.cci.so", "deep");
    // Modes that must not come along: a plugin that others may write is refused.
    fs::permissions(tree_ / "plugins/sub/deep.cci.so", fs::perms(0666));
    fs::permissions(tree_ / "bin/cudnn-ci", fs::perms(0775));
    Write("share/doc/cudnn-ci/LICENSE", "notice");
    Write("knowledge/findings/one.json", "{}");
    Write(
        "knowledge/adapters/one.json",
        R"({"schema": "cudnn-ci/adapters/1", "as_of": "2026-11-20", "adapters": [], "implementations": [], "faults": []})");
    Write("share/doc/other/LICENSE", "not ours");
    Write("include/header.h", "the SDK stays");
    Write("real.json",
          R"({"schema": "cudnn-ci/matrix/1", "name": "one", "checks": [{"check": "fixture.pass"}]})");
    fs::create_symlink(tree_ / "real.json", tree_ / "matrices/one.json");
    fs::copy(CUDNN_CI_TREE "/knowledge", tree_ / "knowledge");
  }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(tree_ / name) << text; }

  // The message, which is the only one of its test, compared with the golden file.
  std::string Golden(const std::string& given, const std::string& message) const {
    return GoldenMessages("gate.txt", {{scratch_.path(), "FOLDER"}}).Row(given, message);
  }

  // As an init container has it: nothing on PATH, whatever umask.
  CommandResult Copy(const fs::path& target, const std::string& umask = "000") const {
    return RunCommand("umask " + umask + "; PATH=/nonexistent; exec " + Quoted(tree_ / "bin/cudnn-ci") +
                      " copy-to " + Quoted(target));
  }

  // Path and mode of everything below a folder, links as they are.
  static std::map<std::string, std::string> Listing(const fs::path& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      struct stat st {};
      lstat(entry.path().c_str(), &st);
      char mode[16];
      snprintf(mode, sizeof mode, "%06o", static_cast<unsigned>(st.st_mode));
      out[entry.path().lexically_relative(folder)] = mode;
    }
    return out;
  }

  Scratch scratch_;
  const fs::path tree_ = scratch_.path() + "/tree";
  const fs::path target_ = scratch_.path() + "/target";
};

const std::map<std::string, std::string> kWhole = {
    {"bin", "040755"},
    {"bin/cudnn-ci", "100755"},
    {"knowledge", "040755"},
    {"knowledge/adapters", "040755"},
    {"knowledge/adapters/one.json", "100644"},
    {"knowledge/compatibility.json", "100644"},
    {"knowledge/compilers.json", "100644"},
    {"knowledge/findings", "040755"},
    {"knowledge/findings/one.json", "100644"},
    {"knowledge/imports.json", "100644"},
    {"knowledge/packages.json", "100644"},
    {"libexec", "040755"},
    {"libexec/cudnn-ci-worker", "100755"},
    {"matrices", "040755"},
    {"matrices/one.json", "100644"},
    {"plugins", "040755"},
    {"plugins/fixture.cci.so", ""},
    {"plugins/sub", "040755"},
    {"plugins/sub/deep.cci.so", "100644"},
    {"share", "040755"},
    {"share/doc", "040755"},
    {"share/doc/cudnn-ci", "040755"},
    {"share/doc/cudnn-ci/LICENSE", "100644"},
};

// The listing, with the fixture's mode (the linker's choice) checked and taken out.
std::map<std::string, std::string> WithoutPluginMode(std::map<std::string, std::string> listing) {
  std::string& mode = listing["plugins/fixture.cci.so"];
  if (mode == "100644" || mode == "100755") mode.clear();
  return listing;
}

TEST_F(CopyTo, CopiesWhatIsOursWithModesOfItsOwn) {
  for (const char* umask : {"000", "077"}) {
    const fs::path target = target_.string() + umask;
    const CommandResult result = Copy(target, umask);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(WithoutPluginMode(Listing(target)), kWhole) << umask;
  }
}

TEST_F(CopyTo, TheCopyRuns) {
  ASSERT_EQ(Copy(target_ / "deep/er").status, 0);
  fs::remove_all(tree_);
  const CommandResult run = RunCommand(Quoted(target_ / "deep/er/bin/cudnn-ci") + " --matrix " +
                                       Quoted(target_ / "deep/er/matrices/one.json") + " --output-dir " +
                                       Quoted(scratch_.path() + "/report"));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("fixture.pass"));
}

TEST_F(CopyTo, ReplacesAnEarlierCopyWhole) {
  ASSERT_EQ(Copy(target_).status, 0);
  fs::remove(tree_ / "plugins/sub/deep.cci.so");
  Write("matrices/two.json", "{}");
  std::ofstream(target_ / "mine.txt") << "stays";
  ASSERT_EQ(Copy(target_).status, 0);
  const auto listing = Listing(target_);
  EXPECT_EQ(listing.count("plugins/sub/deep.cci.so"), 0u);
  EXPECT_EQ(listing.count("matrices/two.json"), 1u);
  EXPECT_EQ(listing.count("mine.txt"), 1u);
  EXPECT_EQ(listing.size(), kWhole.size() + 1 - 2 + 1) << "nothing but the copy: no staging folder";
}

TEST_F(CopyTo, TouchesNothingThatIsNotOurs) {
  fs::create_directories(target_ / "plugins");
  std::ofstream(target_ / "plugins/theirs.so") << "theirs";
  const auto before = Listing(target_);
  const CommandResult result = Copy(target_);
  EXPECT_EQ(WEXITSTATUS(result.status), 2);
  EXPECT_THAT(Golden("plugins", result.output), HasSubstr((target_ / "plugins").string() + " "));
  EXPECT_EQ(Listing(target_), before);
}

TEST_F(CopyTo, RefusesItsOwnTree) {
  GoldenMessages golden("gate.txt", {{scratch_.path(), "FOLDER"}});
  for (const fs::path& target : {tree_, tree_ / "plugins", tree_ / "new"}) {
    const CommandResult result = Copy(target);
    EXPECT_EQ(WEXITSTATUS(result.status), 2) << target;
    EXPECT_THAT(golden.Row(target.filename(), result.output), HasSubstr(target.string() + " "));
  }
}

TEST_F(CopyTo, NamesWhatIsMissing) {
  fs::remove(tree_ / "libexec/cudnn-ci-worker");
  const CommandResult result = Copy(target_);
  EXPECT_EQ(WEXITSTATUS(result.status), 2);
  EXPECT_THAT(Golden("no worker", result.output), HasSubstr("libexec/cudnn-ci-worker "));
  EXPECT_FALSE(fs::exists(target_));
}

TEST_F(CopyTo, LeavesNothingBehindWhenThereIsNoRoom) {
  const CommandResult full = RunCommand("ulimit -f 1; exec " + Quoted(tree_ / "bin/cudnn-ci") + " copy-to " +
                                        Quoted(target_ / "small"));
  EXPECT_EQ(WEXITSTATUS(full.status), 2) << full.output;
  EXPECT_THAT(full.output, HasSubstr((target_ / "small").string() + "/"));
  EXPECT_TRUE(fs::is_empty(target_ / "small"));
}

}  // namespace
}  // namespace cudnn_ci
