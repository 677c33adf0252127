// Which packages are installed, and whose a file is, by the records of each kind of package manager.
#include "image/packages/installed_packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "image/packages/python_metadata.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kSite[] = "/lib/python3/dist-packages";

class InstalledPackagesTest : public SubjectTree {
 protected:
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const auto& package : packages_.packages()) texts.push_back(package.Text());
    return texts;
  }
  std::string OwnerOf(const std::string& file) const {
    const auto* owner = packages_.OwnerOf(file);
    return owner ? owner->Text() : "";
  }
  InstalledPackages packages_;
};

TEST(PythonMetadata, NamesOfPackagesHaveOneForm) {
  EXPECT_EQ(NormalizedName("nvidia_cudnn.cu13"), "nvidia-cudnn-cu13");
  EXPECT_EQ(NormalizedName("Flash-__Attn"), "flash-attn");
}

TEST_F(InstalledPackagesTest, DpkgKnowsFilesByBothNamesOfAMergedUsr) {
  File("/var/lib/dpkg/status",
       "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9\n\n"
       "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n");
  File("/var/lib/dpkg/info/libc6:amd64.list", "/.\n/lib/x86_64-linux-gnu/libnone.so.6\n");
  File("/var/lib/dpkg/info/gone.list", "/usr/lib/x86_64-linux-gnu/libgone.so\n");
  packages_.AddDpkg({"/usr/lib/x86_64-linux-gnu/libnone.so.6", "/usr/lib/x86_64-linux-gnu/libgone.so"},
                    root_);
  ASSERT_TRUE(packages_.OwnerOf("/usr/lib/x86_64-linux-gnu/libnone.so.6"));
  EXPECT_EQ(packages_.OwnerOf("/usr/lib/x86_64-linux-gnu/libnone.so.6")->Text(), "libc6 2.36-9");
  EXPECT_FALSE(packages_.OwnerOf("/usr/lib/x86_64-linux-gnu/libgone.so"));
}

TEST_F(InstalledPackagesTest, AnEggInfoIsAPackageWhetherItIsAFolderOrAFile) {
  File(std::string(kSite) + "/torch-1.13.1-py3.11.egg-info/PKG-INFO", "Name: torch\nVersion: 1.13.1\n");
  File(std::string(kSite) + "/triton-2.1.0.egg-info",
       "Metadata-Version: 2.1\nName: triton\nVersion: 2.1.0\n");
  packages_.AddPython(root_ + kSite);
  EXPECT_THAT(Texts(), ElementsAre("torch 1.13.1", "triton 2.1.0"));
  ASSERT_TRUE(packages_.Python("torch"));
  EXPECT_THAT(packages_.problems(), IsEmpty());
}

TEST_F(InstalledPackagesTest, AnEggInfoWithoutAVersionInItsNameSaysItInside) {
  File(std::string(kSite) + "/jaxlib.egg-info/PKG-INFO",
       "Metadata-Version: 2.1\nName: jaxlib\nVersion: 0.4.30\n\nVersion: of the description\n");
  File(std::string(kSite) + "/odd.egg-info", "");
  packages_.AddPython(root_ + kSite);
  EXPECT_THAT(Texts(), ElementsAre("jaxlib 0.4.30"));
}

TEST_F(InstalledPackagesTest, AnEggInfoListsItsFilesFromItsOwnFolder) {
  const std::string library = File(std::string(kSite) + "/torch/lib/libtorch.so");
  File(std::string(kSite) + "/torch-1.13.1.egg-info/PKG-INFO");
  File(std::string(kSite) + "/torch-1.13.1.egg-info/installed-files.txt",
       "../torch/__init__.py\n../torch/lib/libtorch.so\n");
  packages_.AddPython(root_ + kSite);
  EXPECT_EQ(OwnerOf(library), "torch 1.13.1");
}

TEST_F(InstalledPackagesTest, AnImageWithoutAPackageManagerHasItsRecordsOneByOne) {
  File("/var/lib/dpkg/status.d/libcudnn9-cuda-13", "Package: libcudnn9-cuda-13\nVersion: 9.19.0.56-1\n");
  File("/var/lib/dpkg/status.d/libnccl2", "Package: libnccl2\nVersion: 2.27.3-1\n");
  File("/var/lib/dpkg/status.d/libnccl2.md5sums",
       "d41d8cd98f00b204e9800998ecf8427e  usr/lib/x86_64-linux-gnu/libnccl.so.2.27.3\n");
  File("/var/lib/dpkg/status.d/libc6", "Package: libc6\nVersion: 2.36\n");
  const std::string folder = "/usr/lib/x86_64-linux-gnu/";
  packages_.AddDpkg({folder + "libcudnn.so.9", folder + "libcudnn_graph.so.9", folder + "libnccl.so.2.27.3",
                     folder + "libother.so.1"},
                    root_);
  EXPECT_THAT(Texts(), ElementsAre("libcudnn9-cuda-13 9.19.0.56-1", "libnccl2 2.27.3-1"));
  EXPECT_EQ(OwnerOf(folder + "libcudnn.so.9"), "libcudnn9-cuda-13 9.19.0.56-1");
  EXPECT_EQ(OwnerOf(folder + "libcudnn_graph.so.9"), "libcudnn9-cuda-13 9.19.0.56-1");
  EXPECT_EQ(OwnerOf(folder + "libnccl.so.2.27.3"), "libnccl2 2.27.3-1");
  EXPECT_EQ(OwnerOf(folder + "libother.so.1"), "");
}

TEST_F(InstalledPackagesTest, WithoutAListAPackageHasTheLibrariesOfItsNameInTheSystemsFolders) {
  File("/var/lib/dpkg/status.d/libnccl2", "Package: libnccl2\nVersion: 2.27.3-1\n");
  packages_.AddDpkg({"/usr/local/lib/libnccl.so.2", "/usr/lib/libnccl.so.20", "/usr/lib/libncclx.so.2"},
                    root_);
  EXPECT_THAT(Texts(), IsEmpty());
}

TEST_F(InstalledPackagesTest, WithoutAListADevelopmentPackageHasNoLibrary) {
  for (const char* name :
       {"libcudnn9-dev-cuda-13", "libcudnn9-headers-cuda-13", "libcudnn9-static", "libcudnn9-cuda-13"})
    File(std::string("/var/lib/dpkg/status.d/") + name,
         std::string("Package: ") + name + "\nVersion: 9.19.0.56-1\n");
  packages_.AddDpkg({"/usr/lib/x86_64-linux-gnu/libcudnn.so.9"}, root_);
  EXPECT_THAT(Texts(), ElementsAre("libcudnn9-cuda-13 9.19.0.56-1"));
}

}  // namespace
}  // namespace cudnn_ci
