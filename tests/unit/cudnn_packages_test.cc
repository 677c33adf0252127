// What dpkg and rpm record of cuDNN's files, and which sub-libraries a library opens, on made-up files.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "common/cudnn_loaded.h"
#include "cudnn/install.h"
#include "cudnn/metadata.h"
#include "cudnn/repair.h"
#include "image/contents/cudnn_files.h"
#include "image/packages/cudnn_packages.h"
#include "image/packages/dpkg_records.h"
#include "image/packages/rpm_answer.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kFile[] = "/usr/lib/x86_64-linux-gnu/libcudnn.so.9";

class PackagesTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path, std::ios::binary) << text;
  }
  static std::string Paragraph(const std::string& package, const std::string& version,
                               const std::string& status = "install ok installed") {
    return "Package: " + package + (status.empty() ? "" : "\nStatus: " + status) +
           "\nArchitecture: amd64\nVersion: " + version + "\nDescription: cuDNN\n more\n\n";
  }
  // "NAME VERSION" of each.
  std::vector<std::string> Of(const std::string& file) const {
    std::vector<std::string> found;
    for (const Package& p : CudnnDpkgPackagesOf({file}, root_)) found.push_back(p.name + " " + p.version);
    return found;
  }
  const Scratch scratch_;
  const std::string root_ = fs::canonical(scratch_.path()).string();
};

TEST_F(PackagesTest, TheOwnerIsWhoseListHasTheFile) {
  Write("var/lib/dpkg/status", Paragraph("bash", "5.2") + Paragraph("libcudnn9-cuda-13", "9.19.0.56-1") +
                                   Paragraph("libcudnn9-cuda-12", "9.10.2.21-1"));
  Write("var/lib/dpkg/info/libcudnn9-cuda-13.list", "/.\n/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n");
  Write("var/lib/dpkg/info/libcudnn9-cuda-12:amd64.list",
        "/.\n/usr/lib/x86_64-linux-gnu/libcudnn/12/libcudnn.so.9\n");
  EXPECT_THAT(Of(kFile), ElementsAre("libcudnn9-cuda-13 9.19.0.56-1"));
  EXPECT_THAT(Of("/lib/x86_64-linux-gnu/libcudnn.so.9"), ElementsAre("libcudnn9-cuda-13 9.19.0.56-1"))
      << "/usr is merged";
  EXPECT_THAT(Of("/usr/lib/x86_64-linux-gnu/libcudnn/12/libcudnn.so.9"),
              ElementsAre("libcudnn9-cuda-12 9.10.2.21-1"));
  EXPECT_THAT(Of("/usr/local/cuda/lib64/libcudnn.so.9"), IsEmpty());
  EXPECT_THAT(Of("/opt/venv/lib/libcudnn.so.9"), IsEmpty());
}

TEST_F(PackagesTest, WhatIsNotInstalledOwnsNothing) {
  for (const char* status :
       {"deinstall ok config-files", "install ok half-installed", "unknown ok not-installed"}) {
    Write("var/lib/dpkg/status", Paragraph("libcudnn9-cuda-13", "9.19.0.56-1", status));
    EXPECT_THAT(Of(kFile), IsEmpty()) << status;
  }
  Write("var/lib/dpkg/status", Paragraph("libcudnn9-cuda-13", "9.19.0.56-1", "hold ok installed"));
  EXPECT_THAT(Of(kFile), ElementsAre("libcudnn9-cuda-13 9.19.0.56-1"));
}

TEST_F(PackagesTest, WithoutListsThePackageOfTheMajorHasTheSystemsFile) {
  Write("var/lib/dpkg/status.d/libcudnn9-cuda-13", Paragraph("libcudnn9-cuda-13", "9.19.0.56-1", ""));
  Write("var/lib/dpkg/status.d/libcudnn8", Paragraph("libcudnn8", "8.9.7.29-1+cuda12.2", ""));
  Write("var/lib/dpkg/status.d/libc6", Paragraph("libc6", "2.36", ""));
  EXPECT_THAT(Of(kFile), ElementsAre("libcudnn9-cuda-13 9.19.0.56-1"));
  EXPECT_THAT(Of("/usr/lib/x86_64-linux-gnu/libcudnn.so.8"), ElementsAre("libcudnn8 8.9.7.29-1+cuda12.2"));
  EXPECT_THAT(Of("/usr/local/cuda/lib64/libcudnn.so.9"), IsEmpty()) << "where anybody copies files to";
}

