// Which files of a subject may hold code, and whose they are.
#include "image/contents/image_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImageFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/cudnn-ci-image-files-XXXXXX";
    root_ = fs::canonical(mkdtemp(pattern)).string();
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Write(const std::string& path, const std::string& text = "") {
    const fs::path file = fs::path(root_) / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

  // A virtual environment with an interpreter, whose packages lie in the folder returned.
  std::string MakeEnvironment() {
    Write("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.1\n");
    fs::permissions(Write("venv/bin/python", "#!"), fs::perms::owner_all);
    fs::create_directories(root_ + "/venv/lib/python3.12/site-packages");
    return root_ + "/venv/lib/python3.12/site-packages";
  }

  std::vector<std::string> PathsOf(const ImageFiles& image) const {
    std::vector<std::string> paths;
    for (const ImageFile& file : image.files) paths.push_back(file.path.substr(root_.size() + 1));
    return paths;
  }

  ImageFiles Python() { return FilesOfSubject("python:" + root_ + "/venv/bin/python", {}, ""); }

  std::string root_;
};

TEST_F(ImageFilesTest, NamesThatMayHoldCode) {
  for (const char* name : {"libfoo.so", "libfoo.so.9", "_C.cpython-312-x86_64-linux-gnu.so", "a.cubin",
                           "a.fatbin", "a.ptx", "liba.a"})
    EXPECT_TRUE(HoldsCode(name)) << name;
  for (const char* name : {"a.py", "a.sort", "a.some", "so", "a.ap", "a.so_"})
    EXPECT_FALSE(HoldsCode(name)) << name;
}

TEST_F(ImageFilesTest, FilesOfAnEnvironmentHaveThePackagesThatRecordThem) {
  const std::string packages = MakeEnvironment();
  Write("venv/lib/python3.12/site-packages/torch/lib/libtorch.so", "x");
  Write("venv/lib/python3.12/site-packages/torch/odd,\"name.so", "x");
  Write("venv/lib/python3.12/site-packages/nobody/libnobody.so.1", "x");
  Write("venv/lib/python3.12/site-packages/torch/__init__.py");
  Write("venv/lib/python3.12/site-packages/torch-2.11.0+cu130.dist-info/RECORD",
        "torch/__init__.py,sha256=x,1\r\ntorch/lib/libtorch.so,sha256=x,1\r\n\"torch/odd,\"\"name.so\",,\n");
  const ImageFiles image = Python();
  EXPECT_THAT(image.problems, IsEmpty());
  EXPECT_EQ(image.prefix, root_ + "/venv");
  EXPECT_THAT(image.folders, ElementsAre(packages));
  EXPECT_THAT(PathsOf(image), ElementsAre("venv/lib/python3.12/site-packages/nobody/libnobody.so.1",
                                          "venv/lib/python3.12/site-packages/torch/lib/libtorch.so",
                                          "venv/lib/python3.12/site-packages/torch/odd,\"name.so"));
  EXPECT_EQ(image.BroughtBy(packages + "/torch/lib/libtorch.so"), "torch 2.11.0+cu130");
  EXPECT_EQ(image.BroughtBy(packages + "/torch/odd,\"name.so"), "torch 2.11.0+cu130");
  EXPECT_EQ(image.BroughtBy(packages + "/nobody/libnobody.so.1"), "");
  ASSERT_TRUE(image.packages.Python("torch"));
  EXPECT_EQ(image.packages.Python("torch")->version, "2.11.0+cu130");
  EXPECT_FALSE(image.packages.Python("jax"));
}

TEST_F(ImageFilesTest, AFileOfSeveralNamesIsOneAndAFifoIsNone) {
  const std::string packages = MakeEnvironment();
  Write("venv/lib/python3.12/site-packages/a/libx.so.1", "x");
  fs::create_symlink("libx.so.1", packages + "/a/libx.so");
  fs::create_symlink("nowhere.so", packages + "/a/libgone.so");
  fs::create_directory_symlink(packages, packages + "/a/round");
  ASSERT_EQ(mkfifo((packages + "/a/libfifo.so").c_str(), 0600), 0);
  const ImageFiles image = Python();
  ASSERT_EQ(image.files.size(), 1U);
  EXPECT_THAT(image.files[0].path, HasSubstr("/a/libx.so"));
  EXPECT_EQ(image.files[0].bytes, 1U);
}

