// The base layer: files, folders and random numbers, with a system that refuses.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bounded_lines.h"
#include "base/file.h"
#include "base/random.h"
#include "base/remove_tree.h"
#include "scratch.h"

namespace {
int g_syncs = 0;       // calls of fsync
int g_sync_error = 0;  // what they fail with
// What happens at every rename that must not replace, before it, and what it fails with.
void (*g_before_rename)() = nullptr;
int g_rename_error = 0;
int g_random_error = 0;  // what getrandom fails with
}  // namespace

// In the place of libc's, so that what is flushed, and a disk that cannot, shows.
extern "C" int fsync(int) {
  ++g_syncs;
  errno = g_sync_error;
  return g_sync_error == 0 ? 0 : -1;
}

// NOLINTNEXTLINE(readability-identifier-naming): it is called so.
extern "C" ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  errno = g_random_error;
  return g_random_error == 0 ? syscall(SYS_getrandom, buffer, size, flags) : -1;
}

extern "C" int renameat2(int old_folder, const char* from, int new_folder, const char* to,
                         unsigned flags) noexcept {
  if (g_before_rename != nullptr) g_before_rename();
  errno = g_rename_error;
  if (g_rename_error != 0) return -1;
  return static_cast<int>(syscall(SYS_renameat2, old_folder, from, new_folder, to, flags));
}

namespace cudnn_ci {
namespace {

TEST(ReadFile, TakesRegularFilesWithinTheBound) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "12345");
  ASSERT_TRUE(ReadFile(path, 5).ok());
  EXPECT_EQ(*ReadFile(path, 5), "12345");
  EXPECT_EQ(ReadFile(path, 4).error(), path + ": is larger than the limit of 4 bytes");
  EXPECT_EQ(ReadFile(scratch.path(), 4).error(), scratch.path() + ": is a directory, not a file");
  EXPECT_EQ(ReadFile(scratch.File("none"), 4).error(), scratch.File("none") + ": No such file or directory");
  ASSERT_EQ(mkfifo(scratch.File("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(scratch.File("fifo"), 4).error(), scratch.File("fifo") + ": is a FIFO, not a file");
}

TEST(ReadFile, AReadThatFailsIsNoEndOfFile) {
  // Nothing is mapped at address 0, where this file begins.
  EXPECT_EQ(ReadFile("/proc/self/mem", 100).error(), "/proc/self/mem: Input/output error");
  EXPECT_EQ(ReadSmallFile("/proc/self/mem"), "");
}

TEST(ReadSmallFile, StopsAtTheBoundAndForgivesWhatIsNotThere) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "12345");
  EXPECT_EQ(ReadSmallFile(path), "12345");
  EXPECT_EQ(ReadSmallFile(path, 3), "123");
  EXPECT_EQ(ReadSmallFile(scratch.File("none")), "");
}

TEST(WriteAll, WaitsForAReaderOfANonBlockingPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  Fd reading(ends[0]), writing(ends[1]);
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  size_t received = 0;
  std::thread reader([&] {
    char buffer[4096];
    while (received < text.size()) {
      const ssize_t got = read(reading.get(), buffer, sizeof buffer);
      if (got > 0) received += static_cast<size_t>(got);
      if (got < 0) usleep(1000);
    }
  });
  EXPECT_TRUE(WriteAll(writing.get(), text, "the pipe").ok());
  reader.join();
  EXPECT_EQ(received, text.size());
}

TEST(WriteAll, NamesWhatCouldNotBeWritten) {
  Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  EXPECT_EQ(WriteAll(full.get(), "x", "the report").error(),
            "cannot write the report: No space left on device");
  EXPECT_TRUE(WriteAll(full.get(), "", "the report").ok());
}

TEST(AtomicFile, AppearsWhenItIsCommitted) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  {
    AtomicFile file(path);
    ASSERT_TRUE(file.Append("ne").ok());
    ASSERT_TRUE(file.Append("w").ok());
    EXPECT_EQ(*ReadFile(path, 10), "old");
    ASSERT_TRUE(file.Commit().ok());
  }
  EXPECT_EQ(*ReadFile(path, 10), "new");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(AtomicFile, LeavesNothingWhenItIsGivenUp) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  {
    AtomicFile file(path);
    ASSERT_TRUE(file.Append("new").ok());
  }
  EXPECT_EQ(*ReadFile(path, 10), "old");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(AtomicFile, TwoOfOnePathDoNotMix) {
  const Scratch scratch;
  AtomicFile first(scratch.File("a")), second(scratch.File("a"));
  ASSERT_TRUE(first.Append("first").ok());
  ASSERT_TRUE(second.Append("second").ok());
  ASSERT_TRUE(second.Commit().ok());
  ASSERT_TRUE(first.Commit().ok());
  EXPECT_EQ(*ReadFile(scratch.File("a"), 10), "first");
  EXPECT_EQ(scratch.Entries(), 1u);
}

bool IsOld(const std::string& path) { return ReadSmallFile(path).substr(0, 3) == "old"; }

TEST(AtomicFile, ReplacesWhatItMayAndNothingElse) {
  for (const int error : {0, EINVAL}) {  // on a file system that knows renameat2, and on another
    g_rename_error = error;
    const Scratch scratch;
    const std::string ours = scratch.Write("ours", "old one"), theirs = scratch.Write("theirs", "somebody's");
    std::filesystem::create_symlink("ours", scratch.File("link"));
    std::filesystem::create_directory(scratch.File("folder"));
    EXPECT_TRUE(WriteFileAtomically(scratch.File("new"), "new", false, IsOld).ok());
    EXPECT_EQ(*ReadFile(scratch.File("new"), 100), "new");
    EXPECT_TRUE(WriteFileAtomically(ours, "new", false, IsOld).ok());
    EXPECT_EQ(*ReadFile(ours, 100), "new");
    for (const char* name : {"theirs", "link", "folder"})
      EXPECT_EQ(WriteFileAtomically(scratch.File(name), "new", false, IsOld).error(),
                "cannot replace " + scratch.File(name) + ": it is not a report of cudnn-ci");
    EXPECT_EQ(*ReadFile(theirs, 100), "somebody's");
    EXPECT_TRUE(std::filesystem::is_symlink(scratch.File("link")));
    EXPECT_TRUE(std::filesystem::is_directory(scratch.File("folder")));
    EXPECT_EQ(scratch.Entries(), 5u);
  }
  g_rename_error = 0;
}

std::string g_appears;  // the path of a file that somebody makes in the last moment

TEST(AtomicFile, ReplacesNothingThatAppearsInTheLastMoment) {
  const Scratch scratch;
  for (const int error : {0, EINVAL}) {
    g_rename_error = error;
    g_appears = scratch.File("a" + std::to_string(error));
    g_before_rename = [] {
      if (access(g_appears.c_str(), F_OK) != 0) std::ofstream(g_appears) << "somebody's";
    };
    EXPECT_FALSE(WriteFileAtomically(g_appears, "new", false, IsOld).ok()) << error;
    EXPECT_EQ(*ReadFile(g_appears, 100), "somebody's") << error;
  }
  g_before_rename = nullptr;
  g_rename_error = 0;
  EXPECT_EQ(scratch.Entries(), 2u);
}

TEST(AtomicFile, AnErrorStays) {
  AtomicFile file("/no/such/folder/a");
  const std::string error = "cannot write /no/such/folder/a: No such file or directory";
  EXPECT_EQ(file.Append("x").error(), error);
  EXPECT_EQ(file.Commit().error(), error);
}

TEST(WriteFileAtomically, DoesNotWriteIntoTheFileThatIsThere) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  ASSERT_EQ(link(path.c_str(), scratch.File("reader").c_str()), 0);  // as a reader that has it open
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(*ReadFile(path, 100), "new");
  EXPECT_EQ(*ReadFile(scratch.File("reader"), 100), "old");
}