constexpr char kFolder[] = "/usr/lib/x86_64-linux-gnu/";

class OwnerTest : public PackagesTest {
 protected:
  OwnerTest() {
    Write("usr/bin/apt-get", "");
    Write("var/lib/dpkg/status", Paragraph("libcudnn9-cuda-13", "9.19.0.56-1"));
    List("libcudnn9-cuda-13", {"libcudnn.so.9", "libcudnn.so.9.19.0", "libcudnn_ops.so.9.19.0"});
    install_.major = 9;
    install_.main = Part("libcudnn.so.9", "libcudnn.so.9.19.0");
    install_.parts = {Part("libcudnn_ops.so.9", "libcudnn_ops.so.9.19.0"), Part("libcudnn_cnn.so.9", "")};
  }
  void List(const std::string& package, const std::vector<std::string>& files) const {
    std::string all = "/.\n";
    for (const std::string& file : files) all += kFolder + file + "\n";
    Write("var/lib/dpkg/info/" + package + ".list", all);
  }
  // A part by its name and the file to which that leads; none: it is not there.
  static CudnnPart Part(const std::string& name, const std::string& file) {
    CudnnPart part;
    part.name = name;
    if (!file.empty()) part.found = kFolder + name, part.path = kFolder + file;
    return part;
  }
  std::string Owner() const { return OwnerOf(install_, root_).name; }
  std::string LineForAllParts() const {
    return LineForParts(install_, {&install_.parts[0], &install_.parts[1]}, root_);
  }
  CudnnInstall install_;
};

TEST_F(OwnerTest, IsWhoHasTheFileNotALinkToIt) {
  EXPECT_EQ(Owner(), "libcudnn9-cuda-13");
  install_.main.path = std::string(kFolder) + "libcudnn.so.9.20.0";
  EXPECT_EQ(Owner(), "") << "the package's link leads to a file that was copied";
}

TEST_F(OwnerTest, IsNobodyWithoutWhatInstalls) {
  fs::remove(root_ + "/usr/bin/apt-get");
  EXPECT_EQ(Owner(), "");
}

TEST_F(OwnerTest, ItsCublasIsThePackageOnRecordOfTheCudaMajor) {
  EXPECT_EQ(CublasPackageFor(install_, 13, root_).line, "") << "of apt the minor is not known";
  Write("var/lib/dpkg/status",
        Paragraph("libcudnn9-cuda-13", "9.19.0.56-1") + Paragraph("libcublas-13-0", "13.1.0.3-1"));
  EXPECT_EQ(CublasPackageFor(install_, 13, root_).line,
            "RUN apt-get update && apt-get install -y --reinstall libcublas-13-0=13.1.0.3-1");
  EXPECT_NE(CublasPackageFor(install_, 13, root_).words.find("libcublas-13-0 13.1.0.3-1"), std::string::npos);
  EXPECT_EQ(CublasPackageFor(install_, 12, root_).line, "");
}

TEST_F(OwnerTest, WhatIsOnRecordOfAPart) {
  EXPECT_EQ(RecordOfPart(install_, "libcudnn_adv.so.9", root_), PartRecord::kNotListed);
  EXPECT_EQ(RecordOfPart(install_, "libcudnn_ops.so.9.19.0", root_), PartRecord::kListed);
  EXPECT_EQ(OnRecord(install_, root_), "; on record: libcudnn9-cuda-13 9.19.0.56-1");
  install_.main.path = std::string(kFolder) + "libcudnn.so.9.20.0";
  EXPECT_EQ(RecordOfPart(install_, "libcudnn_adv.so.9", root_), PartRecord::kUnknown);
  EXPECT_EQ(OnRecord(install_, root_), "");
}

