// Names in the loader's folders that are no files.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "image/contents/blocking_library.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;

class BlockingLibraryTest : public SubjectTree {
 protected:
  void Fifo(const std::string& path) {
    File(path + ".d");  // its folder
    ASSERT_EQ(mkfifo(At(path).c_str(), 0666), 0);
  }
  std::string DetailOf(const std::string& library_path) {
    const std::optional<BlockingLibrary> found = FindBlockingLibrary({library_path});
    return found ? found->path + " is " + found->kind + " by " + found->by : "";
  }
};

TEST_F(BlockingLibraryTest, FifoIsFound) {
  File("empty/readme");
  Fifo("pipes/libm.so.6");
  EXPECT_EQ(DetailOf(At("empty") + ":" + At("pipes")),
            At("pipes/libm.so.6") + " is a FIFO by LD_LIBRARY_PATH");
}

TEST_F(BlockingLibraryTest, LinkToAFifoIsFound) {
  Fifo("elsewhere/pipe");
  File("lib/readme");
  Link("../elsewhere/pipe", "lib/libcuda.so.1");
  EXPECT_THAT(DetailOf(At("lib")), HasSubstr("lib/libcuda.so.1 is a FIFO"));
}

TEST_F(BlockingLibraryTest, FifoBehindAFileOfItsNameIsNeverOpened) {
  File("first/libm.so.6");
  Fifo("second/libm.so.6");
  EXPECT_EQ(DetailOf(At("first") + ":" + At("second")), "");
  EXPECT_NE(DetailOf(At("second") + ":" + At("first")), "");
}

TEST_F(BlockingLibraryTest, WhatNoLoaderLooksForIsLeftAlone) {
  Fifo("lib/agent.pipe");
  EXPECT_EQ(DetailOf(At("lib")), "");
  EXPECT_EQ(DetailOf(""), "") << "this machine's own folders";
  EXPECT_EQ(DetailOf("/nonexistent"), "");
}

TEST_F(BlockingLibraryTest, DeviceThatMayWaitIsFoundAndNullIsNot) {
  File("lib/readme");
  if (mknod(At("lib/libnull.so").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0)
    GTEST_SKIP() << "devices cannot be made here";
  EXPECT_EQ(DetailOf(At("lib")), "") << "an empty file to the loader";
  ASSERT_EQ(mknod(At("lib/libtty.so").c_str(), S_IFCHR | 0600, makedev(5, 0)), 0);
  EXPECT_THAT(DetailOf(At("lib")), HasSubstr(At("lib/libtty.so") + " "));
}

}  // namespace
}  // namespace cudnn_ci