TEST(WriteFileAtomically, ADurableFileReachesTheDiskWithItsName) {
  const Scratch scratch;
  g_syncs = 0;
  ASSERT_TRUE(WriteFileAtomically(scratch.File("a"), "x").ok());
  EXPECT_EQ(g_syncs, 0);
  ASSERT_TRUE(WriteFileAtomically(scratch.File("a"), "y", true).ok());
  EXPECT_EQ(g_syncs, 2) << "the file and its directory";
}

TEST(WriteFileAtomically, ADiskThatCannotKeepTheFileIsAnError) {
  const Scratch scratch;
  scratch.Write("a", "old");
  g_sync_error = EIO;
  const Status status = WriteFileAtomically(scratch.File("a"), "new", true);
  g_sync_error = 0;
  EXPECT_EQ(status.error(), "cannot write " + scratch.File("a") + ": Input/output error");
  EXPECT_EQ(*ReadFile(scratch.File("a"), 100), "old");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(WriteFileAtomically, ReplacesAndLeavesNothingElse) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "newer", true).ok());
  EXPECT_EQ(*ReadFile(path, 100), "newer");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(WriteFileAtomically, AFailureLeavesNothingBehind) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.File("target"));
  scratch.Write("target/inside", "x");  // a file cannot take the place of a folder
  const Status status = WriteFileAtomically(scratch.File("target"), "new");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().rfind("cannot write " + scratch.File("target") + ": ", 0), 0u) << status.error();
  EXPECT_EQ(scratch.Entries(), 1u);
  EXPECT_EQ(*ReadFile(scratch.File("target/inside"), 10), "x");
  EXPECT_FALSE(WriteFileAtomically(scratch.File("no/such/folder"), "new").ok());
}