TEST_F(OwnerTest, OfARangeTheLowestReleaseIsTakenUnlessAnotherPackageNeedsThisOne) {
  EXPECT_EQ(RangeLine(OwnerOf(install_, root_), ">=9.20 <10"),
            "RUN apt-get update && apt-get install -y --allow-downgrades --allow-change-held-packages "
            "'libcudnn9-cuda-13=9.20.*'");
  Write("var/lib/dpkg/status",
        Paragraph("libcudnn9-cuda-13", "9.19.0.56-1") + Paragraph("libcudnn9-dev-cuda-13", "9.19.0.56-1"));
  List("libcudnn9-dev-cuda-13", {"libcudnn_static_v9.a"});
  EXPECT_TRUE(OwnerOf(install_, root_).pinned);
  EXPECT_EQ(RangeLine(OwnerOf(install_, root_), ">=9.20 <10"), "");
}

TEST_F(OwnerTest, IsInstalledAgainWhereAllThatIsThereIsItsOwn) {
  EXPECT_EQ(LineForAllParts(),
            "RUN apt-get update && apt-get install -y --reinstall libcudnn9-cuda-13=9.19.0.56-1");
  install_.parts[0].path = std::string(kFolder) + "libcudnn_ops.so.9.14.0";
  EXPECT_EQ(LineForAllParts(), "") << "a file that nobody has recorded would stay";
  Write("var/lib/dpkg/status",
        Paragraph("libcudnn9-cuda-13", "9.19.0.56-1") + Paragraph("libcudnn9-other", "9.14.0.64-1"));
  List("libcudnn9-other", {"libcudnn_ops.so.9.14.0"});
  EXPECT_EQ(LineForAllParts(), "") << "and so would another package's";
  EXPECT_EQ(LineForParts(install_, {}, root_), "");
}

TEST_F(PackagesTest, RecordsThatAreNoneSayNothing) {
  EXPECT_THAT(Of(kFile), IsEmpty());
  Write("var/lib/dpkg/status", std::string("\0\xff Package", 10));
  EXPECT_THAT(Of(kFile), IsEmpty());
  fs::remove(root_ + "/var/lib/dpkg/status");
  fs::create_directory(root_ + "/var/lib/dpkg/status");
  EXPECT_THAT(Of(kFile), IsEmpty());
}

TEST_F(PackagesTest, RpmIsAskedWhereItHasADatabase) {
  EXPECT_FALSE(HasRpmDatabase(root_));
  Write("usr/lib/sysimage/rpm/rpmdb.sqlite", "");
  EXPECT_TRUE(HasRpmDatabase(root_));
  const auto packages = ParseRpmAnswer("warning: something is odd\nlibcudnn9-cuda-13 9.19.0.56-1\n\n");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].name + " " + packages[0].version, "libcudnn9-cuda-13 9.19.0.56-1");
}

TEST_F(PackagesTest, VersionsAreComparedWithoutThePackagersPart) {
  EXPECT_TRUE(IsOfVersion("9.19.0.56-1", "9.19.0"));
  EXPECT_TRUE(IsOfVersion("8.9.7.29-1+cuda12.2", "8.9.7"));
  EXPECT_FALSE(IsOfVersion("9.19.0.56-1", "9.1"));
  EXPECT_FALSE(IsOfVersion("9.14.0.64-1", "9.19.0"));
}

TEST_F(PackagesTest, ARecordOfAbsurdSizeIsNotRead) {
  Write("var/lib/dpkg/status", Paragraph("libcudnn9-cuda-13", "9.19.0.56-1"));
  Write("var/lib/dpkg/info/libcudnn9-cuda-13.list", "/.\n/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n");
  EXPECT_THAT(Of(kFile), ElementsAre("libcudnn9-cuda-13 9.19.0.56-1"));
  fs::resize_file(root_ + "/var/lib/dpkg/status", std::uintmax_t{64} << 20);  // one endless line behind it
  EXPECT_THAT(Of(kFile), IsEmpty());
}