TEST_F(ImageFilesTest, APackageWithoutARecordIsNoProblem) {
  MakeEnvironment();
  Write("venv/lib/python3.12/site-packages/jax-0.11.2.dist-info/METADATA", "");
  const ImageFiles image = Python();
  EXPECT_THAT(image.problems, testing::IsEmpty());
  EXPECT_TRUE(image.packages.Python("jax"));
}

TEST_F(ImageFilesTest, CondaHasRecordsOfItsOwn) {
  MakeEnvironment();
  Write("venv/lib/libcublas.so.13", "x");
  Write(
      "venv/conda-meta/libcublas-13.1.0-0.json",
      R"({"name": "libcublas", "version": "13.1.0", "files": ["lib/libcublas.so.13", "include/cublas.h"]})");
  Write("venv/conda-meta/broken.json", "{");
  const ImageFiles image = Python();
  EXPECT_THAT(PathsOf(image), ElementsAre("venv/lib/libcublas.so.13"));
  EXPECT_EQ(image.BroughtBy(root_ + "/venv/lib/libcublas.so.13"), "libcublas 13.1.0");
  ASSERT_EQ(image.problems.size(), 1U);
  EXPECT_THAT(image.problems[0], HasSubstr("broken.json"));
}

// Each bracket would take fifty times its room.
TEST_F(ImageFilesTest, ARecordOfCondaThatIsNestedDeepIsNotParsed) {
  MakeEnvironment();
  Write("venv/conda-meta/deep-1-0.json",
        R"({"name": "deep", "files": )" + std::string(1000, '[') + std::string(1000, ']') + "}");
  Write("venv/conda-meta/long-1-0.json", R"({"name": ")" + std::string(9 << 20, 'x') + "\"}");
  const ImageFiles image = Python();
  ASSERT_EQ(image.problems.size(), 2U);
  EXPECT_THAT(image.problems[0], HasSubstr("nested"));
  EXPECT_THAT(image.problems[1], HasSubstr("long-1-0.json"));
}

TEST_F(ImageFilesTest, AProgramHasWhatItNeeds) {
  const ImageFiles image = FilesOfSubject("program:/bin/sh", {}, "");
  std::vector<std::string> names;
  for (const ImageFile& file : image.files) names.push_back(fs::path(file.path).filename().string());
  EXPECT_THAT(names, ::testing::Contains("libc.so.6"));
}

TEST_F(ImageFilesTest, FoldersAreReadToTheirDepth) {
  Write("app/lib/libapp.so", "x");
  Write("app/lib/plugins/deep.so", "x");
  EXPECT_THAT(PathsOf(FilesOfSubject("path:" + root_ + "/app/lib", {root_ + "/app/lib"}, "")),
              ElementsAre("app/lib/libapp.so", "app/lib/plugins/deep.so"));
}

TEST_F(ImageFilesTest, NamesOfPackagesHoldNoOtherCharacters) {
  MakeEnvironment();
  Write("venv/lib/python3.12/site-packages/a\x1b[31m-1.0\n::error::.dist-info/RECORD", "");
  const ImageFiles image = Python();
  ASSERT_EQ(image.packages.packages().size(), 1U);
  EXPECT_EQ(image.packages.packages()[0].Text(), "a??31m 1.0?::error::");
}

TEST(PythonTag, SaysWhichExtensionsAreLoaded) {
  EXPECT_EQ(PythonTagOf({"/opt/venv/lib/python3.12/site-packages"}), "cpython-312");
  EXPECT_TRUE(IsOfAnotherPython("_C.cpython-310-x86_64-linux-gnu.so", "cpython-312"));
  EXPECT_FALSE(IsOfAnotherPython("_C.cpython-312-x86_64-linux-gnu.so", "cpython-312"));
  EXPECT_FALSE(IsOfAnotherPython("_C.abi3.so", "cpython-312"));
  EXPECT_FALSE(IsOfAnotherPython("_C.cpython-310-x86_64-linux-gnu.so", ""));
}

}  // namespace
}  // namespace cudnn_ci