TEST(RemoveTree, RemovesWhateverItsDepth) {
  const Scratch scratch;
  const std::string root = scratch.File("root");
  std::filesystem::create_directories(root + "/a/b");
  std::filesystem::create_directories(root + "/cudnn-ci-1/full");  // as it calls what it moves
  std::ofstream(root + "/a/b/file") << "x";
  std::ofstream(root + "/a/locked") << "x";
  // Deeper than a path can name, than descriptors and stack allow.
  Fd at(open((root + "/a/b").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 1'100; ++i) {
    ASSERT_EQ(mkdirat(at.get(), "deeper", 0700), 0);
    at = Fd(openat(at.get(), "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid());
  }
  at.Close();
  scratch.Write("outside", "kept");
  std::filesystem::create_directory(scratch.File("elsewhere"));
  scratch.Write("elsewhere/file", "kept");
  std::filesystem::create_directory_symlink(scratch.File("elsewhere"), root + "/link");
  EXPECT_TRUE(RemoveTree(root, 60));
  EXPECT_FALSE(std::filesystem::exists(root));
  EXPECT_EQ(*ReadFile(scratch.File("elsewhere/file"), 10), "kept");
  EXPECT_TRUE(RemoveTree(root, 60)) << "what is not there is removed";
  EXPECT_FALSE(RemoveTree(scratch.File("outside"), 60)) << "a file is no folder";
  EXPECT_EQ(*ReadFile(scratch.File("outside"), 10), "kept");
}

TEST(RemoveTree, TakesFoldersWhoseModesForbidIt) {
  const Scratch scratch;
  chmod(scratch.path().c_str(), 0777);
  const pid_t pid = fork();
  if (pid == 0) {  // modes mean nothing to root
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    const std::string root = scratch.File("root");
    std::filesystem::create_directories(root + "/a/b/c/d");
    std::ofstream(root + "/a/b/c/file") << "x";
    for (const char* name : {"/a/b/c/d", "/a/b/c", "/a/b", "/a", ""}) chmod((root + name).c_str(), 0);
    _exit(RemoveTree(root, 60) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(scratch.Entries(), 0u);
}

TEST(RemoveTree, GivesUpWhenItsTimeIsUp) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch.File("root/a/b/c"));
  EXPECT_FALSE(RemoveTree(scratch.File("root"), 0));
  EXPECT_TRUE(std::filesystem::exists(scratch.File("root/a/b/c")));
}

TEST(RemoveTree, TakesAFolderWithMoreFilesThanItHoldsInMemory) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch.File("root/many"));
  for (int i = 0; i < 2500; ++i) scratch.Write("root/many/" + std::to_string(i), "");
  EXPECT_TRUE(RemoveTree(scratch.File("root"), 60));
}

TEST(RandomBits, AreTheKernelsAndNeverTheSame) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(*RandomBits());
  EXPECT_EQ(seen.size(), 1000u);
  // In every bit: a clock or an id leaves the upper ones alone.
  uint64_t ones = 0, zeros = 0;
  for (const uint64_t bits : seen) ones |= bits, zeros |= ~bits;
  EXPECT_EQ(ones, ~uint64_t{0});
  EXPECT_EQ(zeros, ~uint64_t{0});
}

TEST(RandomBits, ThatTheKernelDoesNotGiveAreAnError) {
  g_random_error = ENOSYS;
  EXPECT_EQ(RandomBits().error(), "the kernel gives no random numbers: getrandom: Function not implemented");
  g_random_error = 0;
}

TEST(MakeDirectories, MakesParentsAndSaysWhyNot) {
  const Scratch scratch;
  ASSERT_TRUE(MakeDirectories(scratch.File("a/b/c")).ok());
  ASSERT_TRUE(MakeDirectories(scratch.File("a/b/c")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(scratch.File("a/b/c")));
  scratch.Write("file", "");
  EXPECT_FALSE(MakeDirectories(scratch.File("file")).ok());
}

TEST(ExecutablePath, IsThatOfThisTest) {
  EXPECT_EQ(ExecutablePath(), std::filesystem::canonical("/proc/self/exe").string());
}

// ---- lines of a stranger's file ----

TEST(BoundedLines, OfTooManyBytesAreNotHeld) {
  const Scratch scratch;
  const std::string file = scratch.Write("lines", "one\n" + std::string(200000, '[') + "\ntwo\n\nthree");
  std::vector<std::string> lines;
  const auto take = [&](std::string_view line) {
    lines.emplace_back(line);
    return lines.size() < 4;
  };
  EXPECT_EQ(ReadBoundedLines(file, 1 << 20, 100, take), 200015u);
  EXPECT_EQ(lines, std::vector<std::string>({"one", "two", "", "three"}));
  lines.clear();
  EXPECT_EQ(ReadBoundedLines(file, 70000, 100, take), 70000u) << "no more is read";
  EXPECT_EQ(lines, std::vector<std::string>({"one"}));
  lines.clear();
  EXPECT_EQ(ReadBoundedLines(scratch.path(), 1 << 20, 100, take), 0u) << "a folder";
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace cudnn_ci