TEST_F(PackagesTest, PartsThatALibraryOpensStandInItsText) {
  const std::string border((std::size_t{1} << 20) - 12, 'x'), nul(1, '\0');
  Write("graph", "libcudnn_heuristic.so" + nul + "libcudnn_graph.so.9" + nul + "libcudnn_.so" + nul +
                     "libcudnn_Big.so" + nul + border.substr(60) + "libcudnn_engines_tensor_ir.so" + nul +
                     border + nul + "libcudnn_cut.so");
  EXPECT_THAT(CudnnPartsOpenedBy(root_ + "/graph"), ElementsAre("engines_tensor_ir", "heuristic"));
  EXPECT_THAT(CudnnPartsOpenedBy(root_ + "/nothing"), IsEmpty());
  EXPECT_THAT(CudnnPartsOpenedBy(CUDNN_CI_FAKES "/cudnn_opens/libcudnn_graph.so.9"),
              ElementsAre("engines_tensor_ir"));
  EXPECT_THAT(CudnnPartsOpenedBy(CUDNN_CI_FAKES "/cudnn/libcudnn_graph.so.9"), IsEmpty());
}

TEST(CudnnInstallTest, AFileMayHaveAnotherNameAndBeTheLibraryAllTheSame) {
  const std::string ops = "libcudnn_ops.so.9";
  for (const char* soname :
       {"", "libcudnn_ops.so.9", "libcudnn_ops.so.9.19.0", "libcudnn_ops.so", "libcudnn_ops-4f8c1f2b.so.9"})
    EXPECT_FALSE(IsOfAnotherLibrary(soname, ops)) << soname;
  for (const char* soname : {"libcudnn_cnn.so.9", "libcudnn_ops.so.8", "libcudnn_ops.so.91", "libcudnn.so.9",
                             "libcudnn_ops_infer.so.9", "libother.so", "other"})
    EXPECT_TRUE(IsOfAnotherLibrary(soname, ops)) << soname;
}

TEST_F(PackagesTest, TwoFoldersAreAMixtureUnlessTheirFilesSayTheSame) {
  const LoadedCudnn one = InspectLoadedCudnn({"/a/libcudnn.so.9", "/a/libcudnn_ops.so.9"});
  EXPECT_EQ(one.files, "/a: libcudnn.so.9 libcudnn_ops.so.9");
  EXPECT_FALSE(one.several || one.mixed);
  const std::string fakes = CUDNN_CI_FAKES;
  const std::string own = fakes + "/cudnn/libcudnn.so.9", same = fakes + "/cudnn_opens/libcudnn_graph.so.9";
  EXPECT_TRUE(InspectLoadedCudnn({own, same}).several);
  EXPECT_FALSE(InspectLoadedCudnn({own, same}).mixed);
  EXPECT_TRUE(InspectLoadedCudnn({own, fakes + "/cudnn_old/libcudnn_ops.so.9"}).mixed);
  EXPECT_TRUE(InspectLoadedCudnn({own, "/nowhere/libcudnn_ext.so.9"}).mixed)
      << "of which nobody knows the version";
}

// The name of a file says of which one it is, where cuDNN 8 and 9 lie in one folder.
TEST_F(PackagesTest, TwoMajorsInOneFolderAreTwoInstalls) {
  const auto put = [this](const std::string& fake, const std::string& file) {
    fs::copy_file(fs::canonical(CUDNN_CI_FAKES "/" + fake + "/" + file), root_ + "/" + file);
    return root_ + "/" + file;
  };
  const std::string nine = put("cudnn", "libcudnn_graph.so.9"),
                    eight = put("cudnn8", "libcudnn_ops_infer.so.8");
  EXPECT_EQ(InspectLoadedCudnn({eight}).files, root_ + ": libcudnn_ops_infer.so.8 (of 8.9.7)");
  EXPECT_FALSE(InspectLoadedCudnn({eight}).mixed);
  EXPECT_EQ(InspectLoadedCudnn({nine}).files, root_ + ": libcudnn_graph.so.9 (of 9.19.0)");
  EXPECT_FALSE(InspectLoadedCudnn({nine, root_ + "/libcudnn.so"}).several) << "a name that says no major";
  const LoadedCudnn both = InspectLoadedCudnn({nine, eight});
  EXPECT_TRUE(both.mixed);
  EXPECT_EQ(both.files,
            root_ + ": libcudnn_ops_infer.so.8 (of 8.9.7); " + root_ + ": libcudnn_graph.so.9 (of 9.19.0)");
}

}  // namespace
}  // namespace cudnn_ci
