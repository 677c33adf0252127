// The journal as a file: what others do to it while it is written is noticed, and nothing in its place can
// block.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/file.h"
#include "base/text.h"
#include "report/record/journal.h"
#include "run_builder.h"
#include "scratch.h"

namespace {
int fsync_error = 0;  // what fsync fails with; 0: it does its work
}  // namespace

// In place of the C library's.
extern "C" int fsync(int fd) {
  if (fsync_error == 0) return static_cast<int>(syscall(SYS_fsync, fd));
  errno = fsync_error;
  return -1;
}

namespace cudnn_ci {
namespace {

class JournalWriterTest : public testing::Test {
 protected:
  // Plays a red run into a journal, lets `meddle` do to the file what a check might, before the last line or
  // `at_the_end`, and finishes.
  Status Play(const std::function<void(const std::string& path)>& meddle, bool at_the_end = false) {
    auto writer = JournalWriter::Open(path_);
    EXPECT_TRUE(writer.ok()) << writer.error();
    RunBuilder b;
    b.Fail("conv.a", Wrong("wrong-value", Blame::kImage, "3 of 4 differ"));
    const std::vector<Event> events = b.Events();
    for (const Event& event : events) {
      if (&event == &events.back() && meddle && !at_the_end) meddle(path_);
      EXPECT_TRUE((*writer)->OnEvent(event, {}).ok());
    }
    if (meddle && at_the_end) meddle(path_);
    return (*writer)->Finish({});
  }
  Scratch scratch_;
  const std::string path_ = scratch_.File("journal.jsonl");
};

TEST_F(JournalWriterTest, WhatIsWrittenFoldsToTheSameVerdict) {
  ASSERT_TRUE(Play({}).ok());
  Result<std::vector<Event>> read = ReadJournal(path_);
  ASSERT_TRUE(read.ok()) << read.error();
  Fold fold;
  for (const Event& event : *read) fold.Apply(event);
  EXPECT_EQ(Judge(fold.summary()).exit_code, 1);
  EXPECT_EQ(Judge(fold.summary()).root_cause->finding.detail, "3 of 4 differ");
}

TEST_F(JournalWriterTest, AFileThatIsThereAlreadyIsNotTouched) {
  scratch_.Write("journal.jsonl", "somebody's");
  EXPECT_FALSE(JournalWriter::Open(path_).ok());
  EXPECT_EQ(ReadSmallFile(path_), "somebody's");
  unlink(path_.c_str());
  scratch_.Write("elsewhere", "");
  std::filesystem::create_symlink(scratch_.File("elsewhere"), path_);
  EXPECT_FALSE(JournalWriter::Open(path_).ok()) << "through a link";
}

TEST_F(JournalWriterTest, WhatACheckDoesToItIsNoticed) {
  const struct {
    const char* words;
    std::function<void(const std::string&)> meddle;
  } rows[] = {
      {"was removed or moved", [](const std::string& path) { unlink(path.c_str()); }},
      {"was removed or moved", [](const std::string& path) { rename(path.c_str(), (path + ".1").c_str()); }},
      {"was replaced",
       [](const std::string& path) {
         std::filesystem::copy_file(path, path + ".copy");
         rename((path + ".copy").c_str(), path.c_str());
       }},
      {"was changed", [](const std::string& path) { std::filesystem::resize_file(path, 100); }},
      {"was changed", [](const std::string& path) { std::ofstream(path, std::ios::app) << "{}\n"; }},
      {"was changed",
       [](const std::string& path) {
         std::fstream file(path, std::ios::in | std::ios::out);
         file.seekp(400);
         file << "x";
       }},
  };
  for (const auto& row : rows) {
    const Status status = Play(row.meddle);
    ASSERT_FALSE(status.ok()) << row.words;
    EXPECT_NE(status.error().find(row.words), std::string::npos) << status.error();
    unlink(path_.c_str());
  }
}

TEST_F(JournalWriterTest, WhatIsAppendedBehindTheLastLineIsNoticed) {
  // No whole line: the chain of lines says nothing of it.
  const Status status =
      Play([](const std::string& path) { std::ofstream(path, std::ios::app) << "{"; }, true);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("was changed"), std::string::npos) << status.error();
}

// The same red run with another number of wrong elements: same length, every line follows the one before.
void WriteAnew(const std::string& path) {
  std::string text = ReadSmallFile(path, 1 << 20), chain, forged;
  for (const std::string& line : Split(text, '\n')) {
    if (line.empty()) continue;
    std::string object = line.substr(0, line.rfind(",\"h\"")) + "}";
    if (const size_t at = object.find("3 of 4"); at != std::string::npos) object.replace(at, 6, "0 of 4");
    forged += SealLine(object, &chain);
  }
  ASSERT_EQ(forged.size(), text.size());
  ASSERT_NE(forged, text);
  std::ofstream(path, std::ios::in | std::ios::out) << forged;
}

// Only the writer knows that these are not its words.
TEST_F(JournalWriterTest, AJournalWrittenAnewWithARightChainIsNoticed) {
  for (const bool at_the_end : {false, true}) {
    const Status status = Play(WriteAnew, at_the_end);
    ASSERT_FALSE(status.ok()) << at_the_end;
    EXPECT_NE(status.error().find("was changed"), std::string::npos) << status.error();
    unlink(path_.c_str());
  }
}

TEST_F(JournalWriterTest, WithdrawnItIsTheRecordOfARunThatDidNotFinish) {
  auto writer = JournalWriter::Open(path_);
  ASSERT_TRUE(writer.ok()) << writer.error();
  RunBuilder b;
  b.Pass("conv.a");
  for (const Event& event : b.Events()) ASSERT_TRUE((*writer)->OnEvent(event, {}).ok());
  ASSERT_TRUE((*writer)->Finish({}).ok());
  (*writer)->Withdraw();
  Result<std::vector<Event>> read = ReadJournal(path_);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->size(), b.Events().size() - 1);
}

TEST_F(JournalWriterTest, AFileLimitAndAMissingFolderAreErrorsWithTheReason) {
  auto writer = JournalWriter::Open(path_);
  ASSERT_TRUE(writer.ok()) << writer.error();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small{20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = (*writer)->OnEvent({1, 0, PlanEnd{}}, {});
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find(strerror(EFBIG)), std::string::npos) << status.error();
  auto missing = JournalWriter::Open("/nowhere/at/all/journal.jsonl");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find(strerror(ENOENT)), std::string::npos);
}

TEST_F(JournalWriterTest, WhatDoesNotReachTheDiskIsAnError) {
  fsync_error = EIO;
  const Status status = Play({});
  fsync_error = 0;
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find(strerror(EIO)), std::string::npos) << status.error();
  unlink(path_.c_str());
  fsync_error = EINVAL;  // what lies there cannot be flushed: a pipe, some network file systems
  EXPECT_TRUE(Play({}).ok());
  fsync_error = 0;
}

TEST_F(JournalWriterTest, OnlyARegularFileIsRead) {
  EXPECT_FALSE(ReadJournal("/nowhere/at/all").ok());
  EXPECT_FALSE(ReadJournal("/tmp").ok());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const Result<std::vector<Event>> read = ReadJournal(path_);  // nobody will ever write into it
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("regular file"), std::string::npos) << read.error();
}

}  // namespace
}  // namespace cudnn_ci
