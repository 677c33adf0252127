// What is taken out of a worker's scratch folder: regular files in it, and nothing else.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "exec/system/attachments.h"
#include "exec/system/scratch_folder.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

class ScratchFolderTest : public testing::Test {
 protected:
  ScratchFolderTest() : folder_(std::move(*ScratchFolder::Make(parent_.path(), 7))) {}
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
  }
  Scratch parent_;
  ScratchFolder folder_;
};

TEST_F(ScratchFolderTest, ARegularFileIsTakenAndGone) {
  Put("a", "text");
  const Result<std::string> taken = folder_.Take("a", 100);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(*taken, "text");
  EXPECT_FALSE(fs::exists(folder_.path() + "/a"));
}

TEST_F(ScratchFolderTest, IsAsNewUntilSomethingIsInIt) {
  EXPECT_TRUE(folder_.AsNew());
  Put(".hidden", "");
  EXPECT_FALSE(folder_.AsNew());
  fs::remove(folder_.path() + "/.hidden");
  EXPECT_TRUE(folder_.AsNew());
}

TEST_F(ScratchFolderTest, IsNotAsNewWhereOthersMayWrite) {
  chmod(folder_.path().c_str(), 0777);
  EXPECT_FALSE(folder_.AsNew());
}

TEST_F(ScratchFolderTest, IsNotAsNewWhenAnotherHasItsName) {
  fs::rename(folder_.path(), parent_.path() + "/away");
  EXPECT_FALSE(folder_.AsNew());
  fs::create_directory(folder_.path());
  chmod(folder_.path().c_str(), 0700);
  EXPECT_FALSE(folder_.AsNew());
}

TEST_F(ScratchFolderTest, APipeIsRefusedWithoutWaitingForAWriter) {
  mkfifo((folder_.path() + "/pipe").c_str(), 0600);
  EXPECT_FALSE(folder_.Take("pipe", 100).ok());
}

TEST_F(ScratchFolderTest, NoLinkIsFollowed) {
  const std::string victim = parent_.Write("victim", "secret");
  fs::create_symlink(victim, folder_.path() + "/link");
  EXPECT_FALSE(folder_.Take("link", 100).ok());
  EXPECT_TRUE(fs::exists(victim));
}

TEST_F(ScratchFolderTest, NoPathLeavesTheFolder) {
  const std::string victim = parent_.Write("victim", "secret");
  fs::create_directory_symlink(parent_.path(), folder_.path() + "/up");
  for (const std::string& name : {std::string("../victim"), std::string("up/victim"), victim, std::string()})
    EXPECT_FALSE(folder_.Take(name, 100).ok()) << name;
  EXPECT_TRUE(fs::exists(victim));
}

TEST_F(ScratchFolderTest, TheFolderThatWasMadeIsMeantThoughAnotherTookItsName) {
  Put("a", "its own");
  const Scratch other;
  other.Write("a", "foreign");
  fs::rename(folder_.path(), parent_.path() + "/moved");
  fs::create_directory_symlink(other.path(), folder_.path());
  const Result<std::string> taken = folder_.Take("a", 100);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(*taken, "its own");
}

TEST_F(ScratchFolderTest, WhatIsTooLargeIsRefused) {
  Put("a", "12345");
  EXPECT_FALSE(folder_.Take("a", 4).ok());
}

TEST_F(ScratchFolderTest, IsRemovedWithAllThatIsInIt) {
  Put("a", "text");
  fs::create_directories(folder_.path() + "/a folder/in it");
  folder_ = ScratchFolder();
  EXPECT_EQ(parent_.Entries(), 0u);
}

TEST_F(ScratchFolderTest, AttachmentsAreNamedAfterTheirPlaceAndKeepNoPathOfTheirOwn) {
  const Scratch report;
  Attachments attachments(report.path());
  Put("a", "text");
  Attached attached{{}, "../x/y", "text/plain", "a"};
  ASSERT_TRUE(attachments.Take(&folder_, &attached));
  EXPECT_EQ(attached.path, "attachments/1-.._x_y");
  EXPECT_TRUE(fs::exists(report.path() + "/attachments/1-.._x_y"));
  Attached again = attached;
  EXPECT_FALSE(attachments.Take(&folder_, &again));
}

TEST_F(ScratchFolderTest, AnAttachmentThatSaysSoIsATable) {
  const Scratch report;
  Attachments attachments(report.path());
  Put("a", R"({"schema":"cudnn-ci/table/1","columns":["a"],"rows":[["x"]]})");
  Attached attached{{}, "t", kTableType, "a"};
  ASSERT_TRUE(attachments.Take(&folder_, &attached));
  EXPECT_EQ(attached.table.rows.size(), 1U);
  Put("b", "no table");
  Attached none{{}, "t", kTableType, "b"};
  EXPECT_FALSE(attachments.Take(&folder_, &none).ok());
}

}  // namespace
}  // namespace cudnn_ci
