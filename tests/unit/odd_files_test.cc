// Anything may stand in the place of a file of the image, and nothing of it blocks who looks. A look that
// waits is ended by the alarm, and the test with it.
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "base/regular_file.h"
#include "golden_messages.h"
#include "image/contents/resolve.h"
#include "image/elf/elf_file.h"
#include "image/elf/elf_interpreter.h"
#include "image/loader/loader_files.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr unsigned kPatienceS = 30;

class OddFilesTest : public SubjectTree {
 protected:
  OddFilesTest() { alarm(kPatienceS); }
  ~OddFilesTest() override { alarm(0); }

  std::string Fifo(const std::string& path) const {
    Folder(std::filesystem::path(path).parent_path().string());
    EXPECT_EQ(mkfifo(At(path).c_str(), 0666), 0);
    return At(path);
  }
  std::string Socket(const std::string& path) const {
    const Fd fd(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un name{AF_UNIX, {}};
    const std::string at = At(path);
    at.copy(name.sun_path, sizeof name.sun_path - 1);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
    return at;
  }
  std::string LinkTo(const std::string& target, const std::string& path) const {
    Link(target, path);
    return At(path);
  }
  static ResolvedSubject Resolve(const std::string& spec) { return ResolveSubject({"mine", spec}, {}, {}); }
};

TEST_F(OddFilesTest, WhatIsNoFileIsNamedAndNotOpened) {
  const char* const device = "a character device";
  const std::pair<std::string, const char*> odd[] = {
      {Fifo("fifo"), "a FIFO"},
      {LinkTo("fifo", "link"), "a FIFO"},
      {Socket("socket"), "a socket"},
      {LinkTo("/dev/zero", "zero"), device},
      {LinkTo("/dev/tty", "tty"), device},
      {root_, "a directory"},
  };
  for (const auto& [path, kind] : odd) {
    std::string said;
    EXPECT_FALSE(OpenRegularFile(path, &said).valid()) << path;
    EXPECT_EQ(said, kind);
    const ElfFile elf(path);
    EXPECT_EQ(elf.kind(), ElfFile::Kind::kUnreadable) << path;
    EXPECT_EQ(elf.error(), path + " is not a regular file: it is " + kind);
    EXPECT_THAT(ReadFile(path, 4).error(), HasSubstr(kind));
    EXPECT_EQ(ReadSmallFile(path, 4), "") << path;
    EXPECT_EQ(MissingInterpreter(path), "") << path;
    EXPECT_EQ(FirstTaken({path}), "");
  }
}

TEST_F(OddFilesTest, WhoCannotBeTracedReadsFilesAllTheSame) {
  const std::string file = File("file", "text");
  ASSERT_EQ(chmod(At("").c_str(), 0755), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatienceS);
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    if (prctl(PR_SET_DUMPABLE, 0) != 0) _exit(3);
    _exit(ReadSmallFile(file) == "text" ? 0 : 4);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(OddFilesTest, AFileIsReadUpToTheBoundThoughItGrows) {
  const std::string file = File("grows", "12345");
  const Fd open = OpenRegularFile(file);
  std::ofstream(file, std::ios::app) << "67890";
  EXPECT_EQ(ReadSmallFile(file, 7), "1234567");
  GoldenMessages golden("image_files.txt", {{file, "FILE"}});
  EXPECT_THAT(golden.Row("10 bytes, of at most 7", ReadFile(file, 7).error()), StartsWith(file));
  // 8 TiB without a block on the disk.
  ASSERT_EQ(truncate(file.c_str(), off_t{8} << 40), 0);
  EXPECT_THAT(golden.Row("8 TiB", ReadFile(file, 7).error()), StartsWith(file));
  EXPECT_EQ(ElfFile(file).kind(), ElfFile::Kind::kNotElf);
}

TEST_F(OddFilesTest, ASubjectWithAFifoInAFilesPlaceIsResolved) {
  Python("opt/py");
  Wheel(Site("opt/py"));
  Fifo(Site("opt/py") + "/torch/lib/libtorch_cuda.so");
  const ResolvedSubject python = Resolve("python:" + At("opt/py/bin/python3"));
  EXPECT_EQ(python.problem, "");
  EXPECT_THAT(Inside(python.subject.folders), ::testing::Contains(Site("opt/py") + "/nvidia/cudnn/lib"));
  GoldenMessages golden("image_files.txt", {{At(""), "FOLDER/"}});
  EXPECT_THAT(golden.Row("a FIFO", Resolve("program:" + Fifo("opt/run")).problem), HasSubstr("FIFO"));
  EXPECT_THAT(golden.Row("a socket", Resolve("program:" + Socket("opt/socket")).problem),
              HasSubstr("socket"));
  Fifo("opt/lib/libcudnn.so.9");
  EXPECT_EQ(Resolve("path:" + At("opt/lib")).problem, "");
  EXPECT_THAT(Resolve("path:" + At("opt/run")).problem, HasSubstr(strerror(ENOTDIR)));
}

TEST_F(OddFilesTest, AnInterpretersOwnFilesMayBeOdd) {
  Python("opt/py");
  Venv("opt/venv", "opt/py");
  std::filesystem::remove(At("opt/venv/pyvenv.cfg"));
  Fifo("opt/venv/pyvenv.cfg");
  Fifo(Site("opt/py") + "/more.pth");
  Folder(Site("opt/py") + "/torch-2.0.dist-info");
  Fifo(Site("opt/py") + "/torch-2.0.dist-info/RECORD");
  Fifo(Site("opt/py") + "/torch-2.0.dist-info/METADATA");
  Resolve("python:" + At("opt/venv/bin/python"));
  Fifo("opt/bin/python3");
  Resolve("python:" + At("opt/bin/python3"));
}

}  // namespace
}  // namespace cudnn_ci
