// The search for copies of cuDNN, and what lies beside one, on made-up folders.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cudnn/metadata.h"
#include "image/contents/cudnn_copies.h"

namespace {
// Every look at a clock finds it so much later than it is, times the number of the look: a disk that hangs.
time_t g_seconds_a_look = 0;
}  // namespace

// In the place of libc's.
extern "C" int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
  static time_t looks = 0;
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (g_seconds_a_look > 0) time->tv_sec += ++looks * g_seconds_a_look;
  return result;
}

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class CopiesTest : public ::testing::Test {
 protected:
  CopiesTest() {
    std::string pattern = ::testing::TempDir() + "cudnn-ci-copies-XXXXXX";
    root_ = fs::canonical(mkdtemp(pattern.data())).string();
  }
  ~CopiesTest() override { fs::remove_all(root_); }
  std::string Write(const std::string& path, const std::string& text = "") const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
    return root_ + "/" + path;
  }
  // "DIRECTORY ORIGIN" of each copy, without the root.
  std::vector<std::string> Found(const std::vector<std::string>& folders = {}) const {
    std::vector<std::string> found;
    for (const CudnnCopy& copy : FindCudnnCopiesIn({root_}, folders).copies)
      found.push_back(copy.directory.substr(root_.size()) + " " + std::to_string(copy.major) + " " +
                      copy.origin);
    return found;
  }
  std::string root_;
};

TEST_F(CopiesTest, FindsEachKindOfInstallByItsPlace) {
  const std::string site = "lib/python3.11/site-packages/";
  Write(site + "nvidia/cudnn/lib/libcudnn.so.9");
  Write(site + "nvidia/cudnn_jit/lib/libcudnn.so.9");
  Write(site + "nvidia_cudnn_cu13-9.19.0.56.dist-info/METADATA");
  Write(site + "nvidia_cudnn_jit_cu13-9.27.0.42.dist-info/METADATA");
  Write(site + "torch/lib/libcudnn.so.8");
  Write("lib/python3/dist-packages/nvidia/cudnn/lib/libcudnn.so.9");
  Write("cuda-12.8/lib64/libcudnn.so.9");
  Write("lib/libcudnn.so.8");
  const std::string path = "/" + site;
  EXPECT_THAT(Found(), ::testing::UnorderedElementsAre(
                           path + "nvidia/cudnn/lib 9 Python package nvidia-cudnn-cu13 9.19.0.56",
                           path + "nvidia/cudnn_jit/lib 9 Python package nvidia-cudnn-jit-cu13 9.27.0.42",
                           path + "torch/lib 8 Python package torch",
                           "/lib/python3/dist-packages/nvidia/cudnn/lib 9 Python package",
                           "/cuda-12.8/lib64 9 toolkit", "/lib 8 system"));
}

TEST_F(CopiesTest, FindsCondaEnvironmentsBelowTheirPrefix) {
  Write("conda-meta/history");
  Write("lib/libcudnn.so.9");
  Write("envs/train/conda-meta/history");
  Write("envs/train/lib/libcudnn.so.8");
  EXPECT_THAT(Found(), ::testing::UnorderedElementsAre("/lib 9 conda environment",
                                                       "/envs/train/lib 8 conda environment"));
}

TEST_F(CopiesTest, OneFolderByTwoWaysIsOneCopy) {
  Write("cuda-13.0/lib64/libcudnn.so.9");
  fs::create_directory_symlink("cuda-13.0", root_ + "/cuda");
  fs::create_directory_symlink("lib64", root_ + "/cuda-13.0/lib");
  EXPECT_THAT(Found({root_ + "/cuda/lib"}), ::testing::ElementsAre("/cuda-13.0/lib64 9 toolkit"));
  EXPECT_THAT(Found(), ::testing::SizeIs(1));
}

TEST_F(CopiesTest, FolderOfTheLoaderIsTakenWhereverItLies) {
  const std::string file = Write("somewhere/else/libcudnn.so.9");
  EXPECT_THAT(Found({fs::path(file).parent_path().string()}),
              ::testing::ElementsAre("/somewhere/else 9 loader path"));
}

TEST_F(CopiesTest, GivesUpInAFolderOfTooManyEntries) {
  fs::create_directories(root_ + "/lib");
  EXPECT_TRUE(FindCudnnCopiesIn({root_}, {}).complete);
  for (int i = 0; i < 50001; ++i) fs::create_symlink("x", root_ + "/lib/f" + std::to_string(i));
  EXPECT_FALSE(FindCudnnCopiesIn({root_}, {}).complete);
}

TEST_F(CopiesTest, FindsAsMuchOnASlowDisk) {
  Write("lib/python3.11/site-packages/torch/lib/libcudnn.so.8");
  g_seconds_a_look = 10;
  const CudnnCopies found = FindCudnnCopiesIn({root_}, {});
  g_seconds_a_look = 0;
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(found.copies.size(), 1U);
}

TEST_F(CopiesTest, MetadataThatAgreesSaysNothing) {
  const std::string library = Write("site/nvidia/cudnn/lib/libcudnn.so.9");
  const std::string folder = fs::path(library).parent_path().string();
  EXPECT_EQ(PackageDifference(folder, "9.19.0"), "");
  Write("site/nvidia_cudnn_cu13-9.19.0.56.dist-info/METADATA");
  Write("site/nvidia_cudnn_frontend-1.9.0.dist-info/METADATA");
  EXPECT_EQ(PackageDifference(folder, "9.19.0"), "");
  EXPECT_THAT(PackageDifference(folder, "9.19.1"), HasSubstr("nvidia-cudnn-cu13 9.19.0.56"));
  EXPECT_NE(PackageDifference(folder, "9.1"), "") << "9.1 is not 9.19";
  Write("site/nvidia_cudnn_cu12-9.19.0.56.dist-info/METADATA");
  EXPECT_THAT(PackageDifference(folder, "9.19.0"),
              HasSubstr("nvidia-cudnn-cu12 9.19.0.56 and nvidia-cudnn-cu13 9.19.0.56"));
}

TEST_F(CopiesTest, HeadersOfAnotherVersionAreNamed) {
  const std::string text = "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n";
  EXPECT_EQ(VersionOfHeader(text), "8.9.7");
  EXPECT_EQ(VersionOfHeader("#define CUDNN_MAJOR x\n#define CUDNN_MINOR 9\n"), "");
  fs::create_directories(root_ + "/cuda/lib64");
  EXPECT_EQ(HeaderDifference(root_ + "/cuda/lib64", "9.19.0"), "") << "no headers are no difference";
  const std::string header = Write("cuda/include/cudnn_version.h", text);
  EXPECT_EQ(HeaderDifference(root_ + "/cuda/lib64", "9.19.0"), header + " has version 8.9.7");
  EXPECT_EQ(HeaderDifference(root_ + "/cuda/lib64", "8.9.7"), "");
  Write("cuda/include/cudnn_version_v9.h",
        "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 19\n#define CUDNN_PATCHLEVEL 0\n");
  EXPECT_EQ(HeaderDifference(root_ + "/cuda/lib64", "9.19.0"), "") << "the header of its own major counts";
}

}  // namespace
}  // namespace cudnn_ci
